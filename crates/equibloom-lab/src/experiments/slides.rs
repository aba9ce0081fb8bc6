//! The slides: the classical filter by number of elements, and the list of e-mail addresses.

use core::f64::consts::LN_2;
use std::fmt::Write;

use equibloom::{Filter, Parameters};
use equibloom_layout::Design;
use equibloom_theory::exact;
use equibloom_theory::paper::{self, Hashes, Scheme};

use crate::evidence::{Curve, Point, gather};
use crate::experiments::prelude::*;
use crate::number::power_of_ten;
use crate::simulator::{seed_of, share_of_set_bits};
use crate::subject::{Subject, filled};

pub(super) fn parameters_of_rate(length: Length) -> String {
    format!(
        "m = 2¹², 2¹⁴, 2¹⁶, 2¹⁸, 2²⁰ bits, k = round((m/n) ln 2), {} repetitions",
        rate_repetitions(length)
    )
}

fn rate_repetitions(length: Length) -> u64 {
    length.choose(40, 100, 1_000)
}

pub(super) fn rate(context: &Context<'_>) -> Result<Outcome, Error> {
    let curve = |(index, power): (usize, u32)| {
        let bits = f64::from(1_u32 << power);
        let point = |&c: &f64| {
            let elements = (bits / c).round();
            let subject = Subject {
                scheme: Scheme::Classical,
                block_bits: 512,
                bits_per_element: bits / elements,
            };
            Point {
                repetitions: rate_repetitions(context.length),
                elements: elements as u64,
                moment: elements as u64,
                ..Point::full(context, elements, subject)
            }
        };
        let points = [40.0, 32.0, 24.0, 20.0, 16.0, 12.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0]
            .iter()
            .map(point)
            .collect();
        let name = format!("m = {}{}", 2, ["¹²", "¹⁴", "¹⁶", "¹⁸", "²⁰"][index]);
        Curve { name, hue: Hue::Value(index as u8), points }
    };
    let curves: Vec<Curve> = [12, 14, 16, 18, 20].into_iter().enumerate().map(curve).collect();
    let curves = gather(context, curves)?;
    let classical = |c: f64, hashes| {
        Ok::<_, Error>(paper::rate(Scheme::Classical, 512, c, Hashes::Given(hashes))?.rate)
    };
    let printed =
        |text, expected, value, unit| Claim::printed("Slides", text, expected, value, unit);
    // The best k at 1,000 bits per element, found by search.
    let best_k = f64::from(paper::rate(Scheme::Classical, 512, 1e3, Hashes::Best)?.hashes) / 1e3;
    let claims = vec![
        printed("π with one hash function, m = 100 n", 0.0095, classical(100.0, 1)?, 1e-4)
            .unless("erratum 9: 1 − e^(−1/100) is 0.00995"),
        printed("π with one hash function, m = n", 0.632, classical(1.0, 1)?, 1e-3),
        printed("π with one hash function, m = n/10", 0.9999, classical(0.1, 1)?, 1e-4),
        printed("the rate per bit at the best k", 0.6185, 2_f64.powf(-LN_2), 1e-4),
        printed("the same with 9/13 for ln 2", 0.619223, 2_f64.powf(-9.0 / 13.0), 1e-6)
            .unless("erratum 9: (1/2)^(9/13) is 0.618863"),
        printed("the best k per bit, written (1/2) ln 2", LN_2 / 2.0, best_k, 1e-2)
            .unless("erratum 9: it is ln 2, as the slides' 9/13 says"),
        printed("the best k per bit, written 9/13", 9.0 / 13.0, best_k, 1e-2),
        printed("c = 2 and k = 6: rate in %", 2.0, 100.0 * classical(2.0, 6)?, 1.0)
            .unless("erratum 9: 2 % is the rate with c = 8"),
        Claim::derived("c = 8 and k = 6: rate in %", 2.0, 100.0 * classical(8.0, 6)?, 1.0),
    ];
    let mut plot = Plot::of(claims);
    curves.iter().for_each(|curve| plot.add(curve, |o| o.rate));
    let finding = format!(
        "The rate falls by a factor of {} per bit; 8 bits and 6 hash functions give {} %, and \
         all sizes from 2¹² to 2²⁰ bits follow one curve of m/n.",
        short(2_f64.powf(-LN_2)),
        short(100.0 * classical(8.0, 6)?),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "The slides print k = (m/n)(1/2) ln 2 once, and k = ln 2·(n/m) under the figure; \
             both are slips for (m/n) ln 2. The base is 0.6185, not 0.619223. “c = 2, k = 6 \
             gives 2 %” is c = 8: with c = 2 it would be 74 %. m = 100 n gives 0.00995, not \
             0.0095 (erratum 9).",
        ],
        x: Axis::logarithmic("number of elements n"),
        y: Axis::logarithmic("false-positive rate"),
        plot,
        ..Outcome::default()
    })
}

