//! The seven filters, each with the papers' optimal parameters, all in the same memory.

use anyhow::{Context, bail, ensure};
use equibloom::{
    AnyFilter, BlockTable, MAX_HASHES, Overflow, Parameters, Scheme, Threshold, WhenFull,
};
use equibloom_theory::optimum::{self, Optimum};

/// Mean accesses per insert that sequential and multi-level may use: as in the papers, or the first
/// of these whose overflow list leaves enough memory to the blocks.
const ACCESSES: [f64; 6] = [1.2, 1.15, 1.1, 1.05, 1.02, 1.01];
/// Most of the memory that the overflow list may take.
const OVERFLOW_SHARE: f64 = 0.125;
/// Candidate blocks per key, as in the papers.
const CHOICES: u32 = 3;
/// Share of keys with a second choice, as in the figures of the 1+α paper.
const ALPHA: f64 = 0.3;
/// Bytes of a filter's own fields.
const HEADER_BYTES: u64 = size_of::<AnyFilter>() as u64;
/// The optimum depends on the load and the load on the memory that the overflow list leaves: a few
/// rounds settle it.
const ROUNDS: usize = 8;

/// What the user asked for.
pub(super) struct Wishes {
    pub(super) keys: u64,
    pub(super) bits_per_key: f64,
    pub(super) block_bits: u32,
    pub(super) seed: u64,
}

/// The filters of the papers, in the order of the table.
pub(super) fn lineup(wishes: &Wishes) -> anyhow::Result<Vec<Parameters>> {
    let Wishes { keys, bits_per_key, block_bits, seed } = *wishes;
    ensure!(
        bits_per_key.is_finite() && bits_per_key > 0.0,
        "--bits-per-key is {bits_per_key}: give a finite number above 0"
    );
    let memory_bits = keys as f64 * bits_per_key;
    // Beyond this a float does not hold every whole number, and no machine has that memory.
    ensure!(
        memory_bits < 2_f64.powi(53),
        "{keys} keys at {bits_per_key} bits are {memory_bits:e} bits: give fewer keys or fewer bits, \
         below 9e15 in all"
    );
    let sizing =
        Sizing { keys, memory_bits: memory_bits as u64, block_bits, hashes: hashes(wishes) };
    let schemes = [
        Scheme::Classical { bits: sizing.classical_bits()?, hashes: sizing.hashes },
        Scheme::Blocked { blocks: sizing.blocks(0)? },
        sizing.single()?,
        sizing.sequential()?,
        sizing.multi_level()?,
        Scheme::TwoChoice { blocks: sizing.blocks(0)? },
        Scheme::OnePlusAlpha { blocks: sizing.blocks(0)?, alpha: ALPHA },
    ];
    let filters = schemes.map(|scheme| Parameters { keys, seed, scheme });
    for parameters in &filters {
        parameters.check().with_context(|| parameters.scheme.name())?;
    }
    Ok(filters.into())
}

/// The papers' number of hash functions, β·ln 2 rounded, as far as a block has room for it.
fn hashes(wishes: &Wishes) -> u32 {
    let wanted = (wishes.bits_per_key * std::f64::consts::LN_2).round();
    let room = (wishes.block_bits.saturating_sub(16) / 2).clamp(1, MAX_HASHES);
    wanted.clamp(1.0, f64::from(room)) as u32
}

/// Turns memory into blocks.
struct Sizing {
    keys: u64,
    memory_bits: u64,
    block_bits: u32,
    hashes: u32,
}

impl Sizing {
    fn classical_bits(&self) -> anyhow::Result<u64> {
        match self.memory_bits.saturating_sub(8 * HEADER_BYTES) {
            0 => bail!(
                "{} bits hold no filter beside its own fields of {HEADER_BYTES} bytes: \
                 give more keys or more bits per key",
                self.memory_bits
            ),
            bits => Ok(bits),
        }
    }

    /// The blocks that fit beside an overflow list of so many bytes.
    fn blocks(&self, overflow_bytes: u64) -> anyhow::Result<BlockTable> {
        let left = self.memory_bits.saturating_sub(8 * (HEADER_BYTES + overflow_bytes));
        Ok(BlockTable::filling(left, self.block_bits, self.hashes)?)
    }

