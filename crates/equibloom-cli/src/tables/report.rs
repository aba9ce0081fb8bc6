//! The table of maps and its explanation.

use std::fmt;

use comfy_table::Table;

use super::Arguments;
use super::contest::{MapResult, Results};
use crate::columns;

impl fmt::Display for Results<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arguments { entries, load, accesses, choices, .. } = self.arguments;
        writeln!(
            f,
            "{entries} entries of 8-byte keys and values. Balanced maps: {load} entries per bucket, \
             {accesses} buckets per insert, at most {choices}.\n"
        )?;
        writeln!(f, "{}\n", table(&self.maps).trim_fmt())?;
        for sentence in sentences(&self.maps) {
            writeln!(f, "- {sentence}")?;
        }
        Ok(())
    }
}

fn table(maps: &[MapResult]) -> Table {
    let header = [
        "map",
        "slots\nfilled",
        "variance of\nbucket sizes",
        "\nbound",
        "buckets\nhit",
        "\nmiss",
        "\nmax",
        "lines\nmiss",
        "bytes per\nentry",
        "ns per\ninsert",
        "\nhit",
        "\nmiss",
        "÷ hashbrown's\ninsert",
        "\nhit",
        "\nmiss",
    ];
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let rows = maps.iter().map(|map| {
        [
            map.map.to_owned(),
            map.occupancy.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
            number(map.variance),
            number(map.variance_bound),
            number(map.buckets_hit),
            number(map.buckets_miss),
            map.buckets_max.map_or("–".to_owned(), |most| most.to_string()),
            number(map.lines_miss),
            map.bytes_per_entry.map_or("–".to_owned(), |bytes| format!("{bytes:.1}")),
            format!("{:.0}", map.ns_insert),
            format!("{:.0}", map.ns_hit),
            format!("{:.0}", map.ns_miss),
            format!("{:.2}", map.ratio_insert),
            format!("{:.2}", map.ratio_hit),
            format!("{:.2}", map.ratio_miss),
        ]
    });
    columns::table(header, rows)
}

/// How to read the table.
fn sentences(maps: &[MapResult]) -> Vec<String> {
    let mut sentences = vec![
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
        sentences.push(format!(
            "hashbrown has a power of two of slots and fills 44 to 87 % of them: {:.0} % at this number of \
             entries, with {bytes:.1} bytes each.",
            100.0 * filled
        ));
    }
    sentences
}
