//! What takes part: each filter behind the same three operations, on precomputed hashes.

use std::error::Error;

use equibloom::placement::{FirstWithRoom, LeastLoaded, Rule};
use equibloom::raw::Balanced;
use equibloom::{AnyFilter, BlockKind, Filter, KeyHash, Parameters, PlacementName, RawFilter};

/// A filter in the race, of `bits` bits for `keys` keys.
pub(crate) trait Contestant: Sized {
    const NAME: &'static str;
    fn new(bits: u64, keys: u64) -> Result<Self, Box<dyn Error>>;
    fn insert(&mut self, hash: KeyHash);
    fn contains(&self, hash: KeyHash) -> bool;
}

/// The planner's parameters for one placement in cache lines, whatever it reads.
fn planned(bits: u64, keys: u64, placement: PlacementName) -> Result<Parameters, Box<dyn Error>> {
    let wishes =
        AnyFilter::builder().keys(keys).memory(bits / 8).block_bits(512).block(BlockKind::Bloom);
    Ok(wishes.placement(placement).accesses_miss(3.0).parameters()?)
}

/// Ours, the kind known to the compiler: one block per key, or the first of a few with room.
pub(crate) type Blocked = Ours<LeastLoaded>;
pub(crate) type MultiLevel = Ours<FirstWithRoom>;

pub(crate) struct Ours<R>(Filter<Balanced<R>>);

/// The placement that a rule stands for in the race.
pub(crate) trait Entry: Rule {
    const NAME: &'static str;
    const PLACEMENT: PlacementName;
}

impl Entry for LeastLoaded {
    const NAME: &'static str = "equibloom blocked, 512";
    const PLACEMENT: PlacementName = PlacementName::Blocked;
}

impl Entry for FirstWithRoom {
    const NAME: &'static str = "equibloom multi-level, 512";
    const PLACEMENT: PlacementName = PlacementName::MultiLevel;
}

impl<R: Entry> Contestant for Ours<R>
where
    Balanced<R>: RawFilter,
{
    const NAME: &'static str = R::NAME;

    fn new(bits: u64, keys: u64) -> Result<Self, Box<dyn Error>> {
        Ok(Self(Filter::new(&planned(bits, keys, R::PLACEMENT)?)?))
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
