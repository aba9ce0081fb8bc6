//! When the requirements cannot be met together: which one to relax, and by how much.

use equibloom_layout::{FINGERPRINT_BLOCK_BITS, MAX_SLOTS, Placement};

use super::requirements::{Limits, Requirements};
use super::search::Refusal;
use super::sizes::{Known, reach};
use super::survey::Survey;
use crate::error::Error;

/// No remaining placement meets the limits, or the memory is too small for any.
pub(crate) fn nothing_fits(requirements: &Requirements, survey: &Survey) -> Error {
    // The error for too little memory already names a sufficient value.
    let impossible = survey.findings.iter().find_map(|(_, finding)| match finding {
        Err(Refusal::Impossible(error)) => Some(error.clone()),
        _ => None,
    });
    let contenders = survey.contenders();
    let [only, ..] = contenders[..] else { return no_filter(survey) };
    if requirements.leave_blocks_open() {
        return impossible.unwrap_or_else(|| no_filter(survey));
    }
    if let Some(error) = unfit_blocks(survey) {
        return error;
    }
    let limits = survey.limits;
    let mut remedies = Vec::new();
    let free = Limits { accesses_miss: f64::INFINITY, ..limits };
    if let Some(best) = Survey::of(&contenders, free, survey.sizing).best()
        && best.expected.accesses_miss > limits.accesses_miss
    {
        let miss = best.expected.accesses_miss;
        remedies.push(format!(
            "raise accesses_miss from {} to {:.3}",
            limits.accesses_miss,
            miss + 5e-4
        ));
    }
    let free = Limits { accesses_insert: f64::INFINITY, overflow: 1.0, ..limits };
    if let Some(best) = Survey::of(&contenders, free, survey.sizing).best() {
        if best.expected.accesses_insert > limits.accesses_insert {
            let insert = best.expected.accesses_insert;
            remedies.push(format!(
                "raise accesses_insert from {} to {:.3}",
                limits.accesses_insert,
                insert + 5e-4
            ));
        }
        if best.expected.overflow_fraction > limits.overflow {
            let overflow = best.expected.overflow_fraction;
            remedies.push(format!(
                "raise overflow from {} to {}",
                limits.overflow,
                rounded_up(overflow)
            ));
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

/// Not even a blocked filter fits.
fn no_filter(survey: &Survey) -> Error {
    let conflict = format!("{} bytes hold no filter", survey.sizing.bytes);
    Error::Contradiction { conflict, remedies: vec!["give more memory".to_owned()] }
}

/// Only fingerprint blocks remain, and they are impossible in this size or for this many keys.
fn unfit_blocks(survey: &Survey) -> Option<Error> {
    let first = survey.findings.iter().find_map(|(_, finding)| finding.as_ref().err())?;
    let (conflict, remedy) = match first {
        Refusal::CacheLinesOnly => (
            format!(
                "blocks of fingerprints are cache lines of {FINGERPRINT_BLOCK_BITS} bits, not of {}",
                survey.limits.block_bits
            ),
            format!("set block_bits to {FINGERPRINT_BLOCK_BITS}"),
        ),
        Refusal::TooManyKeysABlock { load } => {
            let keys = survey.sizing.keys as f64;
            let bits = f64::from(FINGERPRINT_BLOCK_BITS) / f64::from(MAX_SLOTS);
            (
                format!(
                    "{load:.0} keys would come to a block of fingerprints, which has {MAX_SLOTS} slots at most"
                ),
                // One block in eight stays empty, so that keys find room.
                format!("raise memory to about {:.0} bytes", 1.125 * bits * keys / 8.0),
            )
        }
        _ => return None,
    };
    Some(Error::Contradiction { conflict, remedies: vec![remedy] })
}

fn most_accesses_needed(placement: Placement) -> u32 {
    match placement {
        Placement::Blocked | Placement::Single => 1,
        _ => 2,
    }
}

/// The memory is given and the best filter in it has too high a rate.
pub(crate) fn rate_out_of_reach(requirements: &Requirements, survey: &Survey, rate: f64) -> Error {
    let sizing = survey.sizing;
    let mut remedies = Vec::new();
    if let Some(best) = survey.best() {
        let reached = best.expected.rate + requirements.rate_floor(sizing.keys);
        remedies.push(format!("raise rate to {}", rounded_up(reached)));
    }
    if let Ok(enough) = reach(requirements, rate, Known::Keys(sizing.keys)) {
        let bytes = enough.sizing.bytes;
        let bits = enough.sizing.bits_per_key();
        remedies.push(format!("raise memory to {bytes} bytes ({bits:.2} bits per key)"));
    }
    if let Ok(fewer) = reach(requirements, rate, Known::Memory(sizing.bytes))
        && fewer.sizing.keys < sizing.keys
    {
        remedies.push(format!("lower keys to {}", fewer.sizing.keys));
    }
    remedies.extend(more_accesses(requirements, survey, rate));
    let conflict = format!(
        "{} keys in {} bytes ({:.2} bits per key) with at most {} accesses per miss do not reach a rate of {rate:e}",
        sizing.keys,
        sizing.bytes,
        sizing.bits_per_key(),
        survey.limits.accesses_miss
    );
    Error::Contradiction { conflict, remedies }
}

/// The accesses per miss at which the rate is possible.
fn more_accesses(requirements: &Requirements, survey: &Survey, rate: f64) -> Option<String> {
    let free = Limits { accesses_miss: 3.0, ..survey.limits };
    let wider = Survey::of(&survey.contenders(), free, survey.sizing);
    let floor = requirements.rate_floor(survey.sizing.keys);
    let enough = wider.found().filter(|found| found.expected.rate + floor <= rate);
    let least =
        enough.min_by(|a, b| a.expected.accesses_miss.total_cmp(&b.expected.accesses_miss))?;
    let accesses = least.expected.accesses_miss;
    let placement = least.contender();
    (accesses > survey.limits.accesses_miss)
        .then(|| format!("raise accesses_miss to {:.3} ({placement})", accesses + 5e-4))
}

/// The rate stays above the required one in any memory.
pub(crate) fn no_memory_is_enough(
    requirements: &Requirements,
    survey: &Survey,
    rate: f64,
) -> Error {
    let floor = requirements.rate_floor(survey.sizing.keys);
    if floor >= rate {
        let keys = survey.sizing.keys;
        let conflict =
            format!("the hash alone gives {keys} keys a rate of {floor:.1e}, above {rate:e}");
        let remedies =
            vec!["use the library's hash of 128 bits".to_owned(), "raise rate".to_owned()];
        return Error::Contradiction { conflict, remedies };
    }
    let reached = survey.best().map(|best| best.expected.rate + floor);
    let remedies = match reached {
        Some(reached) if reached > rate => vec![format!("raise rate to {}", rounded_up(reached))],
        _ => vec!["raise rate, or relax the limits on accesses, choices and overflow".to_owned()],
    };
    let conflict = format!("no memory is enough for a rate of {rate:e} within these limits");
    Error::Contradiction { conflict, remedies }
}

/// Few digits, rounded up: following the advice must lead to a plan.
fn rounded_up(number: f64) -> String {
    format!("{:.3e}", 1.0005 * number)
}
