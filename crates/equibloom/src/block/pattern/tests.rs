//! Patterns: their number of bits, their likelihoods, and their forms.

use super::*;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

fn pattern(shape: PatternShape, key: u64) -> BTreeSet<u32> {
    let list = shape.collect(KeyHash::from_u64(key), List::new());
    let positions = BTreeSet::from_iter(list.iter());
    assert_eq!(positions.len(), shape.hashes as usize);
    assert!(positions.iter().all(|&position| position < shape.positions));
    positions
}

#[test]
fn a_pattern_has_exactly_k_distinct_positions() {
    for (positions, hashes) in
        [(64, 1), (64, 32), (58, 17), (252, 17), (500, 12), (512, 64), (32_768, 28)]
    {
        let shape = PatternShape::new(positions, hashes);
        for key in 0..200 {
            pattern(shape, key);
        }
    }
}

#[test]
fn a_mask_and_a_list_hold_the_same_pattern() {
    let shape = PatternShape::new(250, 40);
    for key in 0..500 {
        let mask = shape.collect(KeyHash::from_u64(key), LineMask::starting_at(260));
        let bits = (0..512).filter(|bit| mask.words()[bit / 64] >> (bit % 64) & 1 == 1);
        let positions: BTreeSet<u32> = bits.map(|bit| bit as u32 - 260).collect();
        assert_eq!(positions, pattern(shape, key));
    }
}

#[test]
fn a_pattern_begins_with_positions_of_its_own() {
    let shape = PatternShape::new(70, 20);
    for key in 0..500 {
        let bits = pattern(shape, key);
        let hash = KeyHash::from_u64(key);
        assert!(shape.begins_with(hash, |position| bits.contains(&position).into()));
        let first = shape.collect(hash, List::new()).iter().next();
        assert!(!shape.begins_with(hash, |position| (Some(position) != first).into()));
    }
}

/// Chi-square over single positions and over pairs, 5σ.
#[test]
fn every_position_and_every_pair_is_equally_likely() {
    let (positions, hashes, keys) = (66_u32, 9_u32, 200_000_u64);
    let shape = PatternShape::new(positions, hashes);
    let mut single = vec![0_f64; positions as usize];
    let mut pairs = vec![0_f64; (positions * positions) as usize];
    for key in 0..keys {
        let bits: Vec<u32> = pattern(shape, key).into_iter().collect();
        for (i, &a) in bits.iter().enumerate() {
            single[a as usize] += 1.0;
            for &b in &bits[i + 1..] {
                pairs[(a * positions + b) as usize] += 1.0;
            }
        }
    }
    let chi_square = |counts: &[f64], cells: f64, per_key: f64| {
        let expected = keys as f64 * per_key / cells;
        let sum: f64 =
            counts.iter().filter(|&&c| c > 0.0).map(|c| (c - expected).powi(2) / expected).sum();
        (sum - cells) / (2.0 * cells).sqrt()
    };
    let (n, k) = (f64::from(positions), f64::from(hashes));
    assert!(chi_square(&single, n, k) < 5.0);
    assert!(chi_square(&pairs, n * (n - 1.0) / 2.0, k * (k - 1.0) / 2.0) < 5.0);
}
