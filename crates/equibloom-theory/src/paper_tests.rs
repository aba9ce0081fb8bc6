use super::{Hashes, Scheme, best_alpha, blocks_touched, rate};
use crate::fluid::Process;
use crate::lower_bound::costs;
use equibloom_layout::{Proportions, Rule};

fn paper_rate(scheme: Scheme, block_bits: u32, bits_per_key: f64) -> f64 {
    rate(scheme, block_bits, bits_per_key, Hashes::Paper).unwrap().rate
}

const MULTI_LEVEL: Scheme = Scheme::MultiLevel { accesses: 1.2, choices: 3, overflow: None };

fn rounds_to(value: f64, published: f64, digit: f64) {
    assert!((value - published).abs() <= 0.5 * digit, "{value:e} is not {published:e}");
}

#[test]
fn published_rates_at_256_bits_are_met() {
    let single = Scheme::Single { overflow: 0.0049845 };
    rounds_to(paper_rate(MULTI_LEVEL, 256, 40.0), 1.39e-7, 1e-9);
    rounds_to(paper_rate(Scheme::Blocked, 256, 40.0), 2.36e-5, 1e-7);
    rounds_to(paper_rate(single, 256, 40.0), 7.6e-6, 1e-7);
    rounds_to(paper_rate(MULTI_LEVEL, 256, 24.0), 4.70e-5, 1e-7);
    rounds_to(paper_rate(Scheme::Blocked, 256, 24.0), 1.99e-4, 1e-6);
    rounds_to(paper_rate(single, 256, 24.0), 1.52e-4, 1e-6);
}

#[test]
fn the_published_best_alphas_are_met() {
    let at = |bits_per_key| best_alpha(500, bits_per_key, Hashes::Paper).unwrap().0;
    rounds_to(at(16.0), 0.3, 0.1);
    rounds_to(at(18.0), 0.4, 0.1);
    rounds_to(at(20.0), 0.5, 0.1);
    for bits_per_key in [4.0, 8.0, 10.0] {
        assert_eq!(at(bits_per_key), 0.0);
    }
    for bits_per_key in [31.0, 34.0, 40.0] {
        assert!(at(bits_per_key) > 0.95, "{}", at(bits_per_key));
    }
}

#[test]
fn power_of_two_overtakes_blocked_at_17_bits_per_key() {
    for bits_per_key in 10..=24 {
        let two = paper_rate(Scheme::TwoChoice, 500, f64::from(bits_per_key));
        let blocked = paper_rate(Scheme::Blocked, 500, f64::from(bits_per_key));
        assert_eq!(two < blocked, bits_per_key >= 17, "at {bits_per_key}");
    }
}

#[test]
fn erratum_2_the_exponent_is_k_and_the_hash_functions_are_beta_ln_2() {
    // With B = 256 as exponent the rate of a half-full block would be 2^-256.
    let half_full = costs::bloom_block(256.0, 17)(11);
    assert!((half_full.log2() + 17.0).abs() < 1.5, "{half_full}");
    assert_eq!(super::paper_hashes(24.0), 17);
    // r·ln 2 would be 7 at r = 256/24.
    let seven = rate(Scheme::Classical, 256, 24.0, Hashes::Given(7)).unwrap().rate;
    assert!(seven > 5.0 * paper_rate(Scheme::Classical, 256, 24.0));
}

#[test]
fn erratum_5_the_standard_filter_of_the_last_comparison_lacks_the_counter_bits() {
    rounds_to(paper_rate(Scheme::Classical, 256, 40.0), 4.5e-9, 1e-10);
    let counter = rate(MULTI_LEVEL, 256, 40.0, Hashes::Paper).unwrap().counter_bits;
    let charged = 40.0 * (256.0 - f64::from(counter)) / 256.0;
    let with_28 = rate(Scheme::Classical, 256, charged, Hashes::Given(28)).unwrap().rate;
    rounds_to(with_28, 6.1e-9, 1e-10);
}

#[test]
fn erratum_6_a_miss_reads_two_blocks_and_more_where_an_insert_reads_1_2() {
    for (bits_per_key, miss, digit) in [(40.0, 2.06, 0.01), (8.0, 2.6, 0.1)] {
        let rate = rate(MULTI_LEVEL, 256, bits_per_key, Hashes::Paper).unwrap();
        assert_eq!(rate.accesses_insert, 1.2);
        assert!((rate.accesses_hit - 1.2).abs() < 1e-9);
        rounds_to(rate.accesses_miss, miss, digit);
        assert!(rate.accesses_miss_with_coin < rate.accesses_miss);
        assert!(rate.rate_with_coin < rate.rate);
    }
}

