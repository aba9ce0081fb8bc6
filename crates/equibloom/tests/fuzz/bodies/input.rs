//! Numbers and designs from bytes.

use equibloom::{
    Blocks, Candidates, Design, Layout, MAX_CHOICES, Overflow, Parameters, Rule, Share, WhenFull,
};
use equibloom_layout::MAX_REMAINDER_BITS;

/// Bytes that are used up from the front; behind the last one they are zero.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.byte()))
    }

    /// A number from `low` to `high`, which differ by less than 2^16.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let drawn =
            u16::from_le_bytes([self.byte(), if high - low < 256 { 0 } else { self.byte() }]);
        low + u64::from(drawn) % (high - low + 1)
    }

    pub fn small(&mut self, low: u32, high: u32) -> u32 {
        self.between(low.into(), high.into()) as u32
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == times
    }

    pub fn share(&mut self) -> Share {
        Share::clamped(self.between(0, 4) as f64 / 4.0)
    }

    /// Some of the 256 keys, repeated ones among them.
    pub fn keys(&mut self) -> Vec<u8> {
        (0..self.byte()).map(|_| self.byte()).collect()
    }

    /// One to four subtables.
    fn sizes(&mut self) -> Vec<u64> {
        (0..self.between(1, 4)).map(|_| self.between(1, 9)).collect()
    }

    fn overflow(&mut self) -> Overflow {
        let when_full = if self.once_in(2) { WhenFull::Saturate } else { WhenFull::Refuse };
        Overflow { capacity: self.between(0, 200), when_full }
    }

    /// A small filter that `check` accepts.
    pub fn parameters(&mut self) -> Parameters {
        let design = match self.between(0, 6) {
            0 => Design::Classical { bits: self.between(1, 4_000), hashes: self.small(1, 9) },
            1 => self.least_loaded().into(),
            2 | 3 => self.first_with_room().into(),
            6 => self.list(),
            _ => self.fingerprints().into(),
        };
        let hashes = design.hashes().min(design.max_hashes());
        let design = design.with_hashes(hashes);
        assert_eq!(design.check(), Ok(()), "{design:?}");
        Parameters { keys: self.between(0, 200), seed: self.byte().into(), design }
    }

    fn list(&mut self) -> Design {
        let Overflow { capacity, when_full } = self.overflow();
        let overflow = Overflow { capacity: capacity + 1, when_full };
        Design::List { overflow, multiset: self.once_in(2) }
    }

    fn bloom(&mut self) -> Blocks {
        let bits = [64, 65, 100, 256, 512, 1_000, 4_096][self.between(0, 6) as usize];
        Blocks::bloom(bits, self.small(1, 9))
    }

    fn least_loaded(&mut self) -> Layout {
        let (blocks, choices, share) = (self.between(1, 20), self.small(1, 4), self.share());
        let candidates = Candidates::Anywhere { blocks, choices, share };
        Layout::new(self.bloom(), candidates, Rule::LeastLoaded)
    }

    fn first_with_room(&mut self) -> Layout {
        let candidates = if self.once_in(2) {
            Candidates::subtables(&self.sizes()).unwrap()
        } else {
            Candidates::anywhere(self.between(1, 20), self.small(1, 5))
        };
        let hints = if self.once_in(2) { self.small(1, 30) } else { 0 };
        let rule = Rule::FirstWithRoom { below: self.small(1, 20), coin: self.share() };
        let budget = self.once_in(3).then(|| self.between(0, 500));
        Layout::new(self.bloom().with_hints(hints), candidates, rule)
            .with_overflow(self.overflow())
            .with_budget(budget)
    }

    /// Few slots, so that blocks are full, and few lists, so that fingerprints collide.
    fn fingerprints(&mut self) -> Layout {
        let (slots, lists) = (self.small(1, 12), self.small(1, 64));
        // Any width that fits, the narrow ones more often.
        let widest = (420 / slots - 1).min(MAX_REMAINDER_BITS);
        let widest = if self.once_in(2) { widest } else { 9 };
        let (blocks, rule) = fingerprint_blocks([slots, lists, self.small(5, widest)]);
        let layout = Layout::multi_level(blocks, &self.sizes(), rule).unwrap();
        let multiset = self.once_in(2);
        Layout { multiset, ..layout.with_overflow(self.overflow()) }
    }

    /// Mostly a number in range, sometimes an extreme one.
    fn mostly(&mut self, low: u32, high: u32) -> u32 {
        match self.between(0, 90) {
            0 => 0,
            1 => high + 1,
            2 => self.word() as u32,
            _ => self.small(low, high),
        }
    }

    fn any_size(&mut self) -> u64 {
        match self.between(0, 90) {
            0 => 0,
            1 => self.word(),
            _ => self.between(1, 20),
        }
    }

    /// Any combination of parts, valid or not.
    pub fn any_design(&mut self) -> Design {
        if self.once_in(16) {
            return Design::Classical { bits: self.any_size(), hashes: self.mostly(1, 64) };
        }
        let shape = [self.mostly(1, 30), self.mostly(1, 64), self.mostly(5, 20)];
        let (fingerprints, rule) = fingerprint_blocks(shape);
        let bloom = Blocks::Bloom {
            bits: self.mostly(64, 600),
            hashes: self.mostly(1, 20),
            hints: if self.once_in(3) { self.mostly(1, 64) } else { 0 },
        };
        let most = if self.once_in(5) { MAX_CHOICES } else { 4 };
        let sizes: Vec<u64> = (0..self.small(1, most)).map(|_| self.any_size()).collect();
        let share = if self.once_in(3) { self.share() } else { Share::ALL };
        let (blocks, choices) = (self.any_size(), self.mostly(1, MAX_CHOICES));
        let is_bloom = self.once_in(2);
        // Half of the time a rule that suits the blocks.
        let threshold = Rule::FirstWithRoom { below: self.mostly(0, 20), coin: self.share() };
        let suits = match is_bloom {
            false => rule,
            true if self.once_in(2) => threshold,
            true => Rule::LeastLoaded,
        };
        Design::Blocked(Layout {
            blocks: if is_bloom { bloom } else { fingerprints },
            candidates: if self.once_in(2) {
                Candidates::subtables(&sizes).unwrap()
            } else {
                Candidates::Anywhere { blocks, choices, share }
            },
            rule: [suits, suits, suits, rule, threshold, Rule::LeastLoaded]
                [self.between(0, 5) as usize],
            budget: self.once_in(4).then(|| self.any_size()),
            overflow: if self.once_in(2) { self.overflow() } else { Overflow::NONE },
            multiset: self.once_in(4),
        })
    }
}

/// Fingerprint blocks of so many slots, lists and bits of a remainder, and the rule that they need.
const fn fingerprint_blocks([slots, lists, remainder_bits]: [u32; 3]) -> (Blocks, Rule) {
    (Blocks::Fingerprint { slots, lists, remainder_bits }, Rule::KeepLargest)
}
