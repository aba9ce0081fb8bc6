//! AVX-512: a whole line at a time.
#![allow(unsafe_code, reason = "instructions that not every x86-64 processor has")]

use core::arch::x86_64::{
    __m512i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_loadu_si128,
    _mm_popcnt_epi64, _mm_srli_si128, _mm_xor_si128, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_andnot_si512, _mm512_cmpeq_epi8_mask, _mm512_cmpgt_epu8_mask, _mm512_cvtepu16_epi32,
    _mm512_loadu_si512, _mm512_mask_expand_epi8, _mm512_mask_mov_epi8,
    _mm512_mask_testn_epi32_mask, _mm512_maskz_compress_epi8, _mm512_or_si512,
    _mm512_permutexvar_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shldi_epi64, _mm512_shldv_epi64,
    _mm512_shrdi_epi64, _mm512_shrdv_epi64, _mm512_sllv_epi32, _mm512_sllv_epi64,
    _mm512_srli_epi32, _mm512_storeu_si512, _mm512_subs_epu16, _mm512_zextsi128_si512, _pdep_u64,
};

use super::avx2::Avx2;
use super::{BEFORE, DRAWS_AT_ONCE, Isa};
use crate::block::Holds;
use crate::block::fields::{Field, LINE_BYTES};
use crate::block::pattern::Draws;
use crate::storage::Line;

/// A CPU with [`Avx2`]'s features, AVX-512 on bytes and words, VBMI2 and VPOPCNTDQ. Holding a value proves that the
/// CPU has these features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(Avx2);

impl Avx512 {
    /// Detects the features; without `std`, those of the target.
    pub(super) fn detect() -> Option<Self> {
        let found = processor_has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi2" "avx512vpopcntdq");
        Avx2::detect().filter(|_| found).map(Self)
    }

    /// The proof, for functions that run on such a CPU only.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq"
    )]
    pub(crate) fn found() -> Self {
        Self(Avx2::found())
    }
}

impl Isa for Avx512 {
    #[inline(always)]
    fn equal_bytes(self, line: &Line, byte: u8) -> u64 {
        self.equal_to_lowest(line, byte.into())
    }