#[test]
fn erratum_10_charging_seven_counter_bits_moves_the_best_alpha_at_14_to_zero() {
    let (free, _) = best_alpha(500, 14.0, Hashes::Paper).unwrap();
    rounds_to(free, 0.22, 0.02);
    // The same load, with 493 bits left and k = round(14·ln 2): only α > 0 needs the counter.
    let k = super::paper_hashes(14.0);
    let blocked = rate(Scheme::Blocked, 500, 14.0, Hashes::Given(k)).unwrap().rate;
    for alpha in [0.1, 0.2, 0.3, 0.5, 1.0] {
        let charged = Scheme::OnePlusAlpha { alpha };
        let rate = rate(charged, 493, 14.0 * 493.0 / 500.0, Hashes::Given(k)).unwrap().rate;
        assert!(rate > blocked, "{alpha}: {rate} {blocked}");
    }
}

#[test]
fn the_best_number_of_hash_functions_is_never_worse_than_the_papers() {
    for scheme in
        [Scheme::Classical, Scheme::Blocked, MULTI_LEVEL, Scheme::Single { overflow: 0.01 }]
    {
        for (block_bits, bits_per_key) in [(64, 8.0), (256, 24.0), (512, 16.0), (32768, 12.0)] {
            let best = rate(scheme, block_bits, bits_per_key, Hashes::Best).unwrap();
            let paper = rate(scheme, block_bits, bits_per_key, Hashes::Paper).unwrap();
            assert!(best.rate <= paper.rate);
            for hashes in [best.hashes - 1, best.hashes + 1] {
                if hashes > 0 {
                    let other =
                        rate(scheme, block_bits, bits_per_key, Hashes::Given(hashes)).unwrap();
                    assert!(other.rate >= best.rate);
                }
            }
        }
    }
}

#[test]
fn impossible_arguments_are_refused() {
    assert!(rate(Scheme::Blocked, 0, 8.0, Hashes::Paper).is_err());
    assert!(rate(Scheme::Blocked, 256, f64::NAN, Hashes::Paper).is_err());
    assert!(rate(Scheme::Blocked, 256, 8.0, Hashes::Given(0)).is_err());
    assert!(rate(Scheme::OnePlusAlpha { alpha: 2.0 }, 256, 8.0, Hashes::Paper).is_err());
    assert!(rate(Scheme::Single { overflow: 0.0 }, 256, 8.0, Hashes::Paper).is_err());
}

#[test]
fn lemma_6_1_the_bits_of_a_key_lie_in_nearly_as_many_blocks() {
    // By the sum over the number of bits that come to a new block, and in the limit.
    for (hashes, blocks) in [(1, 7), (5, 1), (17, 16), (28, 1_000)] {
        let mut touched = 0.0;
        (0..hashes).for_each(|_| touched += 1.0 - touched / blocks as f64);
        let lemma = blocks_touched(hashes, blocks).unwrap();
        assert!((lemma / touched - 1.0).abs() < 1e-12, "{hashes} {blocks}: {lemma} {touched}");
    }
    let missing = 1e9 * (28.0 - blocks_touched(28, 1_000_000_000).unwrap());
    assert!((missing / (28.0 * 27.0 / 2.0) - 1.0).abs() < 1e-3, "{missing}");
    assert!(blocks_touched(0, 5).unwrap_err().to_string().contains("at least 1"));
    assert!(blocks_touched(5, 0).unwrap_err().to_string().contains("at least 1"));
}

#[test]
fn lemma_6_2_balanced_blocks_have_the_rate_of_the_classical_filter() {
    for (bits, per_key, hashes) in [(512_u32, 16.0, 11), (256, 8.0, 6)] {
        let block = costs::bloom_block(f64::from(bits), hashes);
        let load = (f64::from(bits) / per_key) as u32;
        let classical = rate(Scheme::Classical, bits, per_key, Hashes::Given(hashes)).unwrap();
        assert!((block(load) / classical.rate - 1.0).abs() < 1e-12);
        // Any other distribution with the same mean has a higher rate.
        let blocked = rate(Scheme::Blocked, bits, per_key, Hashes::Given(hashes)).unwrap();
        assert!(blocked.rate > classical.rate);
    }
}

#[test]
fn lemma_6_3_the_poisson_distribution_solves_the_equation_of_the_blocked_filter() {
    let at = |load: f64| {
        let blocked = Proportions::anywhere(1);
        Process::new(blocked, Rule::LeastLoaded, load)
            .closed_form(1.0)
            .unwrap()
            .unwrap()
            .loads
            .concat()
    };
    // dD(x)/dn with n = b·load, so that the factor 1/b falls out.
    let (load, step) = (8.0, 1e-4);
    let (before, here, after) = (at(load - step), at(load), at(load + step));
    for x in 1..20 {
        let slope = (after[x] - before[x]) / (2.0 * step);
        assert!((slope - (here[x - 1] - here[x])).abs() < 1e-8, "{x}: {slope}");
    }
}

#[test]
fn note_b_the_best_k_for_each_brings_blocked_and_multi_level_nearer() {
    let best = |scheme| rate(scheme, 256, 40.0, Hashes::Best).unwrap().rate;
    rounds_to(best(Scheme::Blocked), 4.0e-6, 1e-7);
    rounds_to(best(MULTI_LEVEL), 1.1e-7, 1e-8);
    rounds_to(best(Scheme::TwoChoice), 6.1e-8, 1e-9);
}
