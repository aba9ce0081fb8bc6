//! The simulator against the fluid limits and closed forms, and against itself on other numbers of threads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use equibloom_lab::estimate::Estimate;
use equibloom_lab::observables::Observables;
use equibloom_lab::simulator::{
    Buckets, Cuckoo, Snapshot, fill, look_up, offline_bound, share_of_set_bits,
};
use equibloom_lab::subject::Subject;
use equibloom_lab::{Context, Length, experiments};
use equibloom_layout::{Candidates, Placement, Rule, Share};
use equibloom_theory::fluid::{Process, State};
use equibloom_theory::lower_bound::lower_bound;
use equibloom_theory::paper::Scheme;

const BUCKETS: u64 = 50_000;
const REPETITIONS: u64 = 8;

fn threshold(below: u32, coin: f64) -> Rule {
    Rule::FirstWithRoom { below, coin: Share::new(coin).unwrap() }
}

/// Every scheme.
fn schemes() -> Vec<(Candidates, Rule)> {
    let anywhere = |choices| Candidates::anywhere(BUCKETS, choices);
    let share = Share::new(0.3).unwrap();
    vec![
        (anywhere(1), threshold(2, 0.5)),
        (anywhere(1), threshold(9, 0.0)),
        (anywhere(3), threshold(8, 0.7)),
        (Candidates::subtables(&[41_000, 7_500, 1_500]).unwrap(), threshold(8, 0.3)),
        (anywhere(1), Rule::LeastLoaded),
        (Candidates::Anywhere { blocks: BUCKETS, choices: 2, share }, Rule::LeastLoaded),
        (anywhere(2), Rule::LeastLoaded),
        (anywhere(4), Rule::LeastLoaded),
    ]
}

/// The theory's result for a scheme at this load.
fn limit(candidates: &Candidates, rule: Rule, load: f64) -> State {
    Process::new(candidates.proportions(), rule, load).end().unwrap()
}

fn near(what: &str, measured: Estimate, expected: f64) {
    let allowed = 4.0 * measured.sigma + 0.01 * expected;
    let off = (measured.mean - expected).abs();
    assert!(off <= allowed, "{what}: {measured:?} is not {expected} ± {allowed}");
}

#[test]
fn loads_accesses_and_overflow_are_those_of_the_fluid_limit() {
    for load in [2, 8, 25] {
        for (candidates, rule) in schemes() {
            let name = format!("{candidates:?}, {rule:?} at load {load}");
            let limit = limit(&candidates, rule, load as f64);
            let elements = load * BUCKETS;
            let runs: Vec<Snapshot> = (0..REPETITIONS)
                .map(|seed| fill(&candidates, rule, None, &[elements], seed).remove(0))
                .collect();
            for (table, shares) in limit.loads.iter().enumerate() {
                for (value, &expected) in shares.iter().enumerate() {
                    let count = |run: &Snapshot| run.loads[table].get(value).copied().unwrap_or(0);
                    let trials: u64 = runs.iter().flat_map(|run| &run.loads[table]).sum();
                    let seen = runs.iter().map(count).sum();
                    let mut share = Estimate::of_share(seen, trials as f64, expected);
                    // Arrivals at later subtables vary too, and hundreds of cells are checked.
                    share.sigma *= 1.3 * (1 + table) as f64;
                    near(&format!("{name}, table {table}, load {value}"), share, expected);
                }
            }
            let per_element = |count: u64| count as f64 / elements as f64;
            let floor = (limit.overflow / elements as f64).sqrt() + 1.0 / elements as f64;
            let overflow = Estimate::of(runs.iter().map(|run| per_element(run.overflow)), floor);
            near(&format!("{name}, overflow"), overflow, limit.overflow);
            let accesses = Estimate::of(runs.iter().map(|run| per_element(run.accesses)), 1e-4);
            near(&format!("{name}, accesses"), accesses, limit.accesses);
        }
    }
}

/// Theorems 4 to 6, at the least overflow and above it: the promise, the simulation, and the library's filter.
#[test]
fn the_budget_holds_in_the_simulator_and_in_the_filter() {
    let rows = [
        (Placement::MultiLevel, 7.0, 1.17, 3, 0.031),
        (Placement::MultiLevel, 12.0, 1.33, 4, 0.044),
        (Placement::Sequential, 9.0, 1.13, 3, 0.027),
    ];
    for (placement, load, accesses, choices, above) in rows {
        for overflow in [None, Some(above)] {
            let scheme = match placement {
                Placement::Sequential => Scheme::Sequential { accesses, choices, overflow },
                _ => Scheme::MultiLevel { accesses, choices, overflow },
            };
            // Large blocks: hardly a key looks present when it is inserted.
            let subject = Subject { scheme, block_bits: 512, bits_per_element: 512.0 / load };
            let expected = subject.optimum().unwrap().unwrap().overflow;
            let elements = 100_000;
            let of = |what: &str, runs: Vec<Observables>| {
                let floor = 2.0 * (expected / elements as f64).sqrt();
                let part =
                    |part: fn(&Observables) -> f64| Estimate::of(runs.iter().map(part), floor);
                near(&format!("{what}, {scheme:?}: accesses"), part(|run| run.insert), accesses);
                near(&format!("{what}, {scheme:?}: overflow"), part(|run| run.overflow), expected);
            };
            let run = |simulated: bool| -> Vec<Observables> {
                let one = |seed| match simulated {
                    true => subject.simulate(elements, elements, seed).unwrap(),
                    false => subject.run_filter(elements, elements, 0, seed).unwrap(),
                };
                (0..REPETITIONS).map(one).collect()
            };
            of("limit", vec![subject.definition_model(elements, elements).unwrap()]);
            of("simulation", run(true));
            of("filter", run(false));
        }
    }
}

