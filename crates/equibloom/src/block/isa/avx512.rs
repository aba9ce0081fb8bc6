//! AVX-512: a whole line at a time.
#![allow(unsafe_code, reason = "instructions that not every x86-64 processor has")]

use core::arch::x86_64::{
    __m512i, _mm512_alignr_epi64, _mm512_and_si512, _mm512_cmpgt_epu8_mask, _mm512_cvtepu16_epi32,
    _mm512_loadu_si512, _mm512_mask_expand_epi8, _mm512_mask_testn_epi32_mask, _mm512_max_epi64,
    _mm512_or_si512, _mm512_permutexvar_epi32, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shldv_epi64,
    _mm512_sllv_epi32, _mm512_sllv_epi64, _mm512_srli_epi32, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_sub_epi64, _mm512_xor_si512,
};

use super::avx2::Avx2;
use super::{DRAWS_AT_ONCE, Isa};
use crate::block::Holds;
use crate::block::fields::Field;
use crate::block::pattern::Draws;
use crate::storage::Line;

/// A CPU with [`Avx2`]'s features, AVX-512 on bytes and words, and VBMI2. Holding a value proves that the
/// CPU has these features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(Avx2);

impl Avx512 {
    /// Detects the features; without `std`, those of the target.
    pub(super) fn detect() -> Option<Self> {
        let found = processor_has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi2");
        Avx2::detect().filter(|_| found).map(Self)
    }

    /// The proof, for functions that run on such a CPU only.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2"
    )]
    pub(crate) fn found() -> Self {
        Self(Avx2::found())
    }
}

impl Isa for Avx512 {
    #[inline(always)]
    fn equal_bytes(self, line: &Line, byte: u8) -> u64 {
        let equal;
        // Inline assembly to choose the register: with one of the first sixteen, every lookup would have to
        // end with `vzeroupper`, a tenth of its instructions.
        // SAFETY: `self` exists, so the processor has AVX-512; a line has 64 bytes to load.
        unsafe {
            core::arch::asm!(
                "vpbroadcastb zmm16, {byte:e}",
                "vpcmpeqb k1, zmm16, [{line}]",
                "kmovq {equal}, k1",
                byte = in(reg) u32::from(byte),
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
    fn last_byte(self, line: &Line) -> u8 {
        self.0.last_byte(line)
    }

    #[inline(always)]
    fn least_byte(self, line: &Line, first: u32, end: u32) -> u8 {
        self.0.least_byte(line, first, end)
    }

    #[inline(always)]
    fn remove_byte(self, line: &mut Line, at: u32) {
        self.0.remove_byte(line, at);
    }

    #[inline(always)]
    fn insert_byte(self, line: &mut Line, at: u32, byte: u8) {
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            // The bytes go in order to all positions but this one.
            let others = !(1 << (at % u64::BITS));
            let byte = _mm512_set1_epi8(byte as i8);
            let changed = _mm512_mask_expand_epi8(byte, others, self.whole(line));
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

    /// As with AVX2, but without a carry between halves.
    #[inline(always)]
    fn insert_bits(self, line: &mut Line, field: &Field, at: u32, width: u32, value: u64) {
        let (bits, mask) = (self.whole(line), self.whole(&field.mask));
        // SAFETY: `self` exists, so the processor has AVX-512 and VBMI2; a line has 64 bytes to store.
        unsafe {
            let zero = _mm512_setzero_si512();
            let words = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
            // Distance from the first bit of each word to the insertion point; negative before it.
            let place = _mm512_sub_epi64(_mm512_set1_epi64(at.into()), words);
            // All bits of a word after the insertion point move, none of a word before it.
            let first = _mm512_max_epi64(place, zero);
            let behind = _mm512_sllv_epi64(_mm512_set1_epi64(-1), first);
            let moving = _mm512_and_si512(bits, _mm512_and_si512(mask, behind));
            // Bits carried into the next word.
            let below = _mm512_alignr_epi64::<7>(moving, zero);
            let moved = _mm512_shldv_epi64(moving, below, _mm512_set1_epi64(width.into()));
            let value = _mm512_set1_epi64(value as i64);
            // A shift by a negative number, or by too many bits, gives zero.
            let before = _mm512_sub_epi64(zero, place);
            let value =
                _mm512_or_si512(_mm512_sllv_epi64(value, place), _mm512_srlv_epi64(value, before));
            let moved = _mm512_or_si512(_mm512_and_si512(moved, mask), value);
            let changed = _mm512_or_si512(_mm512_xor_si512(bits, moving), moved);
            _mm512_storeu_si512(line.as_mut_ptr().cast(), changed);
        }
    }

    #[inline(always)]
    fn select(self, word: u64, rank: u32) -> u32 {
        self.0.select(word, rank)
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
