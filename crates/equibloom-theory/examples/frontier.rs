//! Prints `planner/frontier/rows.rs`: for each size the number of slots with the lowest rate, when every number is
//! tried. `cargo xtask frontier` runs it.

use equibloom_layout::HEADER_BYTES;
use equibloom_theory::planner::{Plan, Requirements, plan};

const KEYS: u64 = 1_000_000_000;

/// Bits per key: a filter of fewer has Bloom blocks, and no rate is lower than that of the last.
const FEWEST: f64 = 7.5;
const MOST: f64 = 75.0;
const STEP: f64 = 0.1;

/// The best plan with any number of slots, and that number.
fn best(bits: f64, multiset: bool) -> Option<(u32, Plan)> {
    let load = 512.0 / bits;
    let memory = HEADER_BYTES + (KEYS as f64 * bits / 8.0) as u64;
    let plans = (load.ceil() as u32..=64).map_while(|slots| {
        // More slots than twice the load have shorter fingerprints for nothing.
        (f64::from(slots) < 2.0 * load + 4.0).then_some(slots)
    });
    let plans = plans.filter_map(|slots| {
        let requirements = Requirements {
            keys: Some(KEYS),
            memory: Some(memory),
            slots: Some(slots),
            multiset,
            ..Requirements::default()
        };
        Some((slots, plan(&requirements).ok()?))
    });
    plans.min_by(|(_, a), (_, b)| a.rate().total_cmp(&b.rate()))
}

fn print_rows(name: &str, multiset: bool) {
    println!("\npub(super) const {name}: &[Row] = &[");
    let mut last = 0;
    let steps = ((MOST - FEWEST) / STEP) as u32;
    for step in 0..=steps {
        let bits = FEWEST + STEP * f64::from(step);
        let Some((slots, plan)) = best(bits, multiset) else { continue };
        if slots == last && step < steps {
            continue;
        }
        last = slots;
        println!("    Row {{ bits: {bits:.1}, rate: {:.4e}, slots: {slots} }},", plan.rate());
    }
    println!("];");
}

fn main() {
    println!("//! Written by `cargo xtask frontier`.\n\nuse super::Row;");
    print_rows("SETS", false);
    print_rows("REMOVABLE", true);
}
