//! Blocks and their parts.

use super::*;
use crate::block::isa::ANY;

/// Three blocks.
struct Blocks(BloomShape, Words);

impl Blocks {
    fn new(bits: u32, hashes: u32, counter_bits: u32) -> Self {
        let shape = BloomShape::new(bits, hashes, counter_bits, 0);
        Self(shape, Words::zeroed(3 * shape.words_per_block as u64).unwrap())
    }

    fn add(&mut self, block: u64, key: u64) {
        let Self(shape, words) = self;
        let key = KeyHash::from_u64(key);
        assert!(shape.try_add(ANY, &mut { words }, BlockIndex(block), key, |_| true));
    }

    fn test(&self, block: u64, key: u64) -> bool {
        self.0.test(ANY, &self.1, BlockIndex(block), KeyHash::from_u64(key))
    }

    fn load(&self, block: u64) -> u32 {
        self.0.load(&self.1, BlockIndex(block))
    }

    fn set_bits(&self, block: u64) -> u32 {
        self.0.set_bits(&self.1, BlockIndex(block))
    }
}

#[test]
fn a_key_sets_its_bits_in_its_own_block_and_nowhere_else() {
    for bits in [64, 65, 100, 256, 500, 512, 4_096, 32_767, 32_768] {
        for counter_bits in [0, 5] {
            let mut blocks = Blocks::new(bits, 7, counter_bits);
            blocks.add(1, 9);
            assert!(blocks.test(1, 9) && !blocks.test(0, 9) && !blocks.test(2, 9));
            assert_eq!(blocks.set_bits(1), 7);
            let set: u32 = blocks.1.as_flattened().iter().map(|word| word.count_ones()).sum();
            assert_eq!(set, 7 + u32::from(counter_bits > 0));
        }
    }
}

#[test]
fn the_load_is_the_counter_or_else_the_set_bits() {
    let [mut counted, mut uncounted] = [4, 0].map(|counter| Blocks::new(256, 10, counter));
    for key in 0..3 {
        counted.add(2, key);
        uncounted.add(2, key);
    }
    assert_eq!(counted.load(2), 3);
    assert!((20..=30).contains(&uncounted.load(2)));
    assert_eq!(uncounted.load(2), uncounted.set_bits(2));
}

#[test]
fn a_counter_stops_at_its_highest_value_and_spares_the_bits_beside_it() {
    let mut blocks = Blocks::new(64, 1, 2);
    for key in 0..100 {
        blocks.add(0, key);
    }
    assert_eq!(blocks.load(0), 3);
    assert!((0..100).all(|key| blocks.test(0, key)));
}

#[test]
fn a_block_that_admits_no_key_stays_as_it_is() {
    let Blocks(shape, mut words) = Blocks::new(256, 10, 4);
    let key = KeyHash::from_u64(1);
    assert!(!shape.try_add(ANY, &mut { &mut words }, BlockIndex(0), key, |load| load > 0));
    assert!(words.as_flattened().iter().all(|&word| word == 0));
}

/// At 500 of 512 bits the last twelve are padding.
#[test]
fn padding_is_never_written() {
    let mut blocks = Blocks::new(500, 64, 3);
    for key in 0..1_000 {
        blocks.add(1, key);
    }
    assert_eq!(blocks.set_bits(1), 497);
    assert_eq!(blocks.1.as_flattened()[15] >> 52, 0);
}

#[test]
fn hints_are_equally_likely_and_stay_within_their_bits() {
    for hints in [1, 3, 16, 48, 59] {
        let shape = BloomShape::new(512, 3, 5, hints);
        let mut drawn = vec![0_u32; hints as usize];
        for key in (0..20_000 * hints).map(|key| KeyHash::from_u64(key.into())) {
            let (word, bit) = shape.hint(Probe::at(0, key, BlockIndex(0)));
            assert_eq!(word, 0);
            drawn[bit.trailing_zeros() as usize - 5] += 1;
        }
        // 5σ, because there are many cases.
        let allowed = 5.0 * 20_000_f64.sqrt() + 20.0;
        assert!(drawn.iter().all(|&n| (f64::from(n) - 20_000.0).abs() < allowed), "{drawn:?}");
    }
}
