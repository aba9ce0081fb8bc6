//! The reasons for a plan, in sentences.

use equibloom_layout::{
    Blocks, Candidates, Design, FINGERPRINT_BLOCK_BITS, Layout, MAX_SLOTS, Rule,
};

use super::contender::Contender;
use super::requirements::{CACHE_LINE_BITS, Requirements};
use super::search::{Finding, Refusal};
use super::settle::Predicted;
use super::survey::Survey;
use crate::exact::predict;
use crate::optimum::paper_hashes;

/// One sentence for each choice, then one for each alternative.
pub(crate) fn of(requirements: &Requirements, survey: &Survey, best: &Predicted) -> Vec<String> {
    let mut reasons = vec![placement(requirements, survey, best), what_is_kept(survey, best)];
    reasons.extend(block(requirements, survey, best));
    reasons.extend(mechanism(survey, best));
    reasons.extend(hints(requirements, survey, best));
    reasons.extend(classical_formula(survey, best));
    reasons.extend(short_hash(survey, best));
    let others = survey.findings.iter().filter(|(contender, _)| *contender != best.contender());
    reasons.extend(others.map(|(contender, finding)| rejected(*contender, finding, survey, best)));
    reasons
}

fn placement(requirements: &Requirements, survey: &Survey, best: &Predicted) -> String {
    let name = best.contender();
    let Predicted { expected, .. } = best;
    let limit = survey.limits.accesses_miss;
    let rate = expected.rate;
    if requirements.placement.is_some() {
        return format!("{name} was required; its best parameters give a rate of {rate:.3e}.");
    }
    let kept = if survey.limits.multiset { " from which keys can be removed" } else { "" };
    format!(
        "{name} has the lowest rate, {rate:.3e}, of all placements{kept} with at most {limit} accesses per miss \
         in this memory; it needs {:.3}.",
        expected.accesses_miss
    )
}

fn what_is_kept(survey: &Survey, best: &Predicted) -> String {
    if let Some(Blocks::Fingerprint { slots, lists, remainder_bits, .. }) = blocks(&best.design) {
        return format!(
            "A block stores a fingerprint of each key: one of {lists} lists, and {remainder_bits} bits. With {slots} slots \
             no other division of the block gives more distinct fingerprints."
        );
    }
    let hashes = best.design.hashes();
    let textbook = paper_hashes(survey.sizing.bits_per_key());
    let why = match (&best.design, hashes < textbook) {
        (Design::Classical { .. }, false) => {
            "the best number for bits anywhere in the array".to_owned()
        }
        (Design::Classical { .. }, true) => {
            format!("fewer than the textbook's {textbook}, so that misses end within the limit")
        }
        (_, true) => format!(
            "fewer than the textbook's {textbook}, because further bits cost fuller blocks more than \
             emptier ones gain"
        ),
        (_, false) => "the number with the lowest exact rate".to_owned(),
    };
    format!("A key sets {hashes} bits: {why}.")
}

const fn blocks(design: &Design) -> Option<Blocks> {
    match design {
        Design::Classical { .. } => None,
        Design::Blocked(layout) => Some(layout.blocks),
    }
}

fn block(requirements: &Requirements, survey: &Survey, best: &Predicted) -> Option<String> {
    let blocks_of_best = blocks(&best.design)?;
    let bits = blocks_of_best.bits();
    if requirements.block_bits.is_some() {
        return Some(format!("Blocks of {bits} bits were required."));
    }
    if let Blocks::Fingerprint { .. } = blocks_of_best {
        return Some(format!("Fingerprint blocks are always cache lines of {bits} bits."));
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
        blocks(&smaller.design)?.bits(),
        smaller.expected.rate
    ))
}

/// The placement's own parameters.
fn mechanism(survey: &Survey, best: &Predicted) -> Vec<String> {
    let mut reasons = Vec::new();
    let Design::Blocked(layout) = &best.design else { return reasons };
    match (layout.blocks, layout.rule) {
        (Blocks::Fingerprint { slots, .. }, _) => reasons.push(format!(
            "Blocks have {slots} slots: with fewer, fingerprints would be longer, but more entries would be sent on. \
             A full block keeps its largest entries; its watermark, the largest byte that it has sent on, ends a \
             lookup above it: a miss reads {:.3} blocks.",
            best.expected.accesses_miss
        )),
        (_, Rule::FirstWithRoom { below, coin }) => reasons.push(format!(
            "Blocks admit keys up to a load of {below} (and one more with probability {:.3}): lower thresholds \
             level the blocks better, but cost accesses per miss and room for overflow.",
            coin.get()
        )),
        _ => {}
    }
    if layout.rule != Rule::LeastLoaded {
        let share = best.expected.overflow_fraction;
        reasons.push(format!(
            "The overflow list has room for {} keys: {:.0} are expected ({:.3} % of all), plus six standard deviations.",
            layout.overflow.capacity,
            share * survey.sizing.keys as f64,
            100.0 * share
        ));
    }
    match (&layout.candidates, layout.rule) {
        (Candidates::Subtables { sizes }, _) => {
            let all = layout.candidates.blocks() as f64;
            let percent: Vec<String> =
                sizes.iter().map(|&size| format!("{:.2} %", 100.0 * size as f64 / all)).collect();
            reasons.push(format!(
                "{} subtables share the blocks ({}): each takes what the one before it {}.",
                sizes.len(),
                percent.join(", "),
                if layout.rule == Rule::KeepLargest { "sends on" } else { "rejects" }
            ));
        }
        (Candidates::Anywhere { choices: 2.., .. }, Rule::FirstWithRoom { .. }) => {
            reasons.push(format!(
                "A key may go to {} blocks, tried in order; no access budget is needed to meet the limits.",
                layout.candidates.choices()
            ));
        }
        (Candidates::Anywhere { share, .. }, _) if !share.is_all() => reasons.push(format!(
            "A share of {:.3} of the keys has a second choice: the best share that the accesses allow.",
            share.get()
        )),
        _ => {}
    }
    reasons
}

