use std::vec::Vec;

use super::*;

#[test]
fn candidates_stay_inside_their_subtables() {
    let levels = Levels::new(&Candidates::subtables(&[5, 3, 1]).unwrap());
    for key in (0..1_000).map(KeyHash::from_u64) {
        assert_eq!(levels.choices(key), 3);
        assert!((0..5).contains(&levels.block(key, 0).0));
        assert!((5..8).contains(&levels.block(key, 1).0));
        assert_eq!(levels.block(key, 2).0, 8);
    }
}

#[test]
fn the_words_of_blocks_are_those_that_select_them() {
    for level in [Level { offset: 0, size: 1 }, Level { offset: 7, size: 1_000_003 }] {
        let count = level.size.div_ceil(3);
        for first in (level.offset..level.offset + level.size).step_by(count as usize) {
            let end = (first + count).min(level.offset + level.size);
            let words = level.words_of(first, end - first);
            assert_eq!(level.block_of(*words.start()).0, first);
            assert_eq!(level.block_of(*words.end()).0, end - 1);
            let before = words.start().checked_sub(1).map(|word| level.block_of(word).0);
            assert!(before.is_none_or(|block| block == first - 1));
            let after = words.end().checked_add(1).map(|word| level.block_of(word).0);
            assert!(after.is_none_or(|block| block == end));
        }
    }
}

#[test]
fn many_first_blocks_are_those_of_each_key() {
    let keys: Vec<KeyHash> = (0..100).map(KeyHash::from_u64).collect();
    for blocks in [1, 1_000_003, u64::from(u32::MAX), 1 << 32, 1_000_000_000_000] {
        let levels = Levels::new(&Candidates::anywhere(blocks, 2));
        let mut found = [BlockIndex(0); 100];
        levels.first_blocks(&keys, &mut found);
        let expected = keys.iter().map(|&key| levels.first_block(key));
        assert!(found.into_iter().eq(expected), "{blocks}");
    }
}

/// Ten thousand keys over 10¹² blocks, without allocating them. Indices truncated to 32 bits would all
/// lie in the first half per cent.
#[test]
fn block_indices_spread_beyond_2_to_the_32() {
    let blocks = 1_000_000_000_000_u64;
    let levels = Levels::new(&Candidates::anywhere(blocks, 3));
    for probe in 0..3 {
        let indices = (0..10_000).map(|key| levels.block(KeyHash::from_u64(key), probe).0);
        let mean = indices.clone().map(|i| i as f64).sum::<f64>() / 10_000.0 / blocks as f64;
        assert!((mean - 0.5).abs() < 4.0 * (1.0_f64 / 12.0 / 10_000.0).sqrt(), "{mean}");
        let odd = indices.filter(|i| i % 2 == 1).count() as f64;
        assert!((odd / 10_000.0 - 0.5).abs() < 4.0 * 0.005);
    }
}

#[test]
fn a_share_alpha_of_the_keys_has_a_second_choice() {
    let levels =
        Levels::new(&Candidates::Anywhere { blocks: 100, choices: 2, share: Share::clamped(0.3) });
    let keys = 100_000;
    let two = (0..keys).filter(|&key| levels.choices(KeyHash::from_u64(key)) == 2).count() as f64;
    assert!((two / keys as f64 - 0.3).abs() < 4.0 * (0.3 * 0.7 / keys as f64).sqrt());
}
