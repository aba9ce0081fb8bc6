//! AVX2: 256 bits at a time, and BMI for single bits.
#![allow(unsafe_code, reason = "instructions that not every x86-64 processor has")]

use core::arch::x86_64::{
    __m128i, __m256i, _bzhi_u64, _mm_add_epi64, _mm_and_si128, _mm_andnot_si128, _mm_cvtsi32_si128,
    _mm_cvtsi128_si32, _mm_loadu_si128, _mm_min_epu8, _mm_minpos_epu16, _mm_or_si128,
    _mm_set1_epi16, _mm_slli_epi64, _mm_slli_si128, _mm_srli_epi16, _mm_srli_epi64, _mm_srli_si128,
    _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi16, _mm256_alignr_epi8, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_blend_epi32, _mm256_blendv_epi8, _mm256_blendv_ps,
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpeq_epi8,
    _mm256_cmpeq_epi16, _mm256_cmpgt_epi8, _mm256_cmpgt_epi16, _mm256_cmpgt_epi32,
    _mm256_extracti128_si256, _mm256_insert_epi8, _mm256_loadu_si256, _mm256_max_epu8,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_mulhi_epu16, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32,
    _mm256_set_epi64x, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi8, _mm256_setr_epi16, _mm256_setr_epi32, _mm256_setr_epi64x,
    _mm256_setzero_si256, _mm256_sll_epi64, _mm256_slli_epi32, _mm256_sllv_epi32,
    _mm256_sllv_epi64, _mm256_srl_epi64, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_subs_epu16,
    _mm256_testz_si256, _pdep_u64, _pext_u64,
};

use super::{BEFORE, DRAWS_AT_ONCE, Isa};
use crate::block::Holds;
use crate::block::fields::{Field, LINE_BYTES};
use crate::block::pattern::Draws;
use crate::storage::Line;

/// Bits of a register.
const HALF_BITS: u32 = 256;

/// A CPU with AVX2, BMI1, BMI2, LZCNT and POPCNT. Holding a value proves that the CPU has these features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Detects the features; without `std`, those of the target.
    pub(super) fn detect() -> Option<Self> {
        let found = processor_has!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
        found.then_some(Self(()))
    }

    /// The proof, for functions that run on such a CPU only.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn found() -> Self {
        Self(())
    }
}