/// What hints are for, and what removal costs.
fn hints(requirements: &Requirements, survey: &Survey, best: &Predicted) -> Vec<String> {
    let mut reasons = Vec::new();
    let Design::Blocked(layout) = &best.design else { return reasons };
    let (hints, miss) = (layout.blocks.hints(), best.expected.accesses_miss);
    if hints > 0 && layout.candidates.choices() > 1 {
        let required = if requirements.hints.is_some() { ", as required" } else { "" };
        let without = Layout { blocks: layout.blocks.with_hints(0), ..*layout };
        let by_load = predict(&without.into(), survey.sizing.keys).map_or_else(
            |_| String::new(),
            |without| format!(" instead of {:.3} by the load alone", without.accesses_miss),
        );
        reasons.push(format!(
            "Each block has {hints} hint bits{required}, which tell a lookup whether a key with the same hint was \
             rejected: a miss reads {miss:.3} blocks{by_load}."
        ));
    }
    if layout.multiset {
        reasons.push(
            "Every insert is stored, even of a key that is present, so that keys can be removed; Bloom blocks cannot do that. \
             Subtables and list have room for all keys to be replaced any number of times; watermarks never fall, so \
             that a miss then reads up to twice as many blocks and the rate is half again as high."
                .to_owned(),
        );
    }
    reasons
}

/// The rate that a calculator for classical filters would give.
fn classical_formula(survey: &Survey, best: &Predicted) -> Option<String> {
    let Some(Blocks::Bloom { hashes, .. }) = blocks(&best.design) else { return None };
    let bits = survey.sizing.classical_bits().ok()?;
    let formula = predict(&Design::Classical { bits, hashes }, survey.sizing.keys).ok()?.rate;
    Some(format!(
        "The classical formula would promise {formula:.3e} for this many bits and hash functions; it does \
         not hold for blocks and is not used here."
    ))
}

/// A 64-bit hash supplied by the user may limit the rate.
fn short_hash(survey: &Survey, best: &Predicted) -> Option<String> {
    let floor = survey.sizing.keys as f64 * 0.5_f64.powi(64);
    (floor > 0.01 * best.expected.rate).then(|| {
        format!("With a hash of 64 bits instead of 128 the rate could not fall below keys/2^64 = {floor:.1e}.")
    })
}

fn rejected(name: Contender, finding: &Finding, survey: &Survey, best: &Predicted) -> String {
    let limits = &survey.limits;
    match finding {
        Ok(other) => {
            let times = other.expected.rate / best.expected.rate;
            let (rate, miss) = (other.expected.rate, other.expected.accesses_miss);
            let why = match (blocks(&other.design), blocks(&best.design)) {
                (Some(Blocks::Fingerprint { .. }), Some(Blocks::Fingerprint { .. })) => {
                    String::new()
                }
                (Some(Blocks::Fingerprint { slots, remainder_bits, .. }), _) => {
                    format!("; {slots} slots leave only {remainder_bits} bits per remainder")
                }
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
            "Not {name}: a second choice for only {alpha:.3} of the keys multiplies the rate of the blocked filter \
             by {factor:.3}, because every second block read may match, too."
        ),
        Err(Refusal::CacheLinesOnly) => format!(
            "Not {name}: its blocks are cache lines of {FINGERPRINT_BLOCK_BITS} bits, not of {}.",
            limits.block_bits
        ),
        Err(Refusal::TooManyKeysABlock { load }) => format!(
            "Not {name}: {load:.0} keys come to a block, which has at most {MAX_SLOTS} slots; \
             fingerprints pay from about 9 bits per key on."
        ),
        Err(Refusal::Limits) => {
            format!("Not {name}: no parameters meet the limits on accesses and overflow.")
        }
        Err(Refusal::Impossible(error)) => format!("Not {name}: {error}."),
    }
}
