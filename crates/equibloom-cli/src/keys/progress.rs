//! Progress with rate and remaining time, on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// The unit of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Keys,
}

/// A bar over `total`, or a counter if that is unknown. Hidden if `quiet`, or if standard error is no terminal.
pub(crate) fn progress(
    doing: &'static str,
    total: Option<u64>,
    unit: Unit,
    quiet: bool,
) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = match (unit, total) {
        (Unit::Bytes, Some(_)) => {
            "{msg} {bar:30} {percent:>3} %  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"
        }
        (Unit::Keys, Some(_)) => {
            "{msg} {bar:30} {percent:>3} %  {human_pos} of {human_len} keys, {per_sec}, {eta} left"
        }
        (Unit::Bytes, None) => "{msg} {spinner} {bytes}, {bytes_per_sec}, {elapsed} so far",
        (Unit::Keys, None) => "{msg} {spinner} {human_pos} keys, {per_sec}, {elapsed} so far",
    };
    let style = ProgressStyle::with_template(template);
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(doing)
}