const BITS_PER_ELEMENT: [u32; 4] = [4, 8, 12, 16];

pub(super) fn parameters_of_k(length: Length) -> String {
    format!("n = 10⁴, {} repetitions", rate_repetitions(length) / 10)
}

/// f(k) with its minimum.
pub(super) fn by_hash_functions(context: &Context<'_>) -> Result<Outcome, Error> {
    const ELEMENTS: u64 = 10_000;
    const MOST: u32 = 20;
    let jobs: Vec<(u32, u32)> =
        BITS_PER_ELEMENT.iter().flat_map(|&c| (1..=MOST).map(move |k| (c, k))).collect();
    let repetitions = rate_repetitions(context.length) / 10;
    let formula = |c: f64, k: u32| {
        Ok::<_, Error>(paper::rate(Scheme::Classical, 512, c, Hashes::Given(k))?.rate)
    };
    let found = context.map(&jobs, |&(c, hashes)| {
        let bits = u64::from(c) * ELEMENTS;
        let design = Design::Classical { bits, hashes };
        let exact = exact::predict(&design, ELEMENTS)?;
        let simulated =
            context.repeat(&format!("k simulation {c} {hashes}"), repetitions, |seed| {
                Ok(share_of_set_bits(bits, hashes, &[ELEMENTS], seed)[0].powi(hashes as i32))
            })?;
        let filtered = context.repeat(&format!("k filter {c} {hashes}"), repetitions, |seed| {
            Ok(filled(design, ELEMENTS, seed)?.expected_rate)
        })?;
        let of = |runs: Vec<f64>| Estimate::of(runs, exact.rate_deviation);
        Ok((formula(c.into(), hashes)?, exact.rate, [of(simulated), of(filtered)]))
    })?;
    let (mut plot, mut minima) = (Plot::default(), Vec::new());
    let k: Vec<f64> = (1..=MOST).map(f64::from).collect();
    for (index, (&c, found)) in BITS_PER_ELEMENT.iter().zip(found.chunks(MOST as usize)).enumerate()
    {
        let (name, hue) = (format!("m/n = {c}"), Hue::Value(index as u8));
        let best = paper::rate(Scheme::Classical, 512, c.into(), Hashes::Best)?;
        let k_best = f64::from(c) * LN_2;
        minima.push((k_best, 2_f64.powf(-k_best)));
        let text = format!("{name}: the best whole k, next to (m/n) ln 2");
        plot.claims
            .push(Claim::stated("Slides", Claim::new(text, k_best, best.hashes.into(), 1.0)));
        let paper = found.iter().map(|point| point.0).collect();
        plot.series.push(Series::new(&name, hue, Origin::Paper, &k, paper));
        let exact = found.iter().map(|point| point.1).collect();
        let exact = Series::new(&name, hue, Origin::Exact, &k, exact);
        let points: Vec<[Estimate; 2]> = found.iter().map(|point| point.2).collect();
        let text = format!("{name}: the {{}} lies on the exact model");
        plot.compare(&exact, &text, sides(Origin::Filter, &points));
    }
    let (x, y): (Vec<f64>, Vec<f64>) = minima.into_iter().unzip();
    let minimum =
        Series::new("minimum, k = (m/n) ln 2", Hue::Classical, Origin::Model, &x, y.clone());
    plot.series.push(minimum);
    Ok(Outcome {
        finding: format!(
            "With 8 bits per element f(k) is least at k = {}, {}; with 16 at k = {}, {}.",
            short(x[1]),
            short(y[1]),
            short(x[3]),
            short(y[3]),
        ),
        notes: vec![
            "The line through the minima is 2^(−k): at the best k half of the bits are set. The slides print \
             k = (m/n)(1/2) ln 2 once, a slip (erratum 9).",
        ],
        x: Axis::linear("hash functions k"),
        y: Axis::logarithmic("false-positive rate f(k)"),
        plot,
        ..Outcome::default()
    })
}

/// Bits per address: 10⁹ bytes for 10⁹ addresses.
const BITS_PER_ADDRESS: u64 = 8;
const HASHES: u32 = 6;
/// Moments at which the filter is measured.
const LOOKS: u64 = 10;

fn addresses(length: Length) -> u64 {
    length.choose(1_000_000, 10_000_000, 1_000_000_000)
}

pub(super) fn parameters_of_emails(length: Length) -> String {
    let addresses = power_of_ten(addresses(length).ilog10() as i32);
    format!("{addresses} addresses in {addresses} bytes, k = 6")
}

