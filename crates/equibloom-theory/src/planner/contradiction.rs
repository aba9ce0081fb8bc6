//! When the requirements cannot be met together: which one to relax, and by how much.

use equibloom_layout::{FINGERPRINT_BLOCK_BITS, MAX_SLOTS, Placement};

use super::Plan;
use super::memory::{MOST_BYTES, Sizing};
use super::reasons::contender;
use super::requirements::{CACHE_LINE_BITS, Limits, Requirements};
use super::search::Refusal;
use super::sizes::{Known, reach};
use super::survey::Survey;
use crate::error::Error;
use crate::exact::Prediction;

/// No remaining placement meets the limits, or the memory is too small for any.
pub(crate) fn nothing_fits(requirements: &Requirements, survey: &Survey, sizing: Sizing) -> Error {
    let refusals: Vec<Refusal> = survey
        .findings(sizing, f64::INFINITY)
        .into_iter()
        .filter_map(|(_, finding)| finding.err())
        .collect();
    // The error for too little memory already names a sufficient value.
    let impossible = refusals.iter().find_map(|refusal| match refusal {
        Refusal::Impossible(error @ Error::OutOfRange { .. }) => Some(error.clone()),
        _ => None,
    });
    let Survey { limits, contenders, .. } = survey;
    let no_filter = Error::Contradiction {
        conflict: format!("{} bytes hold no filter", sizing.bytes),
        remedies: vec!["give more memory".to_owned()],
    };
    let [only, ..] = contenders[..] else { return no_filter };
    if requirements.leave_blocks_open() {
        return impossible.unwrap_or(no_filter);
    }
    if let Some(Refusal::TooManyKeysABlock { load }) = refusals.first() {
        return too_many_keys(*load, sizing);
    }
    let mut remedies = Vec::new();
    let best_within = |limits: Limits| Survey::within(limits, contenders.clone()).best(sizing);
    let mut raise = |what: &str, limit: f64, needed: f64| {
        if needed > limit {
            remedies.push(format!("raise {what} from {limit} to {:.3}", needed + 5e-4));
        }
    };
    if let Some(best) = best_within(Limits { accesses_miss: f64::INFINITY, ..*limits }) {
        raise("accesses_miss", limits.accesses_miss, best.expected.accesses_miss);
    }
    let free = Limits { accesses_insert: f64::INFINITY, overflow: 1.0, ..*limits };
    if let Some(best) = best_within(free) {
        raise("accesses_insert", limits.accesses_insert, best.expected.accesses_insert);
        let overflow = best.expected.overflow_fraction;
        if overflow > limits.overflow {
            let (from, to) = (limits.overflow, rounded_up(overflow));
            remedies.push(format!("raise overflow from {from} to {to}"));
        }
    }
    let needed = most_accesses_needed(only.placement);
    if limits.choices < needed {
        remedies.push(format!("raise choices from {} to {needed}", limits.choices));
    }
    if remedies.is_empty()
        && let Some(impossible) = impossible
    {
        return impossible;
    }
    remedies.push(match requirements.placement {
        Some(_) => "leave the placement to the planner".to_owned(),
        None => "leave blocks and hints to the planner".to_owned(),
    });
    let names: Vec<String> = contenders.iter().map(ToString::to_string).collect();
    let verb = if names.len() == 1 { "does not meet" } else { "do not meet" };
    Error::Contradiction { conflict: format!("{} {verb} the limits", names.join(", ")), remedies }
}

/// Only fingerprint blocks remain, and too many keys would come to each.
fn too_many_keys(load: f64, sizing: Sizing) -> Error {
    let bits = f64::from(FINGERPRINT_BLOCK_BITS) / f64::from(MAX_SLOTS);
    // One block in eight stays empty, so that keys find room.
    let bytes = 1.125 * bits * sizing.keys as f64 / 8.0;
    Error::Contradiction {
        conflict: format!(
            "{load:.0} keys would come to a block of fingerprints, which has {MAX_SLOTS} slots at most"
        ),
        remedies: vec![format!("raise memory to about {bytes:.0} bytes")],
    }
}

fn most_accesses_needed(placement: Placement) -> u32 {
    match placement {
        Placement::Blocked | Placement::Single => 1,
        _ => 2,
    }
}

