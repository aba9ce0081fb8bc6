//! What takes part: each filter behind the same three operations, on precomputed hashes.

use std::error::Error;

use equibloom::placement::{FirstWithRoom, LeastLoaded};
use equibloom::raw::Balanced;
use equibloom::{BlockTable, Filter, KeyHash, Overflow, Parameters, Scheme, Threshold, WhenFull};

/// A filter in the race, of `bits` bits for `keys` keys.
pub(crate) trait Contestant: Sized {
    const NAME: &'static str;
    fn new(bits: u64, keys: u64) -> Result<Self, Box<dyn Error>>;
    fn insert(&mut self, hash: KeyHash);
    fn contains(&self, hash: KeyHash) -> bool;
}

fn hashes_for(bits: u64, keys: u64) -> u32 {
    (bits as f64 / keys as f64 * core::f64::consts::LN_2).round().clamp(1.0, 64.0) as u32
}

/// One block per key, the kind known to the compiler.
pub(crate) struct Blocked(Filter<Balanced<LeastLoaded>>);

impl Contestant for Blocked {
    const NAME: &'static str = "equibloom blocked, 512";

    fn new(bits: u64, keys: u64) -> Result<Self, Box<dyn Error>> {
        let blocks = BlockTable::filling(bits, 512, hashes_for(bits, keys))?;
        Ok(Self(Filter::new(&Parameters { keys, seed: 0, scheme: Scheme::Blocked { blocks } })?))
    }

    #[inline(always)]
    fn insert(&mut self, hash: KeyHash) {
        let _ = self.0.insert_hash(hash);
    }

    #[inline(always)]
    fn contains(&self, hash: KeyHash) -> bool {
        self.0.contains_hash(hash)
    }
}

/// Three subtables in the proportions of 1.2 accesses per insert.
pub(crate) struct MultiLevel(Filter<Balanced<FirstWithRoom>>);

impl Contestant for MultiLevel {
    const NAME: &'static str = "equibloom multi-level, 512";

    fn new(bits: u64, keys: u64) -> Result<Self, Box<dyn Error>> {
        // Half a per cent of the keys overflow, at 80 bits each.
        let overflow = Overflow::for_fraction(0.005, keys, WhenFull::Saturate)?;
        let blocks =
            BlockTable::filling(bits - overflow.capacity * 80, 512, hashes_for(bits, keys))?;
        let second = blocks.count * 142 / 1_000;
        let third = blocks.count * 24 / 1_000;
        let load = (keys as f64 / blocks.count as f64).ceil() as u32;
        let scheme = Scheme::MultiLevel {
            blocks,
            threshold: Threshold { load, probability: 0.5 },
            overflow,
            subtables: vec![blocks.count - second - third, second, third],
        };
        Ok(Self(Filter::new(&Parameters { keys, seed: 0, scheme })?))
    }

    #[inline(always)]
    fn insert(&mut self, hash: KeyHash) {
        let _ = self.0.insert_hash(hash);
    }

    #[inline(always)]
    fn contains(&self, hash: KeyHash) -> bool {
        self.0.contains_hash(hash)
    }
}

/// The peer. It takes 64-bit hashes; half of ours is one.
pub(crate) struct Fastbloom(fastbloom::BloomFilter);

impl Contestant for Fastbloom {
    const NAME: &'static str = "fastbloom";

    fn new(bits: u64, keys: u64) -> Result<Self, Box<dyn Error>> {
        let builder = fastbloom::BloomFilter::with_num_bits(usize::try_from(bits)?);
        Ok(Self(builder.expected_items(usize::try_from(keys)?)))
    }

    #[inline(always)]
    fn insert(&mut self, hash: KeyHash) {
        self.0.insert_hash(u128::from(hash) as u64);
    }

    #[inline(always)]
    fn contains(&self, hash: KeyHash) -> bool {
        self.0.contains_hash(u128::from(hash) as u64)
    }
}

/// What the memory itself allows: one word of the key's line is read, or written, and that is all.
pub(crate) struct Limit(Vec<[u64; 8]>);

impl Contestant for Limit {
    const NAME: &'static str = "limit: one line per key";

    fn new(bits: u64, _keys: u64) -> Result<Self, Box<dyn Error>> {
        // Ones and not zeros, so that every page is there before the clock starts.
        Ok(Self(vec![[1; 8]; usize::try_from(bits.div_ceil(512))?]))
    }

    #[inline(always)]
    fn insert(&mut self, hash: KeyHash) {
        let line = self.line(hash);
        self.0[line][0] |= 1;
    }

    #[inline(always)]
    fn contains(&self, hash: KeyHash) -> bool {
        self.0[self.line(hash)][0] == 1
    }
}

impl Limit {
    #[inline(always)]
    fn line(&self, hash: KeyHash) -> usize {
        (((u128::from(hash) >> 64) * self.0.len() as u128) >> 64) as usize
    }
}