    #[inline(always)]
    fn equal_to_lowest(self, line: &Line, word: u64) -> u64 {
        let equal;
        // Inline assembly to choose the register: with one of the first sixteen, every lookup would have to
        // end with `vzeroupper`, a tenth of its instructions.
        // SAFETY: `self` exists, so the processor has AVX-512; a line has 64 bytes to load.
        unsafe {
            core::arch::asm!(
                "vpbroadcastb zmm16, {word:e}",
                "vpcmpeqb k1, zmm16, [{line}]",
                "kmovq {equal}, k1",
                word = in(reg) word,
                line = in(reg) line,
                equal = lateout(reg) equal,
                out("zmm16") _,
                out("k1") _,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        equal
    }

    #[inline(always)]
    fn greater_bytes(self, line: &Line, byte: u8) -> u64 {
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe { _mm512_cmpgt_epu8_mask(self.whole(line), _mm512_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    fn byte(self, line: &Line, at: u32) -> u8 {
        // SAFETY: one of 64 bytes.
        unsafe { *line.as_ptr().cast::<u8>().add((at % LINE_BYTES) as usize) }
    }

    #[inline(always)]
    fn word(self, line: &Line, at: usize) -> u64 {
        self.0.word(line, at)
    }

    // In a vector for the same reason as `early_zeros`.
    #[inline(always)]
    fn early_ones(self, line: &Line, field: &Field) -> u32 {
        // SAFETY: `self` exists, so the processor has AVX-512 and counts bits; lines have 16 bytes to load.
        unsafe {
            let bits = _mm_loadu_si128(line.as_ptr().cast());
            let own = _mm_and_si128(bits, _mm_loadu_si128(field.mask.as_ptr().cast()));
            let ones = _mm_popcnt_epi64(own);
            _mm_cvtsi128_si32(_mm_add_epi64(ones, _mm_srli_si128::<8>(ones))) as u32
        }
    }

    #[inline(always)]
    fn equals_from_end(self, line: &Line, at: u32, byte: u8) -> bool {
        let bit = (1 << 63) >> (at % u64::BITS);
        // SAFETY: `self` exists, so the processor has AVX-512.
        let equal =
            unsafe { _mm512_cmpeq_epi8_mask(self.whole(line), _mm512_set1_epi8(byte as i8)) };
        equal & bit != 0
    }

    // Inserts wait for their lines in the CPU's queues of instructions, and the queue for integers is the shortest:
    // in vectors, many more inserts overlap. In assembly, because the compiler would use integers.
    #[inline(always)]
    fn early_zeros(self, line: &Line, at: u32, shift: u32) -> (u64, u32) {
        let at = at as usize % 128;
        let (zeros, rank): (u64, u64);
        // SAFETY: `self` exists, so the processor has AVX-512 and counts bits; eight bytes from one of the line's
        // first sixteen on, and sixteen from its first and of a mask.
        unsafe {
            core::arch::asm!(
                "vmovq {bits}, [{start}]",
                "vpsrlq {bits}, {bits}, {down}",
                "vpsllq {bits}, {bits}, {shift}",
                "vpternlogq {bits}, {bits}, {bits}, 0x55", // not
                "vmovq {zeros}, {bits}",
                "vmovdqu {bits}, [{line}]",
                "vpand {bits}, {bits}, [{before}]",
                "vpopcntq {bits}, {bits}",
                "vpshufd {high}, {bits}, 0xee",
                "vpaddq {bits}, {bits}, {shift}",
                "vpaddq {bits}, {bits}, {high}",
                "vpsllvq {bits}, {one}, {bits}",
                "vmovq {rank}, {bits}",
                start = in(reg) line.as_ptr().byte_add(at / 8), line = in(reg) line,
                before = in(reg) &BEFORE[at], down = in(xmm_reg) _mm_cvtsi32_si128(at as i32 % 8),
                shift = in(xmm_reg) _mm_cvtsi32_si128(shift as i32),
                one = in(xmm_reg) _mm_cvtsi32_si128(1),
                bits = out(xmm_reg) _, high = out(xmm_reg) _,
                zeros = out(reg) zeros, rank = lateout(reg) rank,
                options(pure, readonly, nostack, preserves_flags),
            );
            (zeros, _pdep_u64(rank, zeros).trailing_zeros())
        }
    }

    #[inline(always)]
    fn least_byte(self, line: &Line, first: u32, end: u32) -> u8 {
        self.0.least_byte(line, first, end)
    }

    #[inline(always)]
    fn remove_byte(self, line: &mut Line, at: u32) {
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            let (whole, last) = (self.whole(line), 1 << 63);
            let others = !(1 << (at % u64::BITS)) & !last;
            let changed = _mm512_maskz_compress_epi8(others, whole);
            let changed = _mm512_mask_mov_epi8(changed, last, whole);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8) {
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            // The bytes go in order to all positions but this one; the last returns to its own.
            let others = !(1 << (at % u64::BITS));
            let (byte, whole) = (_mm512_set1_epi8(byte as i8), self.whole(line));
            let changed = _mm512_mask_expand_epi8(byte, others, whole);
            let changed = _mm512_mask_mov_epi8(changed, 1 << 63, whole);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn window(self, line: &Line, start: u32) -> u64 {
        self.0.window(line, start)
    }

    #[inline(always)]
    fn inner_window(self, line: &Line, start: u32) -> u64 {
        self.0.inner_window(line, start)
    }

    #[inline(always)]
    fn lowest(self, word: u64, count: u32) -> u64 {
        self.0.lowest(word, count)
    }

    #[inline(always)]
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64) {
        let (bits, mask) = (self.whole(line), self.whole(&field.mask));
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            let width = _mm512_set1_epi64(width.into());
            let moved = |bits| {
                let below = _mm512_alignr_epi64::<7>(bits, _mm512_setzero_si512());
                _mm512_shldv_epi64(bits, below, width)
            };
            let behind = self.bits_from(at);
            let after = moved(behind);
            // Rotated alike in all words, the value is right in those that it belongs to.
            let value = _mm512_set1_epi64(value.rotate_left(at) as i64);
            let inserted = self.blend(after, value, moved(bits));
            let changed = self.blend(_mm512_and_si512(behind, mask), bits, inserted);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    /// As with AVX2, but in a register with the whole line, where other insertions leave it.
    #[inline(always)]
    fn insert_early_one(self, line: &mut Line, field: &Field, at: u32) {
        let (bits, mask) = (self.whole(line), self.whole(&field.mask));
        let [before, through] = self.0.masks_around(at);
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            let one = _mm512_zextsi128_si512(_mm_xor_si128(before, through));
            let below = _mm512_alignr_epi64::<7>(bits, _mm512_setzero_si512());
            let moved = _mm512_or_si512(_mm512_shldi_epi64::<1>(bits, below), one);
            let moving = _mm512_andnot_si512(_mm512_zextsi128_si512(before), mask);
            let changed = self.blend(moving, bits, moved);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn remove_bits(self, line: &mut Line, field: &Field, at: u32, width: u32) {
        let (bits, mask) = (self.whole(line), self.whole(&field.mask));
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            let own = _mm512_and_si512(bits, mask);
            let above = _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), own);
            let moved = _mm512_shrdv_epi64(own, above, _mm512_set1_epi64(width.into()));
            let changed = self.blend(_mm512_and_si512(self.bits_from(at), mask), bits, moved);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn remove_early_bit(self, line: &mut Line, field: &Field, at: u32) {
        let (bits, mask) = (self.whole(line), self.whole(&field.mask));
        let [before, _] = self.0.masks_around(at);
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            let own = _mm512_and_si512(bits, mask);
            let above = _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), own);
            let moved = _mm512_shrdi_epi64::<1>(own, above);
            let moving = _mm512_andnot_si512(_mm512_zextsi128_si512(before), mask);
            let changed = self.blend(moving, bits, moved);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> u32 {
        self.0.select(word, rank)
    }

    #[inline(always)]
    fn extract(self, word: u64, mask: u64) -> u64 {
        self.0.extract(word, mask)
    }

    #[inline(always)]
    fn deposit(self, word: u64, mask: u64) -> u64 {
        self.0.deposit(word, mask)
    }

    /// Tests all draws, sixteen at a time.
    #[inline(always)]
    fn holds(self, line: &Line, draws: &Draws) -> Holds {
        let line = self.whole(line);
        if self.any_missing(line, draws, 0) {
            return Holds::No;
        }
        if draws.count <= DRAWS_AT_ONCE as u32 {
            let repeat = self.0.any_repeat(self.0.bits_hit(draws, 0), draws.count);
            return if repeat { Holds::Perhaps } else { Holds::Yes };
        }
        for word in (4..draws.count.div_ceil(4)).step_by(4) {
            if self.any_missing(line, draws, word) {
                return Holds::No;
            }
        }
        Holds::Perhaps
    }

    #[inline(always)]
    fn distinct_draws(self, draws: &Draws) -> Option<[u16; DRAWS_AT_ONCE]> {
        self.0.distinct_draws(draws)
    }
}

/// Helpers. `self` proves that the CPU has their instructions.
impl Avx512 {
    /// A line in a register.
    #[inline(always)]
    fn whole(self, line: &Line) -> __m512i {
        // SAFETY: `self` exists, so the processor has AVX-512; a line has 64 bytes to load.
        unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
    }

    /// The bits from bit `at` on.
    #[inline(always)]
    fn bits_from(self, at: u32) -> __m512i {
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe {
            // Bits before it in each word. The subtraction ends at zero; 64 and more are shifted out.
            let words = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
            let before = _mm512_subs_epu16(_mm512_set1_epi64(at.into()), words);
            _mm512_sllv_epi64(_mm512_set1_epi64(-1), before)
        }
    }

    /// Bits of `ones` where the mask is one, of `zeros` where it is zero.
    #[inline(always)]
    fn blend(self, mask: __m512i, zeros: __m512i, ones: __m512i) -> __m512i {
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe { _mm512_or_si512(_mm512_and_si512(mask, ones), _mm512_andnot_si512(mask, zeros)) }
    }

    /// Whether one of sixteen draws, from the given word on, is not in the line.
    #[inline(always)]
    fn any_missing(self, line: __m512i, draws: &Draws, first_word: u32) -> bool {
        let left = draws.count - 4 * first_word;
        let counts = ((1_u32 << left.min(DRAWS_AT_ONCE as u32)) - 1) as u16;
        // SAFETY: `self` exists, so the processor has AVX-512.
        unsafe {
            let bits = _mm512_cvtepu16_epi32(self.0.bits_hit(draws, first_word));
            let found = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(bits), line);
            let within_word = _mm512_and_si512(bits, _mm512_set1_epi32(31));
            let wanted = _mm512_sllv_epi32(_mm512_set1_epi32(1), within_word);
            _mm512_mask_testn_epi32_mask(counts, found, wanted) != 0
        }
    }
}
