//! Random arguments.

use equibloom::{
    BlockKind, Blocks, Candidates, Design, Filter, FilterBuilder, Layout, Lookup, Overflow,
    PerSubtable, Placement, Rule, Share, WhenFull,
};

use crate::random::Random;

/// Plans that take more are not built.
pub(crate) const MOST_BYTES: u64 = 1 << 18;

/// `EQUIBLOOM_INPUTS` sets another number.
pub(crate) fn rounds(usual: u64) -> u64 {
    std::env::var("EQUIBLOOM_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

impl Random {
    pub(crate) fn number(&mut self) -> u64 {
        let bits = self.between(0, 64);
        let word = if bits == 0 { 0 } else { self.word() >> (64 - bits) };
        self.one_of(&[0, 1, 2, word, word, word, u64::MAX])
    }

    pub(crate) fn number_32(&mut self) -> u32 {
        let small = self.between(0, 600) as u32;
        self.one_of(&[small, small, small, 512, self.0 as u32, u32::MAX])
    }

    pub(crate) fn real(&mut self) -> f64 {
        let unit = self.word() as f64 / 2_f64.powi(64);
        let tiny = unit * 10_f64.powi(-(self.between(0, 30) as i32));
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, -0.0, 1.0, f64::MIN_POSITIVE, f64::MAX];
        let odd = self.one_of(&odd);
        self.one_of(&[unit, tiny, tiny, 1.0 + unit, 30.0 * unit, odd])
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.word() & 1 == 1
    }

    pub(crate) fn share(&mut self) -> Share {
        let real = self.real();
        Share::new(real).unwrap_or(Share::clamped(real))
    }

    pub(crate) fn policy(&mut self) -> WhenFull {
        let grow = WhenFull::Grow { rate_bits: self.word() as u8 };
        let planned = WhenFull::grow(self.real()).unwrap_or(grow);
        self.one_of(&[WhenFull::Refuse, WhenFull::Saturate, planned, grow])
    }

    pub(crate) fn placement(&mut self) -> Placement {
        self.one_of(Placement::ALL)
    }

    pub(crate) fn sizes(&mut self) -> Vec<u64> {
        (0..self.between(0, 18)).map(|_| self.number() % 1_000).collect()
    }

    pub(crate) fn design(&mut self) -> Design {
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

    pub(crate) fn builder(&mut self, most_keys: u64) -> FilterBuilder<u64> {
        let mut builder = Filter::builder();
        for _ in 0..self.between(0, 6) {
            builder = match self.between(0, 22) {
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
                20 => builder.remainder_bits(self.number_32()),
                21 => builder.prefer(self.one_of(&[Lookup::OneByOne, Lookup::Batches])),
                _ => self.one_of(&[FilterBuilder::removable, FilterBuilder::mergeable])(builder),
            };
        }
        builder.seed(self.number())
    }
}
