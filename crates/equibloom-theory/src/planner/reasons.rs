//! The reasons for a plan, in sentences.

use equibloom_layout::{
    BlockKind, Blocks, Candidates, Design, FINGERPRINT_BLOCK_BITS, Layout, MAX_SLOTS, Rule,
    WhenFull,
};

use super::Plan;
use super::contender::Contender;
use super::requirements::{CACHE_LINE_BITS, LOWEST_RATE, Limits};
use super::search::{Finding, Refusal};
use super::survey::Survey;
use crate::exact::predict;
use crate::optimum::paper_hashes;

/// Lower rates are only said to be lower.
const LEAST_RATE: f64 = 1e-20;

/// One sentence for each choice.
pub(super) fn of(plan: &Plan) -> Vec<String> {
    let mut reasons = vec![placement(plan), what_is_kept(plan)];
    reasons.extend(headroom(plan));
    reasons.extend(block(plan));
    reasons.extend(mechanism(plan));
    reasons.extend(hints(plan));
    reasons.extend(classical_formula(plan));
    reasons.extend(growth(plan));
    reasons.extend(short_hash(plan));
    reasons
}

/// One sentence for each alternative.
pub(super) fn against_others(plan: &Plan) -> Vec<String> {
    let Ok(survey) = Survey::new(&plan.requirements) else { return Vec::new() };
    let chosen = contender(plan);
    let others = survey
        .findings(plan.sizing(), plan.expected.rate)
        .into_iter()
        .filter(|(other, _)| *other != chosen);
    let mut reasons: Vec<String> =
        others.map(|(other, finding)| rejected(other, &finding, plan)).collect();
    reasons.extend(smaller_blocks(plan));
    reasons
}

pub(super) const fn contender(plan: &Plan) -> Contender {
    Contender { placement: plan.design.placement(), block: plan.design.block_kind() }
}

fn placement(plan: &Plan) -> String {
    let (name, Plan { expected, requirements, .. }) = (contender(plan), plan);
    let rate = expected.rate;
    if requirements.placement.is_some() {
        return format!("{name} was required; its best parameters give a rate of {}.", shown(rate));
    }
    let Limits { accesses_miss, one_by_one, multiset, .. } = requirements.limits();
    let kept = if multiset { " from which keys can be removed" } else { "" };
    let low = if one_by_one { "a low rate and fast lookups" } else { "the lowest rate" };
    let given_up = if one_by_one {
        " For lookups one by one up to a quarter more false positives are accepted if a miss costs at least a tenth less."
    } else {
        ""
    };
    format!(
        "{name} has {low}, {}, of all placements{kept} with at most {accesses_miss} accesses per miss in this \
         memory; it needs {:.3}.{given_up}",
        shown(rate),
        expected.accesses_miss
    )
}

/// The keys that are planned for beyond those that were said.
fn headroom(plan: &Plan) -> Option<String> {
    let share = plan.requirements.headroom.filter(|&share| share > 0.0)?;
    let (said, percent) = (plan.keys as f64 / (1.0 + share), (1e5 * share).round() / 1e3);
    Some(format!("It has this rate with {said:.0} keys and {percent} % more."))
}

/// The part for keys beyond the plan.
fn growth(plan: &Plan) -> Option<String> {
    let WhenFull::Grow { rate_bits } = plan.design.overflow().when_full else { return None };
    let both =
        plan.expected.rate + plan.rate_floor + plan.design.overflow().when_full.growth_rate();
    Some(format!(
        "Keys beyond these go to a second part, which grows and has a rate of at most 2^-{rate_bits}: whatever their number, \
         both parts together have at most {}.",
        shown(both)
    ))
}

fn what_is_kept(plan: &Plan) -> String {
    if let Some(Blocks::Fingerprint { slots, lists, remainder_bits, .. }) = blocks(&plan.design) {
        return format!(
            "A block stores a fingerprint of each key: one of {lists} lists, and {remainder_bits} bits. With {slots} slots \
             no other division of the block gives more distinct fingerprints."
        );
    }
    if let Design::List { overflow, .. } = plan.design {
        return format!(
            "The list stores 64 bits of each key's hash and has room for {} keys: so few take less memory there than in \
             blocks of this rate.",
            overflow.capacity
        );
    }
    let hashes = plan.design.hashes();
    let textbook = paper_hashes(plan.sizing().bits_per_key());
    let why = match (&plan.design, hashes < textbook) {
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
        Design::Blocked(layout) => Some(layout.blocks),
        Design::Classical { .. } | Design::List { .. } => None,
    }
}

fn block(plan: &Plan) -> Option<String> {
    let kind = blocks(&plan.design)?;
    let bits = kind.bits();
    Some(if plan.requirements.block_bits.is_some() {
        let size = FINGERPRINT_BLOCK_BITS;
        let excludes = if bits == size {
            String::new()
        } else {
            format!("; of fingerprints they always have {size}")
        };
        format!("Blocks of {bits} bits were required{excludes}.")
    } else if let Blocks::Fingerprint { .. } = kind {
        format!("Fingerprint blocks are always cache lines of {bits} bits.")
    } else {
        format!("Blocks of {bits} bits are cache lines, so that an access touches one line.")
    })
}

