//! The table of maps, and what it shows in plain sentences.

use std::fmt;

use comfy_table::Table;

use super::contest::{MapResult, Results};
use super::lineup::Wishes;
use crate::columns;

pub(super) struct Report<'a> {
    pub(super) wishes: &'a Wishes,
    pub(super) results: &'a Results,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wishes { entries, load, accesses, choices } = self.wishes;
        writeln!(
            f,
            "{entries} entries of 8-byte keys and values. Balanced maps: {load} entries per bucket, \
             {accesses} buckets per insert, at most {choices}.\n"
        )?;
        writeln!(f, "{}\n", table(&self.results.maps).trim_fmt())?;
        for sentence in sentences(&self.results.maps) {
            writeln!(f, "- {sentence}")?;
        }
        Ok(())
    }
}

fn table(maps: &[MapResult]) -> Table {
    let header = [
        "map",
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
    ];
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let rows = maps.iter().map(|map| {
        [
            map.map.to_owned(),
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
        ]
    });
    columns::table(header, rows)
}

/// What the table shows, from its own numbers: where we win and where we lose.
fn sentences(maps: &[MapResult]) -> Vec<String> {
    let Some(peer) = maps.iter().find(|map| map.map == "hashbrown") else { return Vec::new() };
    let ours = maps.iter().filter(|map| map.buckets_max.is_some());
    let mut sentences: Vec<String> = ours
        .map(|map| {
            let share = |value: f64, reference: f64| format!("{:.2} ×", value / reference);
            let memory = match (map.bytes_per_entry, peer.bytes_per_entry) {
                (Some(mine), Some(theirs)) => format!(", {} its memory", share(mine, theirs)),
                _ => String::new(),
            };
            format!(
                "{} against hashbrown: inserts {}, hits {}, misses {} its time{memory}.",
                map.map,
                share(map.ns_insert, peer.ns_insert),
                share(map.ns_hit, peer.ns_hit),
                share(map.ns_miss, peer.ns_miss),
            )
        })
        .collect();
    sentences.push(
        "A lookup never reads more buckets than `max`, and then the stash; hashbrown has no such limit."
            .to_owned(),
    );
    sentences.push(
        "All maps hash with hashbrown's default hasher, std with its own; all had room reserved."
            .to_owned(),
    );
    sentences
}
