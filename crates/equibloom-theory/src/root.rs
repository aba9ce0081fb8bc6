//! Roots of increasing functions, by secant steps safeguarded by bisection.

/// Solves `f(x) = 0` for a non-decreasing `f` on `[low, high]`; clamps to the end where `f` keeps its sign.
///
/// Secant steps (Illinois variant) alternate with halvings, so the bracket shrinks at least by half
/// every second step whatever `f` does, and rounding noise cannot send it astray.
pub(crate) fn increasing(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut below, mut above) = (f(low), f(high));
    if below >= 0.0 {
        return low;
    }
    if above <= 0.0 {
        return high;
    }
    let mut last_was_below = None;
    // 2,200 halvings cross the whole range of f64; usual calls need about fifteen steps.
    for step in 0..4400 {
        let secant = low + (high - low) * (-below / (above - below));
        let halfway = low + (high - low) / 2.0;
        let inside = secant > low && secant < high;
        let x = if inside && step % 3 != 2 { secant } else { halfway };
        if x <= low || x >= high || high - low <= 4.0 * f64::EPSILON * high.abs() {
            break;
        }
        let value = f(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            (low, below) = (x, value);
            if last_was_below == Some(true) {
                above /= 2.0;
            }
        } else {
            (high, above) = (x, value);
            if last_was_below == Some(false) {
                below /= 2.0;
            }
        }
        last_was_below = Some(value < 0.0);
    }
    low + (high - low) / 2.0
}
