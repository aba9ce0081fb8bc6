//! Why a plan is as it is, in sentences.

use super::block_kind::BlockKind;
use super::contender::Contender;
use super::fingerprint_table::{FingerprintBlocks, Route};
use super::layout::Layout;
use super::search::{Finding, Refusal};
use super::settle::Candidate;
use super::survey::Survey;
use super::wishes::{CACHE_LINE_BITS, Wishes};
use crate::exact::{ClassicalMachine, FINGERPRINT_BLOCK_BITS, MOST_SLOTS};
use crate::optimum::paper_hashes;

/// One sentence for each choice, then one for each alternative.
pub(crate) fn of(wishes: &Wishes, survey: &Survey, best: &Candidate) -> Vec<String> {
    let mut reasons = vec![placement(wishes, survey, best), what_is_kept(survey, best)];
    reasons.extend(block(wishes, survey, best));
    reasons.extend(mechanism(survey, best));
    reasons.extend(hints(wishes, survey, best));
    reasons.extend(classical_formula(survey, best));
    reasons.extend(short_hash(survey, best));
    let others = survey.findings.iter().filter(|(who, _)| *who != best.contender());
    reasons.extend(others.map(|(who, finding)| rejected(*who, finding, survey, best)));
    reasons
}

fn placement(wishes: &Wishes, survey: &Survey, best: &Candidate) -> String {
    let name = best.contender();
    let Candidate { expected, .. } = best;
    let limit = survey.limits.accesses_miss;
    let rate = expected.rate;
    if wishes.placement.is_some() {
        return format!("{name} was asked for; its best parameters give a rate of {rate:.3e}.");
    }
    let kept = if survey.limits.multiset { " from which keys can be removed" } else { "" };
    format!(
        "{name} has the lowest rate, {rate:.3e}, of all placements{kept} with at most {limit} accesses per miss \
         in this memory; it needs {:.3}.",
        expected.accesses_miss
    )
}

fn what_is_kept(survey: &Survey, best: &Candidate) -> String {
    if let Layout::Fingerprint { blocks, .. } = &best.layout {
        let FingerprintBlocks { slots, lists, remainder_bits, .. } = blocks;
        return format!(
            "A block keeps of each key a fingerprint: which of {lists} lists it is in, and {remainder_bits} bits; \
             beside {slots} slots no other division of the block into lists and bits tells more keys apart."
        );
    }
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
    let (_, bits) = best.layout.table()?;
    if wishes.block_bits.is_some() {
        return Some(format!("Blocks of {bits} bits were asked for."));
    }
    if best.layout.block_kind() == Some(BlockKind::Fingerprint) {
        return Some(format!("Blocks of fingerprints are cache lines, {bits} bits, always."));
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
        reasons.push(match best.layout.block_kind() {
            Some(BlockKind::Fingerprint) => format!(
                "Blocks have {} slots: with fewer, fingerprints would be longer, but more keys would be turned away.",
                threshold.load
            ),
            _ => format!(
                "Blocks take keys up to a load of {} (and one more with probability {:.3}): lower thresholds \
                 level the blocks better, but cost accesses per miss and room for overflow.",
                threshold.load, threshold.probability
            ),
        });
        let mean = expected.overflow_fraction * survey.sizing.keys as f64;
        reasons.push(format!(
            "The overflow list has room for {capacity} keys: {mean:.0} are expected \
             ({:.3} % of all), and six standard deviations are for chance.",
            100.0 * expected.overflow_fraction
        ));
    }
    match &best.layout {
        Layout::MultiLevel { subtables, .. }
        | Layout::Fingerprint { route: Route::MultiLevel { subtables }, .. } => {
            let all = subtables.iter().sum::<u64>() as f64;
            let percent: Vec<String> = subtables
                .iter()
                .map(|&size| format!("{:.2} %", 100.0 * size as f64 / all))
                .collect();
            reasons.push(format!(
                "{} subtables share the blocks ({}): each takes what the one before it turned away.",
                subtables.len(),
                percent.join(", ")
            ));
        }
        Layout::Sequential { choices, .. }
        | Layout::Fingerprint { route: Route::Sequential { choices, .. }, .. } => reasons.push(format!(
            "A key may go to {choices} blocks, tried in order; no access budget is needed to keep to the limits."
        )),
        Layout::OnePlusAlpha { alpha, .. } => reasons.push(format!(
            "A share of {alpha:.3} of the keys has a second choice: the best share that the accesses allow."
        )),
        _ => {}
    }
    reasons
}

/// What hints are for, and what removal costs.
fn hints(wishes: &Wishes, survey: &Survey, best: &Candidate) -> Vec<String> {
    let mut reasons = Vec::new();
    let (hints, miss) = (best.layout.hints(), best.expected.accesses_miss);
    if hints > 0 && best.layout.most_accesses() > 1 {
        let asked = if wishes.hints.is_some() { ", as asked for" } else { "" };
        let by_load = best.layout.clone().with_hints(0).predict(survey.sizing.keys);
        let by_load = by_load.map_or_else(
            |_| String::new(),
            |without| format!(" instead of {:.3} by the load alone", without.accesses_miss),
        );
        reasons.push(format!(
            "Each block has {hints} hint bits{asked}, which tell a lookup whether anybody like it was turned away: a \
             miss reads {miss:.3} blocks{by_load}."
        ));
    }
    if let Layout::Fingerprint { multiset: true, .. } = best.layout {
        reasons.push(
            "Every insert is stored, known or not, so that keys can be removed; Bloom blocks cannot do that."
                .to_owned(),
        );
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

fn rejected(name: Contender, finding: &Finding, survey: &Survey, best: &Candidate) -> String {
    let limits = &survey.limits;
    match finding {
        Ok(other) => {
            let times = other.expected.rate / best.expected.rate;
            let (rate, miss) = (other.expected.rate, other.expected.accesses_miss);
            let why = match (&other.layout, &best.layout) {
                (Layout::Fingerprint { .. }, Layout::Fingerprint { .. }) => String::new(),
                (Layout::Fingerprint { blocks, .. }, _) => format!(
                    "; {} bits of remainder are all that {} slots leave at so few bits per key",
                    blocks.remainder_bits, blocks.slots
                ),
                _ => String::new(),
            };
            format!(
                "Not {name}: rate {rate:.3e}, {times:.2} times as high, at {miss:.3} accesses per miss{why}."
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
        Err(Refusal::CacheLinesOnly) => format!(
            "Not {name}: its blocks are cache lines of {FINGERPRINT_BLOCK_BITS} bits, not of {}.",
            limits.block_bits
        ),
        Err(Refusal::NotRemovable) => format!(
            "Not {name}: keys could not be removed from it, because two that look alike in one block may have come \
             there after different numbers of tries."
        ),
        Err(Refusal::TooManyKeysABlock { load }) => format!(
            "Not {name}: at so few bits per key {load:.0} keys come to a block, which has {MOST_SLOTS} slots at \
             most; fingerprints pay from about 10 bits per key on."
        ),
        Err(Refusal::Limits) => {
            format!("Not {name}: no parameters keep to the limits on accesses and overflow.")
        }
        Err(Refusal::Impossible(error)) => format!("Not {name}: {error}."),
    }
}
