//! The same step on many bytes at once: by vector instructions where every processor of the target has
//! them, and in plain words elsewhere. Both give the same answers.

#[cfg(target_arch = "x86_64")]
mod sse2;
// Everywhere in tests, as the oracle.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words;

#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::equal_bytes;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use words::equal_bytes;

#[cfg(test)]
mod tests {
    use super::{equal_bytes, words};
    use crate::memory::WORDS_PER_LINE;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_way_finds_the_same_bytes(line: [u64; WORDS_PER_LINE], byte: u8, planted: u64) {
            let mut line = line;
            for index in (0..64).filter(|index| planted >> index & 1 == 1) {
                let shift = 8 * (index % 8);
                line[index / 8] = line[index / 8] & !(0xff << shift) | u64::from(byte) << shift;
            }
            let mut expected = 0_u64;
            for index in 0..64 {
                let found = (line[index / 8] >> (8 * (index % 8))) as u8;
                expected |= u64::from(found == byte) << index;
            }
            prop_assert_eq!(words::equal_bytes(&line, byte), expected);
            prop_assert_eq!(equal_bytes(&line, byte), expected);
            prop_assert_eq!(expected & planted, planted);
        }
    }
}