/// The memory is given and the best filter in it has too high a rate.
pub(crate) fn rate_out_of_reach(
    requirements: &Requirements,
    survey: &Survey,
    sizing: Sizing,
    rate: f64,
) -> Error {
    let mut remedies = Vec::new();
    let floor = requirements.rate_floor(sizing.keys);
    let reached = survey.best(sizing).map(|best| best.expected.rate + floor);
    remedies.extend(reached.and_then(|reached| raise_rate(requirements, reached)));
    if let Ok((enough, _)) = reach(requirements, survey, rate, Known::Keys(sizing.keys)) {
        let (bytes, bits) = (enough.bytes, enough.bits_per_key());
        remedies.push(format!("raise memory to {bytes} bytes ({bits:.2} bits per key)"));
    }
    if let Ok((fewer, _)) = reach(requirements, survey, rate, Known::Memory(sizing.bytes))
        && fewer.keys < sizing.keys
    {
        remedies.push(format!("lower keys to {}", fewer.keys));
    }
    let conflict = format!(
        "{} keys in {} bytes ({:.2} bits per key) with at most {} accesses per miss do not reach a rate of {:e}",
        sizing.keys,
        sizing.bytes,
        sizing.bits_per_key(),
        survey.limits.accesses_miss,
        requirements.rate.unwrap_or(rate)
    );
    // No set of so few bits has this rate.
    if sizing.bits_per_key() < -rate.log2() {
        return Error::Contradiction { conflict, remedies };
    }
    // The accesses per miss at which the rate is possible.
    let Survey { limits, contenders, .. } = survey;
    let free = Limits { accesses_miss: 3.0, ..*limits };
    let wider = Survey::within(free, contenders.clone()).findings(sizing, f64::INFINITY);
    let enough = wider
        .into_iter()
        .filter_map(|(contender, finding)| Some((contender, finding.ok()?.expected)));
    let enough = enough.filter(|(_, expected)| expected.rate + floor <= rate);
    let accesses = |expected: &Prediction| expected.accesses_miss;
    let least = enough.min_by(|(_, a), (_, b)| accesses(a).total_cmp(&accesses(b)));
    if let Some((contender, expected)) = least
        && expected.accesses_miss > limits.accesses_miss
    {
        let accesses = expected.accesses_miss + 5e-4;
        remedies.push(format!("raise accesses_miss to {accesses:.3} ({contender})"));
    }
    Error::Contradiction { conflict, remedies }
}

/// The rate stays above the required one in any memory, or with any number of keys.
pub(crate) fn no_size_is_enough(
    requirements: &Requirements,
    survey: &Survey,
    known: Known,
    sizing: Sizing,
    rate: f64,
) -> Error {
    let keys = sizing.keys;
    let floor = requirements.rate_floor(keys);
    let required = requirements.rate.unwrap_or(rate);
    if floor >= rate {
        let conflict =
            format!("the hash alone gives {keys} keys a rate of {floor:.1e}, above {required:e}");
        let remedies =
            vec!["use the library's hash of 128 bits".to_owned(), "raise rate".to_owned()];
        return Error::Contradiction { conflict, remedies };
    }
    let mut conflict =
        format!("no memory is enough for a rate of {required:e} within these limits");
    let mut remedies = Vec::new();
    match known {
        Known::Keys(_) if sizing.bytes == MOST_BYTES => {
            conflict =
                format!("{keys} keys at a rate of {required:e} need more than {MOST_BYTES} bytes");
            if let Ok((fewer, _)) = reach(requirements, survey, rate, Known::Memory(MOST_BYTES)) {
                remedies.push(format!("lower keys to {}", fewer.keys));
            }
        }
        Known::Keys(_) => {}
        Known::Memory(bytes) => {
            conflict = format!("{bytes} bytes hold not even one key at a rate of {required:e}");
            if let Ok((one, _)) = reach(requirements, survey, rate, Known::Keys(1)) {
                remedies.push(format!("raise memory to {} bytes", one.bytes));
            }
        }
    }
    let reached = survey.best(sizing).map(|best| best.expected.rate + floor);
    remedies.extend(
        reached
            .filter(|&reached| reached > rate)
            .and_then(|reached| raise_rate(requirements, reached)),
    );
    if remedies.is_empty() {
        remedies
            .push("raise rate, or relax the limits on accesses, choices and overflow".to_owned());
    }
    Error::Contradiction { conflict, remedies }
}

/// Blocks of more than a cache line cost more lines than allowed.
pub(crate) fn too_many_lines(plan: &Plan) -> Option<Error> {
    let Requirements { lines_miss, lines_insert, block_bits, .. } = plan.requirements;
    let limits = [
        ("lines_miss", lines_miss, plan.lines_miss),
        ("lines_insert", lines_insert, plan.lines_insert),
    ];
    let (name, limit, lines) = limits
        .into_iter()
        .filter_map(|(name, limit, lines)| Some((name, limit?, lines)))
        .find(|(_, limit, lines)| lines > limit)?;
    let mut remedies = vec![format!("raise {name} to {:.3}", lines + 5e-4)];
    let conflict = match block_bits {
        Some(bits) => {
            remedies.push(format!("lower block_bits to {CACHE_LINE_BITS}"));
            format!("{name} is {limit}, but in blocks of {bits} bits it is {lines:.3}")
        }
        None => format!("{name} is {limit}, but in a {} filter it is {lines:.3}", contender(plan)),
    };
    Some(Error::Contradiction { conflict, remedies })
}

/// The advice to require a rate that this filter reaches, if it is below 1.
fn raise_rate(requirements: &Requirements, reached: f64) -> Option<String> {
    let rate = rounded_up(requirements.rate_to_require(reached));
    (rate.parse().is_ok_and(|rate: f64| rate < 1.0)).then(|| format!("raise rate to {rate}"))
}

/// Few digits, rounded up: following the advice must lead to a plan.
fn rounded_up(number: f64) -> String {
    format!("{:.3e}", 1.0005 * number)
}
