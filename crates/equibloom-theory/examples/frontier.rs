//! Prints `planner/frontier/rows.rs`: for each size the number of slots with the lowest rate, when every number is
//! tried. `cargo xtask frontier` runs it.

use equibloom_layout::HEADER_BYTES;
use equibloom_theory::planner::{Plan, Requirements, plan};

/// Numbers of keys. In small tables blocks are whole numbers, so that sizes are counted in cache lines.
const KEYS: [u64; 8] = [1_000, 2_000, 4_000, 10_000, 30_000, 100_000, 1_000_000, 1_000_000_000];

/// Bits per key: a filter of fewer has Bloom blocks, and no rate is lower than that of the last.
const FEWEST: f64 = 7.5;
const MOST: f64 = 75.0;
const STEP: f64 = 0.1;

const MOST_SLOTS: u32 = 64;

/// The best plan with any number of slots, and that number.
fn best(keys: u64, bits: f64, multiset: bool) -> Option<(u32, Plan)> {
    let load = 512.0 / bits;
    let memory = HEADER_BYTES + (keys as f64 * bits / 8.0) as u64;
    let plans = (load.ceil() as u32..=MOST_SLOTS).map_while(|slots| {
        // More slots than twice the load have shorter fingerprints for nothing.
        (f64::from(slots) < 2.0 * load + 4.0).then_some(slots)
    });
    let plans = plans.filter_map(|slots| {
        let requirements = Requirements {
            keys: Some(keys),
            memory: Some(memory),
            slots: Some(slots),
            multiset,
            ..Requirements::default()
        };
        Some((slots, plan(&requirements).ok()?))
    });
    plans.min_by(|(_, a), (_, b)| a.rate().total_cmp(&b.rate()))
}

fn print_rows(keys: u64, multiset: bool) {
    let steps = ((MOST - FEWEST) / STEP) as u32;
    let all = (0..=steps).map(|step| FEWEST + STEP * f64::from(step));
    let all = all.filter_map(|bits| Some((bits, best(keys, bits, multiset)?)));
    // The first size, rate and number of slots of a row, and its last rate.
    let mut row: Option<(f64, f64, u32, f64)> = None;
    let print = |(bits, rate, slots, last): (f64, f64, u32, f64)| {
        println!(
            "            Row {{ bits: {bits:.1}, rate: {rate:.4e}, last: {last:.4e}, slots: {slots} }},"
        );
    };
    for (bits, (slots, plan)) in all {
        row = match row {
            // In small tables the number of slots may rise again.
            Some((first, rate, best, last)) if slots >= best => {
                Some((first, rate, best, last.min(plan.rate())))
            }
            _ => {
                row.map(print);
                Some((bits, plan.rate(), slots, plan.rate()))
            }
        };
    }
    row.map(print);
}

fn print_tables(name: &str, multiset: bool) {
    println!("\npub(super) const {name}: &[Table] = &[");
    for keys in KEYS {
        println!("    Table {{\n        keys: {:e},\n        rows: &[", keys as f64);
        print_rows(keys, multiset);
        println!("        ],\n    }},");
    }
    println!("];");
}

fn main() {
    println!("//! Written by `cargo xtask frontier`.\n\nuse super::{{Row, Table}};");
    print_tables("SETS", false);
    print_tables("REMOVABLE", true);
}
