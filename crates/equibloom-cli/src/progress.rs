//! Progress bars: drawn on standard error if that is a terminal, else hidden.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The unit of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Keys,
}

/// A bar over `total`, or a counter if that is unknown; nothing if `quiet`.
pub(crate) fn bar(doing: &'static str, total: Option<u64>, unit: Unit, quiet: bool) -> ProgressBar {
    let template = match (unit, total) {
        _ if quiet => return ProgressBar::hidden(),
        (Unit::Bytes, Some(_)) => {
            "{msg} {bar:30} {percent:>3} %  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"
        }
        (Unit::Keys, Some(_)) => {
            "{msg} {bar:30} {percent:>3} %  {human_pos} of {human_len} keys, {per_sec}, {eta} left"
        }
        (Unit::Bytes, None) => "{msg} {spinner} {bytes}, {bytes_per_sec}, {elapsed} so far",
        (Unit::Keys, None) => "{msg} {spinner} {human_pos} keys, {per_sec}, {elapsed} so far",
    };
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.with_style(style(template)).with_message(doing)
}

/// Runs a step of unknown length beside a spinner.
pub(crate) fn during<T>(doing: &'static str, quiet: bool, step: impl FnOnce() -> T) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return step();
    }
    let spinner = ProgressBar::no_length().with_style(style("{msg} {spinner} {elapsed} so far"));
    let spinner = spinner.with_message(doing);
    spinner.tick();
    spinner.enable_steady_tick(Duration::from_millis(100));
    let done = step();
    spinner.finish_and_clear();
    done
}

/// The style of a bar.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
