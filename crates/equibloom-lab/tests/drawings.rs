//! Drawings and small figures as runs of the library.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom_lab::figure::Figure;
use equibloom_lab::trace::{End, Trace};
use equibloom_lab::{Context, Length, experiments};
use equibloom_layout::{Blocks, Layout, Overflow, Rule, WhenFull};

fn figure(id: &str) -> Figure {
    let context = Context { length: Length::Quick, seed: 1, progress: &|_| {} };
    let figure = experiments::find(id).unwrap().run(&context).unwrap();
    for claim in &figure.claims {
        assert!(claim.is_as_expected(), "{id}: {claim:?}");
    }
    figure
}

#[test]
fn the_papers_drawings_are_runs_of_the_filter() {
    for id in ["balanced-fig-1", "energy-fig-5"] {
        let figure = figure(id);
        let [first, second, third] = &figure.pictures[..] else { panic!("three steps in {id}") };
        for picture in &figure.pictures {
            let sizes: Vec<usize> = picture.tables.iter().map(Vec::len).collect();
            assert_eq!(sizes, [4, 2, 1]);
            let widths =
                |(_, counter, bits): &(String, String, String)| (counter.len(), bits.len());
            assert!(picture.tables.iter().flatten().all(|block| widths(block) == (2, 4)));
        }
        assert_eq!(first.marked, Some((0, 0b10)));
        assert_eq!(first.tables[0][0b10].1, "11");
        assert_eq!(first.tables[1][0b01].1, "10");
        assert_eq!(second.marked, Some((1, 0b01)));
        assert_eq!(second.tables[1][0b01].1, "11");
        assert!(first.caption.contains("turned away") && second.caption.contains("stored"));
        assert!(third.caption.contains("not read"));
    }
}

#[test]
fn a_trace_tells_what_the_filter_does() {
    let overflow = Overflow { capacity: 9, when_full: WhenFull::Refuse };
    let layout = Layout::sequential(Blocks::bloom(8, 1), 2, 2, Rule::below(1));
    let mut trace = Trace::new(layout.with_overflow(overflow), 3).unwrap();
    let ends: Vec<End> = (0..9).map(|key| trace.insert(&key.to_string()).unwrap().end).collect();
    // Two blocks take one key each; the others seem to be present or are listed.
    assert_eq!(ends.iter().filter(|end| matches!(end, End::Stored(_))).count(), 2, "{ends:?}");
    assert!(ends.contains(&End::Listed), "{ends:?}");
    assert!(trace.tables()[0].iter().all(|block| block.load == 1));
    let blocks = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };
    let error = Trace::new(Layout::fingerprints(blocks, &[9]).unwrap(), 0).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("give Bloom blocks"), "{error}");
}

/// In a plain table with Poisson(6) chains a miss walks over 6 elements on average, a hit over (7 + 1)/2.
#[test]
fn chains_are_walked_as_the_paper_says() {
    let figure = figure("energy-query-time");
    let first = |panel: usize| figure.series.iter().find(|s| s.panel == panel).unwrap().y[0];
    for (panel, expected) in [(0, 6.0), (1, 6.0), (2, 4.0)] {
        assert!((first(panel) - expected).abs() < 1e-9, "{panel}: {}", first(panel));
    }
}

/// The size of a figure that is scaled down stands in its title.
#[test]
fn the_title_of_the_addresses_states_their_number() {
    let addresses = experiments::find("slides-emails").unwrap();
    assert!(addresses.title(Length::Quick).contains("10⁶"));
    assert!(addresses.title(Length::Full).contains("10⁹"));
}