    /// The blocks, threshold and overflow list of a placement whose optimum at a load is known.
    fn settle(
        &self,
        optimum_at: impl Fn(f64) -> Result<Optimum, equibloom_theory::Error>,
    ) -> anyhow::Result<(BlockTable, Threshold, Overflow, Optimum)> {
        let mut overflow = Overflow { capacity: 0, when_full: WhenFull::Saturate };
        for round in 1.. {
            let blocks = self.blocks(overflow.bytes())?;
            let optimum = optimum_at(self.keys as f64 / blocks.count as f64)?;
            let wanted = Overflow::for_fraction(optimum.overflow, self.keys, WhenFull::Saturate)?;
            if wanted == overflow || round == ROUNDS {
                let threshold =
                    Threshold { load: optimum.threshold, probability: optimum.probability };
                return Ok((blocks, threshold, overflow, optimum));
            }
            overflow = wanted;
        }
        bail!("the parameters did not settle")
    }

    /// The largest of [`ACCESSES`] whose overflow list is small enough, with all that follows.
    fn settle_accesses(
        &self,
        optimum_at: impl Fn(f64, f64) -> Result<Optimum, equibloom_theory::Error>,
    ) -> anyhow::Result<(BlockTable, Threshold, Overflow, Optimum)> {
        let most = OVERFLOW_SHARE * self.memory_bits as f64;
        let mut settled = self.settle(|load| optimum_at(load, ACCESSES[0]));
        for accesses in &ACCESSES[1..] {
            if settled
                .as_ref()
                .is_ok_and(|(_, _, overflow, _)| 8.0 * overflow.bytes() as f64 <= most)
            {
                break;
            }
            settled = self.settle(|load| optimum_at(load, *accesses));
        }
        settled
    }

    fn settle_multi_level(&self) -> anyhow::Result<(BlockTable, Threshold, Overflow, Optimum)> {
        self.settle_accesses(|load, accesses| optimum::multi_level(load, accesses, CHOICES, None))
    }

    /// With as much overflow as multi-level has, as in the papers' comparison.
    fn single(&self) -> anyhow::Result<Scheme> {
        let (_, _, _, multi_level) = self.settle_multi_level()?;
        let (blocks, threshold, overflow, _) =
            self.settle(|load| optimum::single(load, multi_level.overflow))?;
        Ok(Scheme::Single { blocks, threshold, overflow })
    }

    fn sequential(&self) -> anyhow::Result<Scheme> {
        let (blocks, threshold, overflow, Optimum { accesses, .. }) = self
            .settle_accesses(|load, accesses| optimum::sequential(load, accesses, CHOICES, None))?;
        Ok(Scheme::Sequential { blocks, threshold, overflow, choices: CHOICES, accesses })
    }

    fn multi_level(&self) -> anyhow::Result<Scheme> {
        let (blocks, threshold, overflow, optimum) = self.settle_multi_level()?;
        let subtables = divide(blocks.count, &optimum.subtables)?;
        Ok(Scheme::MultiLevel { blocks, threshold, overflow, subtables })
    }
}

/// Whole subtables in the given proportions, none of them empty.
fn divide(blocks: u64, shares: &[f64]) -> anyhow::Result<Vec<u64>> {
    ensure!(
        blocks >= shares.len() as u64,
        "{blocks} blocks are too few for {} subtables: give more memory or smaller blocks",
        shares.len()
    );
    let mut sizes: Vec<u64> =
        shares.iter().map(|share| ((share * blocks as f64).round() as u64).max(1)).collect();
    let sum: u64 = sizes.iter().sum();
    // Rounding is made up for where it matters least, in the largest.
    if let Some(largest) = sizes.iter_mut().max() {
        *largest = (*largest + blocks).saturating_sub(sum).max(1);
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
        for blocks in 3..200 {
            let sizes = divide(blocks, &[0.6, 0.3, 0.1]).unwrap();
            assert_eq!(sizes.iter().sum::<u64>(), blocks);
        }
        assert!(divide(2, &[0.6, 0.3, 0.1]).is_err());
    }
}
