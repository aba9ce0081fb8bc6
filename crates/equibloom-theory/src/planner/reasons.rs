//! Why a plan is as it is, in sentences.

use super::layout::Layout;
use super::placement::PlacementName;
use super::search::{Finding, Refusal};
use super::settle::Candidate;
use super::survey::Survey;
use super::wishes::{CACHE_LINE_BITS, Wishes};
use crate::exact::ClassicalMachine;
use crate::paper::paper_hashes;

/// One sentence for each choice, then one for each alternative.
pub(crate) fn of(wishes: &Wishes, survey: &Survey, best: &Candidate) -> Vec<String> {
    let mut reasons = vec![placement(wishes, survey, best), hashes(survey, best)];
    reasons.extend(block(wishes, survey, best));
    reasons.extend(mechanism(survey, best));
    reasons.extend(classical_formula(survey, best));
    reasons.extend(short_hash(survey, best));
    let others = survey.findings.iter().filter(|(name, _)| *name != best.layout.placement());
    reasons.extend(others.map(|(name, finding)| rejected(*name, finding, survey, best)));
    reasons
}

fn placement(wishes: &Wishes, survey: &Survey, best: &Candidate) -> String {
    let name = best.layout.placement();
    let Candidate { expected, .. } = best;
    let limit = survey.limits.accesses_miss;
    let rate = expected.rate;
    if wishes.placement.is_some() {
        return format!("{name} was asked for; its best parameters give a rate of {rate:.3e}.");
    }
    format!(
        "{name} has the lowest rate, {rate:.3e}, of all placements with at most {limit} accesses per miss in \
         this memory; it needs {:.3}.",
        expected.accesses_miss
    )
}

fn hashes(survey: &Survey, best: &Candidate) -> String {
    let hashes = best.layout.hashes();
    let textbook = paper_hashes(survey.sizing.bits_per_key());
    let why = match (&best.layout, hashes < textbook) {
        (Layout::Classical { .. }, false) => {
            "the best number for bits that lie anywhere".to_owned()
        }
        (Layout::Classical { .. }, true) => {
            format!("fewer than the textbook's {textbook}, so that misses end within the limit")
        }
        (_, true) => format!(
            "fewer than the textbook's {textbook}, because blocks that are fuller than others suffer more \
             from further bits than emptier ones gain"
        ),
        (_, false) => "the number with the lowest exact rate".to_owned(),
    };
    format!("A key sets {hashes} bits: {why}.")
}

fn block(wishes: &Wishes, survey: &Survey, best: &Candidate) -> Option<String> {
    let blocks = best.layout.blocks()?;
    let bits = blocks.bits;
    if wishes.block_bits.is_some() {
        return Some(format!("Blocks of {bits} bits were asked for."));
    }
    if bits != CACHE_LINE_BITS {
        return Some(format!(
            "Blocks of {bits} bits have a lower rate here than whole cache lines."
        ));
    }
    let smaller = survey.smaller_blocks.as_ref()?;
    Some(format!(
        "Blocks of {bits} bits are cache lines, so that an access touches one line; with {} bits, which \
         spread the keys less evenly, the rate would be {:.3e}.",
        smaller.layout.blocks()?.bits,
        smaller.expected.rate
    ))
}

/// The placement's own parameters.
fn mechanism(survey: &Survey, best: &Candidate) -> Vec<String> {
    let mut reasons = Vec::new();
    let expected = &best.expected;
    if let Some((threshold, capacity)) = best.layout.threshold() {
        reasons.push(format!(
            "Blocks take keys up to a load of {} (and one more with probability {:.3}): lower thresholds \
             level the blocks better, but cost accesses per miss and room for overflow.",
            threshold.load, threshold.probability
        ));
        let mean = expected.overflow_fraction * survey.sizing.keys as f64;
        reasons.push(format!(
            "The overflow list has room for {capacity} keys: {mean:.0} are expected \
             ({:.3} % of all), and six standard deviations are for chance.",
            100.0 * expected.overflow_fraction
        ));
    }
    match &best.layout {
        Layout::MultiLevel { blocks, subtables, .. } => {
            let percent: Vec<String> = subtables
                .iter()
                .map(|&size| format!("{:.1} %", 100.0 * size as f64 / blocks.count as f64))
                .collect();
            reasons.push(format!(
                "{} subtables share the blocks ({}): each takes what the one before it turned away.",
                subtables.len(),
                percent.join(", ")
            ));
        }
        Layout::Sequential { choices, .. } => reasons.push(format!(
            "A key may go to {choices} blocks, tried in order; no access budget is needed to keep to the limits."
        )),
        Layout::OnePlusAlpha { alpha, .. } => reasons.push(format!(
            "A share of {alpha:.3} of the keys has a second choice: the best share that the accesses allow."
        )),
        _ => {}
    }
    reasons
}

/// What a calculator for classical filters would have promised.
fn classical_formula(survey: &Survey, best: &Candidate) -> Option<String> {
    best.layout.blocks()?;
    let bits = survey.sizing.classical_bits().ok()?;
    let keys = survey.sizing.keys;
    let hashes = best.layout.hashes();
    let formula = ClassicalMachine { keys, bits, hashes }.predict().ok()?.rate;
    Some(format!(
        "The classical formula would promise {formula:.3e} for so many bits and hash functions; it does not \
         hold for blocks, and nothing here rests on it."
    ))
}

/// A user's own 64-bit hash may be what limits the rate.
fn short_hash(survey: &Survey, best: &Candidate) -> Option<String> {
    let floor = survey.sizing.keys as f64 * 0.5_f64.powi(64);
    (floor > 0.01 * best.expected.rate).then(|| {
        format!("With a hash of 64 bits instead of 128 the rate could not fall below keys/2^64 = {floor:.1e}.")
    })
}

fn rejected(name: PlacementName, finding: &Finding, survey: &Survey, best: &Candidate) -> String {
    let limits = &survey.limits;
    match finding {
        Ok(other) => {
            let times = other.expected.rate / best.expected.rate;
            let (rate, miss) = (other.expected.rate, other.expected.accesses_miss);
            format!(
                "Not {name}: rate {rate:.3e}, {times:.2} times as high, at {miss:.3} accesses per miss."
            )
        }
        Err(Refusal::AccessesPerMiss(other)) => format!(
            "Not {name}: a miss reads {:.3}, above the limit of {}; its rate would be {:.3e}, and an insert reads \
             {:.2}.",
            other.expected.accesses_miss,
            limits.accesses_miss,
            other.expected.rate,
            other.expected.accesses_insert
        ),
        Err(Refusal::SecondBlock) => format!(
            "Not {name}: it needs a second block, which {} accesses per miss do not allow.",
            limits.accesses_miss
        ),
        Err(Refusal::SecondChoicesDoNotPay { alpha, factor }) => format!(
            "Not {name}: already {alpha:.3} of the keys with a second choice raise the rate of the blocked filter \
             {factor:.3} times, because every second block read is a second chance to be wrong."
        ),
        Err(Refusal::Limits) => {
            format!("Not {name}: no parameters keep to the limits on accesses and overflow.")
        }
        Err(Refusal::Impossible(error)) => format!("Not {name}: {error}."),
    }
}
