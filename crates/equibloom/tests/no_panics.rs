//! Any arguments, valid or not, to everything that is public: calls return, with a value or with an error that says something.

#![cfg(all(feature = "planner", feature = "file"))]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod random;

use std::error::Error;

use equibloom::{
    AccessStatistics, BlockKind, Blocks, Candidates, Design, Filter, FilterBuilder, FilterGroup,
    GrowingFilter, HashFilter, KeyHash, Layout, Lookup, Overflow, Parameters, PerSubtable,
    Placement, Proportions, Rule, Share, WhenFull, file,
};
use random::Random;

/// Plans that take more are not built.
const MOST_BYTES: u64 = 1 << 18;

/// `EQUIBLOOM_INPUTS` sets another number.
fn rounds(usual: u64) -> u64 {
    std::env::var("EQUIBLOOM_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

impl Random {
    fn number(&mut self) -> u64 {
        let bits = self.between(0, 64);
        let word = if bits == 0 { 0 } else { self.word() >> (64 - bits) };
        self.one_of(&[0, 1, 2, word, word, word, u64::MAX])
    }

    fn number_32(&mut self) -> u32 {
        let small = self.between(0, 600) as u32;
        self.one_of(&[small, small, small, 512, self.0 as u32, u32::MAX])
    }

    fn real(&mut self) -> f64 {
        let unit = self.word() as f64 / 2_f64.powi(64);
        let tiny = unit * 10_f64.powi(-(self.between(0, 30) as i32));
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 1.0, f64::MIN_POSITIVE, f64::MAX];
        let odd = self.one_of(&odd);
        self.one_of(&[unit, tiny, tiny, 1.0 + unit, 30.0 * unit, odd])
    }

    fn coin(&mut self) -> bool {
        self.word() & 1 == 1
    }

    fn share(&mut self) -> Share {
        let real = self.real();
        Share::new(real).unwrap_or(Share::clamped(real))
    }

    fn policy(&mut self) -> WhenFull {
        self.one_of(&[WhenFull::Refuse, WhenFull::Saturate])
    }

    fn placement(&mut self) -> Placement {
        self.one_of(Placement::ALL.as_slice())
    }

    fn sizes(&mut self) -> Vec<u64> {
        (0..self.between(0, 18)).map(|_| self.number() % 1_000).collect()
    }

    fn design(&mut self) -> Design {
        let blocks = match self.between(0, 2) {
            0 => Blocks::bloom(self.number_32(), self.number_32() % 80),
            1 => Blocks::bloom(512, 8).with_hints(self.number_32() % 80),
            _ => Blocks::Fingerprint {
                slots: self.number_32() % 80,
                lists: self.number_32() % 200,
                remainder_bits: self.number_32() % 80,
            },
        };
        let candidates = match PerSubtable::new(&self.sizes()) {
            Ok(sizes) if self.coin() => Candidates::Subtables { sizes },
            _ => Candidates::Anywhere {
                blocks: self.number() % 2_000,
                choices: self.number_32() % 20,
                share: self.share(),
            },
        };
        let overflow = Overflow { capacity: self.number() % 500, when_full: self.policy() };
        let rule = match self.between(0, 2) {
            0 => Rule::LeastLoaded,
            1 => Rule::KeepLargest,
            _ => Rule::FirstWithRoom { below: self.number_32(), coin: self.share() },
        };
        let budget = (self.between(0, 4) == 0).then(|| self.number());
        let multiset = self.coin();
        match self.between(0, 8) {
            0 => Design::Classical { bits: self.number() % 100_000, hashes: self.number_32() % 80 },
            1 => Design::List { overflow, multiset },
            _ => Layout { blocks, candidates, rule, budget, overflow, multiset }.into(),
        }
    }

    fn builder(&mut self, most_keys: u64) -> FilterBuilder<u64> {
        let mut builder = Filter::builder();
        for _ in 0..self.between(0, 6) {
            builder = match self.between(0, 21) {
                0..=2 => builder.keys(self.number().min(most_keys)),
                3 | 4 => builder.rate(self.real()),
                5 => builder.memory(self.number()),
                6 => builder.bits_per_key(self.real()),
                7 => builder.accesses_miss(self.real()),
                8 => builder.accesses_insert(self.real()),
                9 => builder.lines_miss(self.real()),
                10 => builder.lines_insert(self.real()),
                11 => builder.block_bits(self.number_32()),
                12 => builder.choices(self.number_32()),
                13 => builder.overflow(self.real()),
                14 => builder.placement(self.placement()),
                15 => builder.block(self.one_of(&[BlockKind::Bloom, BlockKind::Fingerprint])),
                16 => builder.hints(self.number_32()),
                17 => builder.hash_bits(self.number_32()),
                18 => builder.headroom(self.real()),
                19 => builder.when_full(self.policy()),
                20 => builder.prefer(self.one_of(&[Lookup::OneByOne, Lookup::Batches])),
                _ => self.one_of(&[FilterBuilder::removable, FilterBuilder::mergeable])(builder),
            };
        }
        builder.seed(self.number())
    }
}

/// An error says something, and can be handed to other threads.
fn refused(error: impl Error + Send + Sync + 'static) {
    assert!(error.to_string().len() > 10, "{error}");
}

fn use_filter(filter: &mut Filter<u64>, random: &mut Random) {
    let keys: Vec<u64> = (0..random.between(0, 300)).map(|_| random.number()).collect();
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    let all_are_in = filter.insert_batch(&keys).is_ok();
    if let Err(error) = filter.insert(&random.number()) {
        refused(error);
    }
    filter.contains_batch(&keys, &mut found);
    filter.contains_batch_bitmap(&keys, &mut bits);
    assert!(!all_are_in || found.iter().all(|&is_there| is_there));
    assert!((0..keys.len()).all(|key| found[key] == (bits[key / 64] >> (key % 64) & 1 == 1)));
    let _ = (filter.remove(&random.number()), filter.statistics(), format!("{filter:?}"));
    let other = filter.clone();
    let _ =
        (filter.merge(&other).map_err(refused), filter.folded(random.number()).map_err(refused));
    let group = FilterGroup::new([&other, &*filter]).unwrap();
    group.contains_batch_bitmap(&keys, &mut bits);
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    assert!(Filter::<u64>::read_from(&bytes[..]).unwrap() == *filter);
    let at = random.number() as usize % bytes.len();
    bytes.truncate(at);
    refused(Filter::<u64>::read_from(&bytes[..]).unwrap_err());
    let shared = other.into_shared().unwrap();
    let _ = (shared.insert(&random.number()), shared.contains_batch(&keys, &mut found));
    shared.snapshot().unwrap().clear();
    filter.clear();
    assert!(!filter.is_over_capacity());
}

#[test]
fn any_wish_is_planned_and_built_or_refused() {
    let mut random = Random(1);
    for _ in 0..rounds(1_000) {
        let builder = random.builder(u64::MAX);
        match builder.plan() {
            Ok(plan) if plan.design.bytes() <= MOST_BYTES => match builder.build() {
                Ok(mut filter) => use_filter(&mut filter, &mut random),
                Err(error) => refused(error),
            },
            Ok(_) => {}
            Err(error) => refused(error),
        }
        match random.builder(10_000).build_growing() {
            Ok(filter) => use_growing(filter, &mut random),
            Err(error) => refused(error),
        }
    }
    let many = Filter::<u64>::builder().keys(u64::MAX).rate(0.01);
    refused(many.build_growing().unwrap_err());
    refused(many.build_shared_growing().unwrap_err());
}

fn use_growing(mut filter: GrowingFilter<u64>, random: &mut Random) {
    let keys: Vec<u64> = (0..random.between(0, 300)).map(|_| random.number()).collect();
    filter.insert_batch(&keys).unwrap();
    let _ = filter.remove(&random.number());
    let mut found = Vec::new();
    filter.contains_batch(&keys, &mut found);
    let mut counted = AccessStatistics::default();
    let _ = (filter.contains_counted(&random.number(), &mut counted), filter.statistics());
    let other = filter.clone();
    filter.merge(&other).unwrap();
    let shared = other.into_shared().unwrap();
    shared.insert_batch(&keys).unwrap();
    let _ = (shared.remove(&random.number()), shared.merge(&filter), shared.statistics());
    shared.contains_batch(&keys, &mut found);
    shared.snapshot().unwrap().clear();
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    assert!(GrowingFilter::<u64>::read_from(&bytes[..]).unwrap() == filter);
    bytes.pop();
    refused(GrowingFilter::<u64>::read_from(&bytes[..]).unwrap_err());
    filter.clear();
    assert!(filter.is_empty());
}

#[test]
fn any_design_is_built_or_refused() {
    let mut random = Random(2);
    let (mut built, rounds) = (0, rounds(20_000));
    for _ in 0..rounds {
        let design = random.design();
        let parameters = Parameters { keys: random.number(), seed: random.number(), design };
        let _ = (
            design.name(),
            design.bytes(),
            parameters.predict(random.number() % 5_000).map_err(refused),
        );
        if design.bytes() > MOST_BYTES {
            continue;
        }
        match HashFilter::new(&parameters) {
            Ok(filter) => {
                let mut filter: Filter<u64> = Filter::new(filter.parameters()).unwrap();
                use_filter(&mut filter, &mut random);
                built += 1;
            }
            Err(error) => refused(error),
        }
    }
    assert!(built * 200 > rounds, "{built} of {rounds}");
}

#[test]
fn any_bytes_are_a_filter_or_refused() {
    let mut random = Random(3);
    let filter = Filter::<u64>::builder().keys(100).rate(0.01).build().unwrap();
    let mut file = Vec::new();
    filter.write_to(&mut file).unwrap();
    for _ in 0..rounds(3_000) {
        let mut bytes = file.clone();
        for _ in 0..random.between(0, 3) {
            let at = random.word() as usize % bytes.len();
            bytes[at] = random.word() as u8;
        }
        let _ = (file::verify_from(&bytes[..]), GrowingFilter::<u64>::read_from(&bytes[..]));
        let _ = GrowingFilter::<u64>::from_owner(bytes.clone());
        if let Ok(filter) = HashFilter::from_owner(bytes) {
            filter.contains(KeyHash::from_u64(random.number()));
        }
    }
}

#[test]
fn any_numbers_are_shares_and_proportions_or_refused() {
    let mut random = Random(4);
    for _ in 0..rounds(5_000) {
        let (first, second) = (random.real(), random.real());
        let _ = (Share::new(first), Share::clamped(second), Share::from_units(random.number()));
        if let Ok(proportions) = Proportions::subtables(&[first, second]) {
            let _ = proportions.with_blocks(random.number());
        }
    }
}