/// Bloom blocks of half a cache line, if the size is open.
fn smaller_blocks(plan: &Plan) -> Option<String> {
    let is_bloom = plan.design.block_kind() == Some(BlockKind::Bloom);
    if !is_bloom || plan.requirements.block_bits.is_some() {
        return None;
    }
    let block_bits = CACHE_LINE_BITS / 2;
    let limits = Limits { block_bits, ..plan.requirements.limits() };
    let smaller = Survey::within(limits, vec![contender(plan)]).best(plan.sizing())?;
    Some(format!(
        "Not blocks of {block_bits} bits, which spread the keys less evenly: rate {}.",
        shown(smaller.expected.rate)
    ))
}

/// The placement's own parameters.
fn mechanism(plan: &Plan) -> Vec<String> {
    let mut reasons = Vec::new();
    let Design::Blocked(layout) = &plan.design else { return reasons };
    match (layout.blocks, layout.rule) {
        (Blocks::Fingerprint { slots, .. }, _) => reasons.push(format!(
            "Blocks have {slots} slots: with fewer, fingerprints would be longer, but more entries would be sent on. \
             A full block keeps its largest entries; its watermark, the largest byte that it has sent on, ends a \
             lookup above it: a miss reads {:.3} blocks.",
            plan.expected.accesses_miss
        )),
        (_, Rule::FirstWithRoom { below, coin }) => reasons.push(format!(
            "Blocks admit keys up to a load of {below} (and one more with probability {:.3}): lower thresholds \
             level the blocks better, but cost accesses per miss and room for overflow.",
            coin.get()
        )),
        _ => {}
    }
    if layout.rule != Rule::LeastLoaded {
        let share = plan.expected.overflow_fraction;
        let room = if layout.overflow.when_full == WhenFull::Refuse {
            "it is full before all keys are stored with a probability below 1e-9"
        } else {
            "plus six standard deviations"
        };
        reasons.push(format!(
            "The overflow list has room for {} keys: {:.0} are expected ({:.3} % of all), {room}.",
            layout.overflow.capacity,
            share * plan.keys as f64,
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
fn hints(plan: &Plan) -> Vec<String> {
    let mut reasons = Vec::new();
    let Design::Blocked(layout) = &plan.design else { return reasons };
    let (hints, miss) = (layout.blocks.hints(), plan.expected.accesses_miss);
    if hints > 0 && layout.candidates.choices() > 1 {
        let required = if plan.requirements.hints.is_some() { ", as required" } else { "" };
        let without = Layout { blocks: layout.blocks.with_hints(0), ..*layout };
        let by_load = predict(&without.into(), plan.keys).map_or_else(
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
fn classical_formula(plan: &Plan) -> Option<String> {
    let Some(Blocks::Bloom { hashes, .. }) = blocks(&plan.design) else { return None };
    let bits = plan.sizing().classical_bits().ok()?;
    let formula = predict(&Design::Classical { bits, hashes }, plan.keys).ok()?.rate;
    Some(format!(
        "The classical formula would promise {} for this many bits and hash functions; it does \
         not hold for blocks and is not used here.",
        shown(formula)
    ))
}

/// A 64-bit hash supplied by the user may limit the rate.
fn short_hash(plan: &Plan) -> Option<String> {
    let floor = plan.keys as f64 * 0.5_f64.powi(64);
    (floor > 0.01 * plan.expected.rate).then(|| {
        format!("With a hash of 64 bits instead of 128 the rate could not fall below keys/2^64 = {floor:.1e}.")
    })
}

/// A rate. Far below the chance that two keys have one hash, its digits say nothing.
fn shown(rate: f64) -> String {
    if rate < LEAST_RATE { format!("below {LEAST_RATE:e}") } else { format!("{rate:.3e}") }
}

/// A rate, and how many times as high as the plan's it is.
fn compared(rate: f64, plan: &Plan) -> String {
    let (chosen, shown) = (plan.expected.rate, shown(rate));
    if chosen < LEAST_RATE {
        return shown;
    }
    format!("{shown}, {:.2} times as high", rate / chosen)
}

fn rejected(name: Contender, finding: &Finding, plan: &Plan) -> String {
    let limits = plan.requirements.limits();
    match finding {
        Ok(other) => {
            let rate = compared(other.expected.rate, plan);
            let miss = other.expected.accesses_miss;
            let why = match (blocks(&other.design), blocks(&plan.design)) {
                (Some(Blocks::Fingerprint { .. }), Some(Blocks::Fingerprint { .. })) => {
                    String::new()
                }
                (Some(Blocks::Fingerprint { slots, remainder_bits, .. }), _) => {
                    format!("; {slots} slots leave only {remainder_bits} bits per remainder")
                }
                _ => String::new(),
            };
            format!("Not {name}: rate {rate}, at {miss:.3} accesses per miss{why}.")
        }
        Err(Refusal::AccessesPerMiss { accesses }) => format!(
            "Not {name}: a miss reads {accesses:.3}, above the limit of {}.",
            limits.accesses_miss
        ),
        Err(Refusal::SecondBlock) => format!(
            "Not {name}: it needs a second block, which {} accesses per miss do not allow.",
            limits.accesses_miss
        ),
        Err(Refusal::SecondChoicesDoNotPay { gain }) => format!(
            "Not {name}: equally full blocks would lower the rate of the blocked filter by at most {:.1} %, and every \
             second block that is read may match, too.",
            100.0 * gain / (1.0 + gain)
        ),
        Err(Refusal::EvenBlocks { rate }) => format!(
            "Not {name}: even if all its blocks were equally full its rate would be {}.",
            compared(*rate, plan)
        ),
        Err(Refusal::LowEnough) => {
            format!("Not {name}: a rate below {LOWEST_RATE:e} need not be lower.")
        }
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
