//! The table of maps and its explanation.

use std::fmt;

use super::Arguments;
use super::contest::{MapResult, Results};
use crate::columns::{self, Column};

impl fmt::Display for Results<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arguments { entries, load, accesses, choices, .. } = self.arguments;
        writeln!(
            f,
            "{entries} entries of 8-byte keys and values. Balanced maps: {load} entries per bucket, \
             {accesses} buckets per insert, at most {choices}.\n"
        )?;
        columns::write(f, &COLUMNS, &self.maps, &remarks(&self.maps))
    }
}

const COLUMNS: [Column<MapResult>; 15] = [
    ("map", |map| map.map.to_owned()),
    ("slots\nfilled", |map| known(map.occupancy, |share| format!("{:.0} %", 100.0 * share))),
    ("variance of\nbucket sizes", |map| known(map.variance, three_digits)),
    ("\nbound", |map| known(map.variance_bound, three_digits)),
    ("buckets\nhit", |map| known(map.buckets_hit, three_digits)),
    ("\nmiss", |map| known(map.buckets_miss, three_digits)),
    ("\nmax", |map| known(map.buckets_max, |most| most.to_string())),
    ("lines\nmiss", |map| known(map.lines_miss, three_digits)),
    ("bytes per\nentry", |map| known(map.bytes_per_entry, |bytes| format!("{bytes:.1}"))),
    ("ns per\ninsert", |map| format!("{:.0}", map.ns_insert)),
    ("\nhit", |map| format!("{:.0}", map.ns_hit)),
    ("\nmiss", |map| format!("{:.0}", map.ns_miss)),
    ("÷ hashbrown's\ninsert", |map| format!("{:.2}", map.ratio_insert)),
    ("\nhit", |map| format!("{:.2}", map.ratio_hit)),
    ("\nmiss", |map| format!("{:.2}", map.ratio_miss)),
];

fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or("–".to_owned(), text)
}

fn three_digits(value: f64) -> String {
    format!("{value:.3}")
}

/// How to read the table.
fn remarks(maps: &[MapResult]) -> Vec<String> {
    let mut remarks = vec![
        "Every map took turns with a hashbrown map on the same keys; the ratios are the medians \
         of their rounds (of inserts: the mean). A shared machine changes the nanoseconds more than the ratios."
            .to_owned(),
        "A lookup in our maps reads at most `max` buckets, then the stash; hashbrown has no such limit."
            .to_owned(),
        "All maps hash with hashbrown's default hasher, std with its own; all had room reserved.".to_owned(),
        "On Linux our maps request huge pages; std and hashbrown leave that to the allocator. With \
         GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment all maps get them."
            .to_owned(),
    ];
    let peer = maps.iter().find(|map| map.map == "hashbrown");
    if let Some((filled, bytes)) = peer.and_then(|peer| peer.occupancy.zip(peer.bytes_per_entry)) {
        remarks.push(format!(
            "hashbrown has a power of two of slots and fills 44 to 87 % of them: {:.0} % at this number of \
             entries, with {bytes:.1} bytes each.",
            100.0 * filled
        ));
    }
    remarks
}