pub(super) fn emails(context: &Context<'_>) -> Result<Outcome, Error> {
    let addresses = addresses(context.length);
    let bits = BITS_PER_ADDRESS * addresses;
    let moments: Vec<u64> = (1..=LOOKS).map(|look| look * addresses / LOOKS).collect();
    let seed = seed_of(context.seed, "e-mail addresses", 0);
    let (simulated, filtered) = rayon::join(
        || share_of_set_bits(bits, HASHES, &moments, seed),
        || fill_with_addresses(context, &moments, seed),
    );
    let filtered = filtered?;
    let design = Design::Classical { bits, hashes: HASHES };
    let exact = |&keys: &u64| Ok(exact::predict(&design, keys)?);
    let exact = moments.iter().map(exact).collect::<Result<Vec<_>, Error>>()?;
    let estimates = |rates: &mut dyn Iterator<Item = f64>| -> Vec<Estimate> {
        let pairs = rates.zip(&exact);
        pairs.map(|(mean, model)| Estimate { mean, sigma: model.rate_deviation }).collect()
    };
    let simulated = estimates(&mut simulated.iter().map(|share| share.powi(HASHES as i32)));
    let measured = estimates(&mut filtered.rates.iter().copied());
    let x: Vec<f64> = moments.iter().map(|&moment| moment as f64).collect();
    let exact = exact.iter().map(|expected| expected.rate).collect();
    let paper = |&keys: &u64| {
        (1.0 - (-f64::from(HASHES) * keys as f64 / bits as f64).exp()).powi(HASHES as i32)
    };
    let paper: Vec<f64> = moments.iter().map(paper).collect();
    let full = paper.last().copied().unwrap_or_default();
    let (name, hue) = ("classical", Hue::Classical);
    let false_positives = filtered.false_positives;
    let mut plot = Plot::of(vec![
        Claim::derived("formula, all addresses in: rate in %", 2.0, 100.0 * full, 1.0),
        Claim::new(
            "memory per address in bytes",
            1.0,
            filtered.bytes as f64 / addresses as f64,
            0.001,
        ),
        Claim::new(
            "absent addresses taken for present, all addresses in",
            full,
            false_positives.mean,
            4.0 * false_positives.sigma + 0.01 * full,
        ),
        Claim::new("members not found", 0.0, filtered.lost as f64, 0.0),
    ]);
    let exact = Series::new(name, hue, Origin::Exact, &x, exact);
    plot.series.extend([Series::new(name, hue, Origin::Paper, &x, paper), exact.clone()]);
    let sides = [(Origin::Simulation, simulated), (Origin::Filter, measured)];
    plot.compare(&exact, "the {} lies on the exact model", sides);
    let finding = format!(
        "{} addresses in {} bytes: {} % of absent ones are taken for present (formula {} %), no \
         member is lost.",
        power_of_ten(addresses.ilog10() as i32),
        short(filtered.bytes as f64),
        short(100.0 * false_positives.mean),
        short(100.0 * full),
    );
    Ok(Outcome {
        finding,
        notes: vec![
            "The list of 10⁹ addresses itself is run with --full; otherwise it is scaled down, \
             with the same 8 bits per address.",
        ],
        x: Axis::linear("addresses inserted"),
        y: Axis::logarithmic("false-positive rate"),
        plot,
        ..Outcome::default()
    })
}

struct Filled {
    rates: Vec<f64>,
    bytes: u64,
    false_positives: Estimate,
    lost: u64,
}

fn fill_with_addresses(context: &Context<'_>, moments: &[u64], seed: u64) -> Result<Filled, Error> {
    /// Lookups of inserted addresses, and of absent ones.
    const LOOKUPS: u64 = 1_000_000;
    let addresses = moments.last().copied().unwrap_or(0);
    let design = Design::Classical { bits: BITS_PER_ADDRESS * addresses, hashes: HASHES };
    let mut filter = Filter::new(&Parameters { keys: addresses, seed, design })?;
    let mut address = String::new();
    let mut rates = Vec::new();
    let mut inserted = 0;
    for &moment in moments {
        for index in inserted..moment {
            write_address(index, &mut address);
            filter.insert(address.as_str())?;
        }
        inserted = moment;
        rates.push(filter.statistics().expected_rate);
        (context.progress)(inserted as f64 / addresses as f64);
    }
    let mut found = |index: u64| {
        write_address(index, &mut address);
        filter.contains(address.as_str())
    };
    let step = (addresses / LOOKUPS).max(1);
    let lost = (0..addresses).step_by(step as usize).filter(|&index| !found(index)).count() as u64;
    let taken = (addresses..addresses + LOOKUPS).filter(|&index| found(index)).count() as u64;
    let expected = rates.last().copied().unwrap_or_default();
    let false_positives = Estimate::of_share(taken, LOOKUPS as f64, expected);
    Ok(Filled { rates, bytes: filter.statistics().memory.total(), false_positives, lost })
}

/// Address number `index`, about twenty characters as on the slides.
fn write_address(index: u64, address: &mut String) {
    address.clear();
    // Writing to a string cannot fail.
    let _ = write!(address, "user{index}@example.org");
}
