//! Counts the keys in a text at memory speed.
//!
//! A key ends at a separator. It is empty if another separator precedes it, with a carriage return between them
//! if keys are lines. The test reads a byte and its two neighbours without a branch, so that the compiler
//! vectorises it.

use memchr::{memchr_iter, memrchr};

/// Separators that a byte-sized counter can count.
const LANE: usize = u8::MAX as usize;

/// Keys in a text that begins with one; the last may be unterminated. Empty ones count if they are kept.
pub(super) fn count_keys(text: &[u8], separator: u8, keep_empty: bool) -> u64 {
    let ends = memchr_iter(separator, text).count() as u64;
    let unfinished = &text[memrchr(separator, text).map_or(0, |last| last + 1)..];
    let all = ends + u64::from(!unfinished.is_empty());
    if keep_empty {
        return all;
    }
    let is_only_return = separator == b'\n' && unfinished == b"\r";
    // The first key is treated as if a separator preceded it.
    let begin = text.iter().copied().take(2);
    let begin: Vec<u8> = [separator; 2].into_iter().chain(begin).collect();
    let empty = count_empty(&begin, separator) + count_empty(text, separator);
    all - empty - u64::from(is_only_return)
}

/// Empty keys that end at the third byte of a text or behind it.
fn count_empty(text: &[u8], separator: u8) -> u64 {
    let is_line = separator == b'\n';
    let (mut empty, mut rest) = (0, text);
    while let [_, seconds @ ..] = rest
        && let [_, thirds @ ..] = seconds
        && !thirds.is_empty()
    {
        let mut in_lane = 0_u8;
        for ((before, middle), end) in rest.iter().zip(seconds).zip(thirds).take(LANE) {
            let is_after_return = is_line & (*middle == b'\r') & (*before == separator);
            in_lane += u8::from((*end == separator) & ((*middle == separator) | is_after_return));
        }
        empty += u64::from(in_lane);
        rest = rest.get(LANE..).unwrap_or_default();
    }
    empty
}

#[cfg(test)]
mod tests;
