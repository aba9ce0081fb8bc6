use super::*;
use crate::key::Key;

fn integers(least: i128, most: i128) -> Range {
    Range::Integers { least, most }
}

#[test]
fn the_largest_overlap_is_that_of_a_count_at_every_point() {
    // A few hundred sets of ranges by a fixed rule, each compared with a count at every point.
    for set in 0..300_u64 {
        let ranges: Vec<Range> = (0..set % 12)
            .map(|range| {
                let start = set * 7919 + range * 104_729;
                let least = i128::from(start % 50);
                integers(least, least + i128::from(start / 50 % 20))
            })
            .collect();
        let at =
            |point: i128| ranges.iter().filter(|range| range.may_hold(Key::Integer(point))).count();
        let counted = (0..80).map(at).max().unwrap_or(0);
        let weighted = ranges.iter().map(|range| (Some(range), 1.0));
        assert_eq!(largest_overlap(weighted), counted as f64, "{ranges:?}");
    }
}

#[test]
fn bytes_and_integers_do_not_overlap_and_a_missing_range_overlaps_all() {
    let text = Range::Bytes { least: b"a".to_vec(), most: b"z".to_vec() };
    let numbers = integers(0, 200);
    assert_eq!(largest_overlap([(Some(&text), 1.0), (Some(&numbers), 2.0)]), 2.0);
    assert_eq!(largest_overlap([(Some(&text), 1.0), (Some(&numbers), 2.0), (None, 0.5)]), 2.5);
    assert_eq!(largest_overlap([]), 0.0);
}

#[test]
fn the_rate_is_shared_by_the_filters_that_are_asked_for_one_key() {
    let same = vec![integers(0, 9); 100];
    assert_eq!(rate(same.iter().map(Some), 0.1), 0.1 / 128.0);
    let apart: Vec<Range> = (0..100).map(|number| integers(10 * number, 10 * number + 9)).collect();
    assert_eq!(rate(apart.iter().map(Some), 0.1), 0.1);
    assert_eq!(rate(apart.iter().map(Some), 3.0), 1.0);
    assert_eq!(rate([], 0.1), 0.1);
}
