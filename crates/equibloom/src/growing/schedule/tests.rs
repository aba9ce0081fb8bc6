use super::*;
use alloc::vec::Vec;

const RATES: [f64; 11] = [0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-6, 1e-8, 1e-9, 1e-12];

/// The geometries of a schedule up to so many strings.
fn geometries(schedule: &Schedule, strings: u64) -> Vec<Geometry> {
    let next = |geometry: &Geometry| schedule.after(*geometry);
    let all = core::iter::successors(Some(schedule.first()), next);
    all.take_while(|geometry| geometry.capacity() < strings).collect()
}

#[test]
fn steps_are_small_and_keep_what_is_stored() {
    for rate in RATES {
        let schedule = Schedule::new(rate, 0).unwrap();
        let all = geometries(&schedule, 1 << 45);
        assert!(all.len() > 100, "{rate}: {}", all.len());
        for pair in all.windows(2) {
            let (old, new) = (&pair[0], &pair[1]);
            assert!(new.list_bits - old.list_bits <= 1, "{rate}: {pair:?}");
            assert!(new.lists % 2 == 0 && new.width <= MAX_FIRST_WIDTH, "{rate}: {pair:?}");
            // No string loses a bit, at any of the levels.
            assert!(new.list_bits + new.width >= old.list_bits + old.width, "{rate}: {pair:?}");
            let growth = new.blocks() as f64 / old.blocks() as f64;
            let is_large = old.blocks() >= 64;
            assert!(!is_large || (1.05..1.45).contains(&growth), "{rate}: {growth} {pair:?}");
        }
        for geometry in all {
            for fewer in FEWER_BITS {
                let shape = Shape::new(geometry.lists, geometry.width + fewer);
                assert!(shape.is_common() && shape.slots > FREE_SLOTS, "{rate}: {geometry:?}");
                assert!(shape.width <= MAX_WIDTH);
            }
        }
    }
}

/// The sum that the widths are chosen for, by strings instead of generations: each is as long as it was when it
/// came, and one string per block more comes while a step lasts.
#[test]
fn the_strings_of_all_steps_keep_the_rate() {
    for rate in RATES {
        for keys in [0, 1_000, 1_000_000, 1_000_000_000] {
            let schedule = Schedule::new(rate, keys).unwrap();
            let (mut sum, mut before) = (0.0, 0.0);
            let all = geometries(&schedule, 1 << 48);
            assert!(all[0].capacity() >= keys);
            for Geometry { list_bits, lists, width, step } in all {
                let geometry = Geometry { list_bits, lists, width, step };
                let strings = (geometry.capacity() + geometry.blocks()) as f64;
                sum += (strings - before) * (1.0 - f64::from(list_bits + width)).exp2();
                before = strings;
                assert!(sum < rate, "{rate}, {keys} keys: {sum} at {geometry:?}");
            }
            // Not much less than promised: a field has no bit too many.
            assert!(sum > rate / 4.0 || rate > 0.1, "{rate}, {keys} keys: {sum}");
        }
    }
}

#[test]
fn rates_that_no_schedule_keeps_are_refused() {
    for rate in [0.0, -0.1, 1e-13, 0.6, 1.0, f64::NAN, f64::INFINITY] {
        assert!(Schedule::new(rate, 1_000).is_none(), "{rate}");
    }
}
