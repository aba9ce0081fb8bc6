//! The slides' example of cuckoo hashing, step by step.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom_tables::{Move, Outcome, Trace};

/// Keys, and their values of h1(k) = k mod 11 and h2(k) = ⌊k/11⌋ mod 11 as the slides list them.
const KEYS: [(u64, [u64; 2]); 11] = [
    (20, [9, 1]),
    (50, [6, 4]),
    (53, [9, 4]),
    (75, [9, 6]),
    (100, [1, 9]),
    (67, [1, 6]),
    (105, [6, 9]),
    (3, [3, 0]),
    (36, [3, 3]),
    (39, [6, 3]),
    (6, [6, 0]),
];

fn table(entries: &[(usize, u64)]) -> Vec<Option<u64>> {
    let mut table = vec![None; 11];
    for &(bucket, key) in entries {
        table[bucket] = Some(key);
    }
    table
}

#[test]
fn the_tables_are_those_of_the_slides_up_to_the_rehash_that_6_causes() {
    let mut trace = Trace::new(11).unwrap();
    let mut insert_next = {
        let mut keys = KEYS.into_iter();
        move |trace: &mut Trace| {
            let (key, buckets) = keys.next().unwrap();
            let step = trace.insert(key);
            assert_eq!((step.key, step.buckets), (key, buckets));
            step
        }
    };
    // 20 and 50 find free slots; 53 displaces 20, and 75 displaces 53.
    for moves in [1, 1, 2, 2, 1] {
        let step = insert_next(&mut trace);
        assert_eq!((step.moves.len(), step.outcome), (moves, Outcome::Placed));
    }
    // The first drawing.
    assert_eq!(trace.tables(), [table(&[(1, 100), (6, 50), (9, 75)]), table(&[(1, 20), (4, 53)])]);
    insert_next(&mut trace);
    let step = insert_next(&mut trace);
    let went = |step: &[Move]| step.iter().map(|m| (m.key, m.table, m.bucket)).collect::<Vec<_>>();
    assert_eq!(went(&step.moves), [(105, 0, 6), (50, 1, 4), (53, 0, 9), (75, 1, 6)]);
    // The second drawing.
    assert_eq!(
        trace.tables(),
        [table(&[(1, 67), (6, 105), (9, 53)]), table(&[(1, 20), (4, 50), (6, 75), (9, 100)])]
    );
    insert_next(&mut trace);
    insert_next(&mut trace);
    // 39 goes round a cycle, is displaced itself and ends in the second table.
    let step = insert_next(&mut trace);
    assert_eq!(
        went(&step.moves),
        [
            (39, 0, 6),
            (105, 1, 9),
            (100, 0, 1),
            (67, 1, 6),
            (75, 0, 9),
            (53, 1, 4),
            (50, 0, 6),
            (39, 1, 3)
        ]
    );
    // The third drawing.
    let before_6 = [
        table(&[(1, 100), (3, 36), (6, 50), (9, 75)]),
        table(&[(0, 3), (1, 20), (3, 39), (4, 53), (6, 67), (9, 105)]),
    ];
    assert_eq!(trace.tables(), before_6);

    // "With 6 we have to rehash!!!"
    let step = insert_next(&mut trace);
    let Outcome::Rehashed { functions } = step.outcome else { panic!("{:?}", step.outcome) };
    assert!(functions >= 1 && step.moves.len() > 20);
    let mut found: Vec<u64> = step.tables.iter().flatten().flatten().copied().collect();
    found.sort_unstable();
    assert_eq!(found, [3, 6, 20, 36, 39, 50, 53, 67, 75, 100, 105]);
    for (key, _) in KEYS {
        let [first, second] = trace.buckets_of(key);
        let at = |table: usize, bucket: u64| step.tables[table][bucket as usize] == Some(key);
        assert!(at(0, first) || at(1, second), "{key}");
        assert_eq!(trace.insert(key).outcome, Outcome::AlreadyPresent);
    }
}

/// Erratum 14: {x, y, w, z, u} with h1 = 2, 2, 4, 4, 4 and h2 = 1, 1, 2, 0, 2. Both components have one cycle.
#[test]
fn the_example_of_a_cycle_fits() {
    let mut trace = Trace::new(5).unwrap();
    let elements = [(7, [2, 1]), (32, [2, 1]), (14, [4, 2]), (4, [4, 0]), (39, [4, 2])];
    for (key, buckets) in elements {
        let step = trace.insert(key);
        assert_eq!((step.buckets, step.outcome), (buckets, Outcome::Placed), "{key}");
    }
    let of = |first: [Option<u64>; 5], second: [Option<u64>; 5]| [first.to_vec(), second.to_vec()];
    let (none, some) = (None, Some);
    assert_eq!(
        trace.tables(),
        of([none, none, some(32), none, some(39)], [some(4), some(7), some(14), none, none])
    );
}

#[test]
fn keys_that_cannot_fit_are_kept_all_the_same() {
    // Equal modulo 2⁶¹ − 1: no rehash tells them apart, and two tables hold two of them.
    let keys = [0, 1, 2].map(|n| 1 + n * ((1 << 61) - 1));
    let mut trace = Trace::new(1).unwrap();
    trace.insert(keys[0]);
    trace.insert(keys[1]);
    assert_eq!(trace.insert(keys[2]).outcome, Outcome::Stashed { keys: 1 });
    for key in keys {
        assert_eq!(trace.insert(key).outcome, Outcome::AlreadyPresent);
    }
    let error = Trace::new(0).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "buckets per table is 0: give at least 1");
}