#[test]
fn nothing_is_lost_and_a_spent_budget_sends_the_rest_to_the_overflow_list() {
    let moments = [0, 100_000, 400_000, 500_000];
    let candidates = Candidates::anywhere(BUCKETS, 3);
    let states = fill(&candidates, threshold(8, 0.5), Some(300_000), &moments, 3);
    for (state, moment) in states.iter().zip(moments) {
        let loads = state.all_loads();
        let stored: u64 = loads.iter().enumerate().map(|(load, &count)| load as u64 * count).sum();
        assert_eq!(state.elements, moment);
        assert_eq!(stored + state.overflow, moment);
        assert_eq!(loads.iter().sum::<u64>(), BUCKETS);
    }
    assert_eq!(states[1].late, 0);
    assert!(states[2].accesses >= 300_000 && states[2].accesses < 300_003);
    assert_eq!(states[3].late - states[2].late, 100_000);
    assert_eq!(states[3].loads, states[2].loads);
}

#[test]
fn the_offline_process_gives_the_lower_bound() {
    for (accesses, overflow) in [(1.0, 0.0), (1.1, 0.0), (1.2, 0.0), (1.2, 0.005), (1.0, 0.02)] {
        let bound = lower_bound(8.0, accesses, overflow).unwrap().distribution;
        let counts = offline_bound(8 * BUCKETS, BUCKETS, accesses, overflow, 11);
        for (load, &expected) in bound.iter().enumerate() {
            let count = counts.get(load).copied().unwrap_or(0);
            let mut share = Estimate::of_share(count, BUCKETS as f64, expected);
            // The two loads at the cut absorb the random deviations of all others.
            share.sigma += 0.002;
            near(&format!("a = {accesses}, γ = {overflow}, load {load}"), share, expected);
        }
    }
}

#[test]
fn the_simulated_classical_filter_sets_the_expected_share_of_bits() {
    let (bits, hashes, elements) = (1 << 20, 6, 100_000_u64);
    let shares = share_of_set_bits(bits, hashes, &[elements / 2, elements], 5);
    for (share, elements) in shares.into_iter().zip([elements / 2, elements]) {
        let expected = -((-1.0 / bits as f64).ln_1p() * (6 * elements) as f64).exp_m1();
        assert!((share - expected).abs() < 4.0 * 0.5 / (bits as f64).sqrt(), "{share} {expected}");
    }
}

#[test]
fn a_figure_is_the_same_whatever_the_number_of_threads_and_another_with_another_seed() {
    let made = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let context = Context { length: Length::Quick, seed, progress: &|_| {} };
        pool.install(|| experiments::find("energy-variance").unwrap().run(&context).unwrap())
    };
    let one = made(1, 1);
    assert_eq!(one, made(3, 1));
    assert_ne!(one.series, made(2, 2).series);
}

#[test]
fn a_hundred_million_elements_take_less_than_a_minute_on_one_core() {
    let least_per_second = 1e8 / 60.0;
    for (candidates, rule) in schemes() {
        let start = std::time::Instant::now();
        fill(&candidates, rule, None, &[2_000_000], 1);
        let per_second = 2e6 / start.elapsed().as_secs_f64();
        assert!(per_second > least_per_second, "{candidates:?}: {per_second:.0} per second");
    }
}

/// A bucket of the first table is filled by the first element that tries it, and stays full.
#[test]
fn one_slot_cuckoo_tables_fill_the_first_table_like_balls_in_bins() {
    let (buckets, elements) = (20_000_u64, 16_000_u64);
    let shares = (0..REPETITIONS).map(|seed| {
        let mut tables = Cuckoo::new(buckets, 1, seed);
        (0..elements).for_each(|_| tables.insert());
        assert!(tables.stashed <= 2 && tables.displacements > 0);
        tables.share_beyond_first()
    });
    let c = elements as f64 / buckets as f64;
    near("share in the second table", Estimate::of(shares, 0.0), 1.0 + (-c).exp_m1() / c);
}

#[test]
fn a_rehash_keeps_all_elements() {
    let mut tables = Cuckoo::new(5, 4, 1);
    (0..45).for_each(|_| tables.insert());
    assert!(tables.stashed >= 5, "45 elements in 40 slots");
    tables.rehash();
    assert!(tables.stashed >= 5 && tables.rehashes == 1);
}

/// With one class, a miss reads on at every bucket that rejected an element: in a full table at all of them.
#[test]
fn misses_read_on_only_where_an_element_was_rejected() {
    let candidates = Candidates::anywhere(100, 3);
    let buckets = Buckets { candidates, rule: Rule::below(1), slots: 1, classes: 1 };
    let found = look_up(&buckets, &[1, 10_000], 1_000, 1);
    assert_eq!((found[0].hit, found[0].miss), (1.0, 1.0));
    assert!(found[1].miss == 3.0 && found[1].hit > 2.9, "{found:?}");
}
