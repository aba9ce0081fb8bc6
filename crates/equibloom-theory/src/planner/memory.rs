//! From memory to blocks: what every part of a filter occupies, as the core library allocates it.

use crate::error::{Error, require};

/// Bytes of a filter's own fields: not more than this, as the tests of the core library see to.
pub(crate) const HEADER_BYTES: u64 = 832;

/// Memory is allocated in cache lines.
const LINE_BYTES: u64 = 64;

/// Smallest and largest block in bits.
pub(crate) const BLOCK_BITS: core::ops::RangeInclusive<u32> = 64..=32_768;

/// Most bits that one key may set.
pub(crate) const MOST_HASHES: u32 = 64;

/// Most candidate blocks of a key.
pub(crate) const MOST_CHOICES: u32 = 16;

/// Most bytes of a filter: above it, numbers of bits are no longer exact in floating point.
pub(crate) const MOST_BYTES: u64 = 1 << 50;

/// Most keys.
pub(crate) const MOST_KEYS: u64 = 1 << 50;

/// Bits a block occupies: the next multiple of a word.
pub(crate) const fn stride_bits(block_bits: u32) -> u64 {
    (block_bits as u64).next_multiple_of(64)
}

/// Bytes of so many bits, in whole lines.
pub(crate) const fn bytes_of_bits(bits: u64) -> u64 {
    bits.div_ceil(8 * LINE_BYTES).saturating_mul(LINE_BYTES)
}

/// Bytes of an overflow list: 64-bit slots, a quarter more than entries and always one that stays free.
pub(crate) const fn overflow_bytes(capacity: u64) -> u64 {
    if capacity == 0 {
        return 0;
    }
    bytes_of_bits(capacity.saturating_add(capacity / 4 + 1).saturating_mul(64))
}

/// Room for a mean number of entries, and for chance: six standard deviations more.
pub(crate) fn capacity(mean: f64, deviation: f64) -> u64 {
    if mean <= 0.0 { 0 } else { (mean + 6.0 * (deviation + 1.0)).ceil() as u64 }
}

/// Keys and the memory for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizing {
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
}

impl Sizing {
    pub(crate) fn bits_per_key(&self) -> f64 {
        8.0 * self.bytes as f64 / self.keys as f64
    }

    /// Bytes left for the table beside an overflow list.
    fn table_bytes(&self, overflow_bytes: u64) -> u64 {
        let left = self.bytes.saturating_sub(HEADER_BYTES).saturating_sub(overflow_bytes);
        left - left % LINE_BYTES
    }

    /// Bits of a classical filter.
    pub(crate) fn classical_bits(&self) -> Result<u64, Error> {
        let bits = 8 * self.table_bytes(0);
        require(
            bits > 0,
            "memory",
            self.bytes as f64,
            format!("at least {} bytes", HEADER_BYTES + LINE_BYTES),
        )?;
        Ok(bits)
    }

    /// Blocks that fit beside an overflow list.
    pub(crate) fn blocks(&self, block_bits: u32, overflow_bytes: u64) -> Result<u64, Error> {
        let stride = stride_bits(block_bits);
        let blocks = 8 * self.table_bytes(overflow_bytes) / stride;
        let least = HEADER_BYTES + overflow_bytes + stride.div_ceil(8).next_multiple_of(LINE_BYTES);
        require(
            blocks > 0,
            "memory",
            self.bytes as f64,
            format!(
                "at least {least} bytes for one block of {block_bits} bits, header and overflow list"
            ),
        )?;
        Ok(blocks)
    }
}

/// Whole subtables in the given proportions, none of them empty.
pub(crate) fn divide(blocks: u64, shares: &[f64]) -> Result<Vec<u64>, Error> {
    let enough = blocks >= shares.len() as u64;
    require(
        enough,
        "blocks",
        blocks as f64,
        format!("at least one for each of the {} subtables", shares.len()),
    )?;
    let mut sizes: Vec<u64> =
        shares.iter().map(|share| ((share * blocks as f64).round() as u64).max(1)).collect();
    // Rounding is made up for where it matters least, in the largest.
    let largest = |sizes: &[u64]| (0..sizes.len()).max_by_key(|&i| (sizes[i], sizes.len() - i));
    let sum: u64 = sizes.iter().sum();
    if let Some(largest) = largest(&sizes) {
        sizes[largest] += blocks.saturating_sub(sum);
    }
    // At most one too many for each subtable.
    for _ in blocks..sum {
        if let Some(largest) = largest(&sizes) {
            sizes[largest] -= 1;
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtables_add_up_and_keep_their_proportions() {
        assert_eq!(divide(1_000, &[0.83, 0.142, 0.028]).unwrap(), [830, 142, 28]);
        assert_eq!(divide(3, &[0.98, 0.01, 0.01]).unwrap(), [1, 1, 1]);
        let halves: Vec<f64> = (1..=16).map(|level| 0.5_f64.powi(level)).collect();
        for shares in [&[0.6, 0.3, 0.1], &[1.0 / 16.0; 16][..], &halves] {
            for blocks in shares.len() as u64..200 {
                let sizes = divide(blocks, shares).unwrap();
                assert_eq!(sizes.iter().sum::<u64>(), blocks);
                assert!(sizes.iter().all(|&size| size > 0));
            }
        }
        assert!(divide(2, &[0.6, 0.3, 0.1]).is_err());
    }

    #[test]
    fn all_memory_is_counted_and_none_is_wasted() {
        let sizing = Sizing { keys: 1_000, bytes: 2_000 };
        let overflow = overflow_bytes(10);
        assert_eq!(overflow, 128);
        let blocks = sizing.blocks(500, overflow).unwrap();
        assert_eq!(blocks, (2_000 - HEADER_BYTES - 128) / 64);
        assert!(HEADER_BYTES + overflow + 64 * (blocks + 1) > 2_000);
        assert!(Sizing { keys: 1, bytes: HEADER_BYTES + 63 }.blocks(64, 0).is_err());
    }
}
