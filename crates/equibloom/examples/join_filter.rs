//! A join filter: of many rows only those go on whose key may be on the other side.
//!
//! `cargo run --release -p equibloom --example join_filter -- 20000000`

use std::error::Error;

use equibloom::Filter;

fn main() -> Result<(), Box<dyn Error>> {
    let keys: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |number| number.parse())?;
    join(keys)
}

/// Keeps the rows of a table that may join with `keys` orders.
pub(crate) fn join(keys: u64) -> Result<(), Box<dyn Error>> {
    // The small side: every third customer has an order.
    let orders: Vec<u64> = (0..keys).map(|number| number * 3).collect();
    let mut filter = Filter::builder().keys(keys).rate(0.01).build()?;
    filter.insert_batch(&orders)?;

    // The large side, a column at a time. One bit per row says whether it may join.
    let (mut rows, mut kept) = (0, 0);
    let mut may_join = Vec::new();
    for start in (0..3 * keys).step_by(65_536) {
        let column: Vec<u64> = (start..(start + 65_536).min(3 * keys)).collect();
        filter.contains_batch_bitmap(&column, &mut may_join);
        rows += column.len() as u64;
        kept += may_join.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        // No row that joins is lost.
        let is_kept = |row: usize| may_join[row / 64] >> (row % 64) & 1 == 1;
        assert!((0..column.len()).all(|row| !column[row].is_multiple_of(3) || is_kept(row)));
    }
    let needless = (kept - keys) as f64 / (rows - keys) as f64;
    let bits = 8.0 * filter.statistics().memory.total() as f64 / keys as f64;
    println!(
        "{kept} of {rows} rows go on; of those without a partner {:.2} %; {bits:.1} bits per key",
        100.0 * needless
    );
    Ok(())
}