impl Isa for Avx2 {
    #[inline(always)]
    fn equal_bytes(self, line: &Line, byte: u8) -> u64 {
        let [low, high] = self.halves(line);
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let pattern = _mm256_set1_epi8(byte as i8);
            let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern)) as u32;
            let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern)) as u32;
            u64::from(high) << 32 | u64::from(low)
        }
    }

    #[inline(always)]
    fn greater_bytes(self, line: &Line, byte: u8) -> u64 {
        let [low, high] = self.halves(line);
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            // There is no comparison of unsigned bytes: the maximum of a byte that is not greater is `byte`.
            let pattern = _mm256_set1_epi8(byte as i8);
            let not_greater = |half| {
                let equal = _mm256_cmpeq_epi8(_mm256_max_epu8(half, pattern), pattern);
                _mm256_movemask_epi8(equal) as u32
            };
            !(u64::from(not_greater(high)) << 32 | u64::from(not_greater(low)))
        }
    }

    #[inline(always)]
    fn byte(self, line: &Line, at: u32) -> u8 {
        // Volatile: the compiler would take the byte out of a vector register, which takes longer.
        // SAFETY: one of 64 bytes.
        unsafe { line.as_ptr().cast::<u8>().add((at % LINE_BYTES) as usize).read_volatile() }
    }

    #[inline(always)]
    fn word(self, line: &Line, at: usize) -> u64 {
        // Volatile for the same reason.
        // SAFETY: one of eight words.
        unsafe { line.as_ptr().add(at % line.len()).read_volatile() }
    }

    #[inline(always)]
    fn least_byte(self, line: &Line, first: u32, end: u32) -> u8 {
        let [low, high] = self.halves(line);
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            // All other bytes become the greatest.
            let numbers = self.numbers();
            let [first, last] = [first as i8, end as i8 - 1].map(|at| [at, at - 32]);
            let others = |half: usize| {
                let before = _mm256_cmpgt_epi8(_mm256_set1_epi8(first[half]), numbers);
                let behind = _mm256_cmpgt_epi8(numbers, _mm256_set1_epi8(last[half]));
                _mm256_or_si256(before, behind)
            };
            let (low, high) = (_mm256_or_si256(low, others(0)), _mm256_or_si256(high, others(1)));
            let least = _mm256_min_epu8(low, high);
            let least =
                _mm_min_epu8(_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
            // The lesser of each two bytes, as a word; the least word.
            let words = _mm_min_epu8(least, _mm_srli_epi16::<8>(least));
            let words = _mm_and_si128(words, _mm_set1_epi16(0xff));
            _mm_cvtsi128_si32(_mm_minpos_epu16(words)) as u8
        }
    }

    #[inline(always)]
    fn remove_byte(self, line: &mut Line, at: u32) {
        let [low, high] = self.halves(line);
        // SAFETY: `self` exists, so the processor has AVX2; a line has twice 32 bytes to store.
        unsafe {
            // Every byte but the last moved down by one.
            let above = _mm256_permute2x128_si256::<0x21>(low, high);
            let moved_low = _mm256_alignr_epi8::<1>(above, low);
            let others = _mm256_andnot_si256(_mm256_set_epi64x(0xff << 56, 0, 0, 0), high);
            let above = _mm256_permute2x128_si256::<0x81>(others, others);
            let moved_high = _mm256_alignr_epi8::<1>(above, others);
            let start = line.as_mut_ptr().cast::<__m256i>();
            let moves = _mm256_cmpgt_epi8(self.numbers(), _mm256_set1_epi8(at as i8 - 1));
            _mm256_storeu_si256(start, _mm256_blendv_epi8(low, moved_low, moves));
            let at = _mm256_set1_epi8(at as i8 - 33);
            let moves = _mm256_cmpgt_epi8(self.numbers_but_the_last(), at);
            _mm256_storeu_si256(start.add(1), _mm256_blendv_epi8(high, moved_high, moves));
        }
    }

    #[inline(always)]
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8) {
        let [low, high] = self.halves(line);
        // SAFETY: `self` exists, so the processor has AVX2; a line has twice 32 bytes to store.
        unsafe {
            // Every byte moved up by one; the first one is unspecified.
            let below = _mm256_permute2x128_si256::<0x08>(low, low);
            let moved_low = _mm256_alignr_epi8::<15>(low, below);
            let below = _mm256_permute2x128_si256::<0x21>(low, high);
            let moved_high = _mm256_alignr_epi8::<15>(high, below);
            let byte = _mm256_set1_epi8(byte as i8);
            let start = line.as_mut_ptr().cast::<__m256i>();
            let (numbers, place) = (self.numbers(), _mm256_set1_epi8(at as i8));
            let low = _mm256_blendv_epi8(low, moved_low, _mm256_cmpgt_epi8(numbers, place));
            let low = _mm256_blendv_epi8(low, byte, _mm256_cmpeq_epi8(numbers, place));
            _mm256_storeu_si256(start, low);
            let (numbers, place) = (self.numbers_but_the_last(), _mm256_set1_epi8(at as i8 - 32));
            let high = _mm256_blendv_epi8(high, moved_high, _mm256_cmpgt_epi8(numbers, place));
            let high = _mm256_blendv_epi8(high, byte, _mm256_cmpeq_epi8(numbers, place));
            _mm256_storeu_si256(start.add(1), high);
        }
    }

    #[inline(always)]
    fn window(self, line: &Line, start: u32) -> u64 {
        // The eight bytes from the first bit's on, or the last eight.
        let byte = (start / 8).min(LINE_BYTES - 8);
        // SAFETY: eight bytes from at most the last but seven, and any bits are a word.
        let word = unsafe { line.as_ptr().byte_add(byte as usize).read_unaligned() };
        word >> ((start - 8 * byte) % u64::BITS)
    }

    #[inline(always)]
    fn inner_window(self, line: &Line, start: u32) -> u64 {
        let byte = start / 8;
        // Unreachable; the check is cheaper than a mask.
        if byte > LINE_BYTES - 8 {
            return 0;
        }
        // SAFETY: eight bytes from at most the last but seven, and any bits are a word.
        let word = unsafe { line.as_ptr().byte_add(byte as usize).read_unaligned() };
        word >> (start % 8)
    }

    #[inline(always)]
    fn lowest(self, word: u64, count: u32) -> u64 {
        // SAFETY: `self` exists, so the processor has BMI2.
        unsafe { _bzhi_u64(word, count) }
    }

    #[inline(always)]
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64) {
        let ([low, high], masks) = (self.halves(line), self.halves(&field.mask));
        let start = line.as_mut_ptr().cast::<__m256i>();
        // SAFETY: `self` exists, so the processor has AVX2; a line has twice 32 bytes to store.
        unsafe {
            // Rotated alike in all words, the value is right in those that it belongs to.
            let value = _mm256_set1_epi64x(value.rotate_left(at) as i64);
            let from_low = self.moved_up_a_word(low, width);
            let inserted = self.blend(
                self.bits_from(at + width, 0),
                value,
                _mm256_or_si256(self.moved_up(low, width), from_low),
            );
            let moving = _mm256_and_si256(self.bits_from(at, 0), masks[0]);
            _mm256_storeu_si256(start, self.blend(moving, low, inserted));
            // Predictable: the same for all blocks.
            if field.end > HALF_BITS {
                let entering =
                    _mm256_blend_epi32::<0x03>(self.moved_up_a_word(high, width), from_low);
                let inserted = self.blend(
                    self.bits_from(at + width, 1),
                    value,
                    _mm256_or_si256(self.moved_up(high, width), entering),
                );
                let moving = _mm256_and_si256(self.bits_from(at, 1), masks[1]);
                _mm256_storeu_si256(start.add(1), self.blend(moving, high, inserted));
            }
        }
    }

    #[inline(always)]
    fn insert_one_and_bits(
        self,
        line: &mut Line,
        field: &Field,
        one: u32,
        at: u32,
        width: u32,
        value: u64,
    ) {
        let ([low, high], masks) = (self.halves(line), self.halves(&field.mask));
        let start = line.as_mut_ptr().cast::<__m256i>();
        // SAFETY: `self` exists, so the processor has AVX2; a line has twice 32 bytes to store.
        unsafe {
            let by_one = self.line_moved_up(low, high, 1);
            let by_both = self.line_moved_up(low, high, 1 + width);
            // Rotated alike in all words, the value is right in those that it belongs to.
            let value = _mm256_set1_epi64x(value.rotate_left(at + 1) as i64);
            let behind = self.blend(self.bits_from(at + 1 + width, 0), value, by_both[0]);
            let inserted = self.blend(self.bits_from(at + 1, 0), by_one[0], behind);
            let moving = _mm256_and_si256(self.bits_from(one, 0), masks[0]);
            _mm256_storeu_si256(start, self.blend(moving, low, inserted));
            let behind = self.blend(self.bits_from(at + 1 + width, 1), value, by_both[1]);
            let inserted = self.blend(self.bits_from(at + 1, 1), by_one[1], behind);
            let moving = _mm256_and_si256(self.bits_from(one, 1), masks[1]);
            _mm256_storeu_si256(start.add(1), self.blend(moving, high, inserted));
        }
        line[(one / u64::BITS) as usize % line.len()] |= 1 << (one % u64::BITS);
    }

    #[inline(always)]
    fn remove_bits(self, line: &mut Line, field: &Field, at: u32, width: u32) {
        let ([low, high], masks) = (self.halves(line), self.halves(&field.mask));
        let start = line.as_mut_ptr().cast::<__m256i>();
        // SAFETY: `self` exists, so the processor has AVX2; a line has twice 32 bytes to store.
        unsafe {
            let own = [_mm256_and_si256(low, masks[0]), _mm256_and_si256(high, masks[1])];
            let from_high = self.moved_down_a_word(own[1], width);
            let entering =
                _mm256_blend_epi32::<0xc0>(self.moved_down_a_word(own[0], width), from_high);
            let moved = _mm256_or_si256(self.moved_down(own[0], width), entering);
            let moving = _mm256_and_si256(self.bits_from(at, 0), masks[0]);
            _mm256_storeu_si256(start, self.blend(moving, low, moved));
            let entering = _mm256_blend_epi32::<0xc0>(from_high, _mm256_setzero_si256());
            let moved = _mm256_or_si256(self.moved_down(own[1], width), entering);
            let moving = _mm256_and_si256(self.bits_from(at, 1), masks[1]);
            _mm256_storeu_si256(start.add(1), self.blend(moving, high, moved));
        }
    }

    // In a vector, although there are only two words: the instructions that wait for a block then wait in two
    // queues of the CPU, and twice as many inserts overlap.
    #[inline(always)]
    fn insert_early_one(self, line: &mut Line, field: &Field, at: u32) {
        let [before, through] = self.masks_around(at);
        // SAFETY: `self` exists, so the processor has AVX2; a line has 16 bytes to load and to store.
        unsafe {
            let bits: __m128i;
            // In assembly, because the compiler would take the two words out of other registers one by one.
            core::arch::asm!(
                "vmovdqu {bits}, [{line}]",
                line = in(reg) line.as_ptr(),
                bits = lateout(xmm_reg) bits,
                options(pure, readonly, nostack, preserves_flags),
            );
            let mask = _mm_loadu_si128(field.mask.as_ptr().cast());
            let moving = _mm_andnot_si128(before, mask);
            let carried = _mm_slli_si128::<8>(_mm_srli_epi64::<63>(bits));
            let moved = _mm_or_si128(_mm_add_epi64(bits, bits), carried);
            let one = _mm_xor_si128(before, through);
            let moved = _mm_or_si128(_mm_and_si128(moved, moving), one);
            let changed = _mm_or_si128(_mm_andnot_si128(moving, bits), moved);
            _mm_storeu_si128(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn remove_early_bit(self, line: &mut Line, field: &Field, at: u32) {
        let [before, _] = self.masks_around(at);
        // SAFETY: `self` exists, so the processor has AVX2; a line has 16 bytes to load and to store.
        unsafe {
            let bits = _mm_loadu_si128(line.as_ptr().cast());
            let mask = _mm_loadu_si128(field.mask.as_ptr().cast());
            let own = _mm_and_si128(bits, mask);
            let carried = _mm_slli_epi64::<63>(_mm_srli_si128::<8>(own));
            let moved = _mm_or_si128(_mm_srli_epi64::<1>(own), carried);
            let moving = _mm_andnot_si128(before, mask);
            let moved = _mm_and_si128(moved, moving);
            let changed = _mm_or_si128(_mm_andnot_si128(moving, bits), moved);
            _mm_storeu_si128(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn spread(self, word: u64, width: u32) -> u64 {
        let mask = 0x0101_0101_0101_0101 * ((1 << (width % 8)) - 1);
        // SAFETY: `self` exists, so the processor has BMI2.
        unsafe { _pdep_u64(word, mask) }
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` exists, so the processor has BMI2.
        unsafe { _pext_u64(word, mask) }
    }

    #[inline(always)]
    fn deposit(self, word: u64, mask: u64) -> u64 {
        // SAFETY: `self` exists, so the processor has BMI2.
        unsafe { _pdep_u64(word, mask) }
    }

    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> u32 {
        // SAFETY: `self` exists, so the processor has BMI2.
        unsafe { _pdep_u64(1 << (rank % u64::BITS), word).trailing_zeros() }
    }

    /// Tests all draws, sixteen at a time.
    #[inline(always)]
    fn holds(self, line: &Line, draws: &Draws) -> Holds {
        let halves = self.halves(line);
        let bits = self.bits_hit(draws, 0);
        if self.any_missing(halves, bits, draws.count) {
            return Holds::No;
        }
        if draws.count <= DRAWS_AT_ONCE as u32 {
            let repeat = self.any_repeat(bits, draws.count);
            return if repeat { Holds::Perhaps } else { Holds::Yes };
        }
        for word in (4..draws.count.div_ceil(4)).step_by(4) {
            if self.any_missing(halves, self.bits_hit(draws, word), draws.count - 4 * word) {
                return Holds::No;
            }
        }
        Holds::Perhaps
    }

    #[inline(always)]
    fn distinct_draws(self, draws: &Draws) -> Option<[u16; DRAWS_AT_ONCE]> {
        if draws.count > DRAWS_AT_ONCE as u32 {
            return None;
        }
        let bits = self.bits_hit(draws, 0);
        if self.any_repeat(bits, draws.count) {
            return None;
        }
        let mut stored = [0; DRAWS_AT_ONCE];
        // SAFETY: `self` exists, so the processor has AVX2; sixteen lanes of two bytes are stored in
        // as many.
        unsafe { _mm256_storeu_si256(stored.as_mut_ptr().cast(), bits) };
        Some(stored)
    }
}

/// Helpers. `self` proves that the CPU has their instructions.
impl Avx2 {
    /// The two halves of a line.
    #[inline(always)]
    fn halves(self, line: &Line) -> [__m256i; 2] {
        let start = line.as_ptr().cast::<__m256i>();
        // SAFETY: `self` exists, so the processor has AVX2; a line has twice 32 bytes to load.
        unsafe { [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))] }
    }

    /// Masks of the bits before bit `at` (< 128) of a line, and of those up to and including it.
    #[inline(always)]
    pub(super) fn masks_around(self, at: u32) -> [__m128i; 2] {
        let at = at as usize % 128;
        // SAFETY: `self` exists, so the processor has AVX2; each mask has 16 bytes to load.
        [&BEFORE[at], &BEFORE[at + 1]].map(|mask| unsafe { _mm_loadu_si128(mask.as_ptr().cast()) })
    }

    /// A line shifted up by `width` bits; its first ones are unspecified.
    #[inline(always)]
    fn line_moved_up(self, low: __m256i, high: __m256i, width: u32) -> [__m256i; 2] {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let from_low = self.moved_up_a_word(low, width);
            let entering = _mm256_blend_epi32::<0x03>(self.moved_up_a_word(high, width), from_low);
            [
                _mm256_or_si256(self.moved_up(low, width), from_low),
                _mm256_or_si256(self.moved_up(high, width), entering),
            ]
        }
    }

    /// Every word shifted up by `width` bits.
    #[inline(always)]
    fn moved_up(self, half: __m256i, width: u32) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { _mm256_sll_epi64(half, _mm_cvtsi32_si128(width as i32)) }
    }

    /// The bits that leave each word if it is shifted up, in the word above; of the last word, in the first.
    #[inline(always)]
    fn moved_up_a_word(self, half: __m256i, width: u32) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { _mm256_permute4x64_epi64::<0x93>(self.moved_down(half, 64 - width)) }
    }

    /// Every word shifted down by `width` bits.
    #[inline(always)]
    fn moved_down(self, half: __m256i, width: u32) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { _mm256_srl_epi64(half, _mm_cvtsi32_si128(width as i32)) }
    }

    /// The bits that leave each word if it is shifted down, in the word below; of the first word, in the last.
    #[inline(always)]
    fn moved_down_a_word(self, half: __m256i, width: u32) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { _mm256_permute4x64_epi64::<0x39>(self.moved_up(half, 64 - width)) }
    }

    /// The bits from bit `at` of the line on, in one of its halves.
    #[inline(always)]
    fn bits_from(self, at: u32, half: usize) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let start = half as i64 * i64::from(HALF_BITS);
            let words = _mm256_setr_epi64x(start, start + 64, start + 128, start + 192);
            // Bits before it in each word. The subtraction ends at zero; 64 and more are shifted out.
            let before = _mm256_subs_epu16(_mm256_set1_epi64x(at.into()), words);
            _mm256_sllv_epi64(_mm256_set1_epi64x(-1), before)
        }
    }

    /// Bits of `ones` where the mask is one, of `zeros` where it is zero.
    #[inline(always)]
    fn blend(self, mask: __m256i, zeros: __m256i, ones: __m256i) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { _mm256_or_si256(_mm256_and_si256(mask, ones), _mm256_andnot_si256(mask, zeros)) }
    }

    /// The bits of the line selected by sixteen draws, from the given word on: one in each lane.
    #[inline(always)]
    pub(super) fn bits_hit(self, draws: &Draws, first_word: u32) -> __m256i {
        let word = |index| draws.key.pattern_lanes(first_word + index) as i64;
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let lanes = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
            let positions = _mm256_mulhi_epu16(lanes, _mm256_set1_epi16(draws.positions as i16));
            _mm256_add_epi16(positions, _mm256_set1_epi16(draws.start as i16))
        }
    }

    /// Whether one of the first `count` of these bits is not in the line.
    #[inline(always)]
    fn any_missing(self, [low, high]: [__m256i; 2], bits: __m256i, count: u32) -> bool {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let count = _mm256_set1_epi32(count as i32);
            let even = _mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
            let odd = _mm256_cmpgt_epi32(count, _mm256_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15));
            let even_bits = _mm256_and_si256(bits, _mm256_set1_epi32(0xffff));
            let odd_bits = _mm256_srli_epi32::<16>(bits);
            let missing = _mm256_or_si256(
                self.missing([low, high], even_bits, even),
                self.missing([low, high], odd_bits, odd),
            );
            _mm256_testz_si256(missing, missing) == 0
        }
    }

    /// Those of eight selected bits that count and are not in the line.
    #[inline(always)]
    fn missing(self, [low, high]: [__m256i; 2], bits: __m256i, counts: __m256i) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let words = _mm256_srli_epi32::<5>(bits);
            let in_low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, words));
            let in_high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, words));
            // The fourth bit of the word index becomes the sign, which selects the half.
            let half = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(words));
            let found = _mm256_castps_si256(_mm256_blendv_ps(in_low, in_high, half));
            let within_word = _mm256_and_si256(bits, _mm256_set1_epi32(31));
            let wanted = _mm256_sllv_epi32(_mm256_set1_epi32(1), within_word);
            _mm256_andnot_si256(found, _mm256_and_si256(wanted, counts))
        }
    }

    /// Whether one of the first `count` draws repeats another: each is compared with the next eight in a
    /// ring of sixteen.
    #[inline(always)]
    pub(super) fn any_repeat(self, bits: __m256i, count: u32) -> bool {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            let numbers = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            // Unused lanes differ from all others.
            let counts = _mm256_cmpgt_epi16(_mm256_set1_epi16(count as i16), numbers);
            let others = _mm256_or_si256(numbers, _mm256_set1_epi16(i16::MIN));
            let bits = _mm256_blendv_epi8(others, bits, counts);
            let swapped = _mm256_permute2x128_si256::<0x01>(bits, bits);
            macro_rules! equal_after {
                ($($lanes:literal)*) => {{
                    let mut equal = _mm256_cmpeq_epi16(bits, swapped);
                    $(
                        let turned = _mm256_alignr_epi8::<{ 2 * $lanes }>(swapped, bits);
                        equal = _mm256_or_si256(equal, _mm256_cmpeq_epi16(bits, turned));
                    )*
                    equal
                }};
            }
            let equal = equal_after!(1 2 3 4 5 6 7);
            _mm256_testz_si256(equal, equal) == 0
        }
    }

    /// The numbers from 0 to 31.
    #[inline(always)]
    fn numbers(self) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe {
            _mm256_setr_epi8(
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23, 24, 25, 26, 27, 28, 29, 30, 31,
            )
        }
    }

    /// The same, with the last one less than all numbers of bytes: that byte does not move.
    #[inline(always)]
    fn numbers_but_the_last(self) -> __m256i {
        // SAFETY: `self` exists, so the processor has AVX2.
        unsafe { _mm256_insert_epi8::<31>(self.numbers(), i8::MIN) }
    }
}
