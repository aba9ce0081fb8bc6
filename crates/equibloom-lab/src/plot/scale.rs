//! Maps numbers to positions, and places ticks.

use crate::figure::Scale;
use crate::number::{power_of_ten, significant};

/// An axis with its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) scale: Scale,
}

/// A tick; minor ones have no label.
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: Option<String>,
}

impl Range {
    /// Contains all values, with a margin at the ends.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone, scale: Scale) -> Self {
        let usable = values.filter(|value| match scale {
            Scale::Linear => value.is_finite(),
            Scale::Logarithmic => value.is_finite() && *value > 0.0,
        });
        let low = usable.clone().fold(f64::INFINITY, f64::min);
        let high = usable.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self { low: 0.1, high: 1.0, scale };
        }
        match scale {
            Scale::Logarithmic => {
                let room = (high / low).powf(0.04).max(1.05);
                Self { low: low / room, high: high * room, scale }
            }
            Scale::Linear => {
                let room = 0.04 * (high - low).max(1e-12 * high.abs()).max(f64::MIN_POSITIVE);
                // An axis that nearly reaches zero starts at zero.
                let low = if low >= 0.0 && low < 0.12 * high { 0.0 } else { low - room };
                Self { low, high: high + room, scale }
            }
        }
    }

    /// Between 0 and 1 inside the range; `None` for values that a logarithmic axis cannot show.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        match self.scale {
            Scale::Linear => Some((value - self.low) / (self.high - self.low)),
            Scale::Logarithmic if value > 0.0 => {
                Some((value / self.low).ln() / (self.high / self.low).ln())
            }
            Scale::Logarithmic => None,
        }
    }

    /// About `wanted` labelled ticks.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(wanted),
            // Powers of ten are too coarse for a narrow range.
            Scale::Logarithmic if self.high < 4.0 * self.low => self.linear_ticks(wanted),
            Scale::Logarithmic => self.logarithmic_ticks(wanted),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        let tick = |index: i64| {
            let at = index as f64 * step;
            Tick { at, label: Some(significant(at, 6)) }
        };
        (first..=last).map(tick).collect()
    }

    fn logarithmic_ticks(&self, wanted: usize) -> Vec<Tick> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = self.high.log10() - self.low.log10();
        let every = (decades / wanted.max(1) as f64).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for exponent in first..=last {
            for digit in 1..10 {
                let at = f64::from(digit) * 10_f64.powi(exponent);
                if at < self.low * (1.0 - 1e-9) || at > self.high * (1.0 + 1e-9) {
                    continue;
                }
                // Short axes need labels between the powers of ten.
                let labelled = match digit {
                    1 => exponent % every == 0,
                    2 | 5 => decades < 2.0,
                    _ => decades < 0.7,
                };
                let label = labelled.then(|| match exponent {
                    0 => significant(at, 3),
                    _ if decades >= 2.0 => power_of_ten(exponent),
                    _ => significant(at, 3),
                });
                // Minor ticks of long axes would merge into a band.
                if labelled || decades <= 4.0 || digit == 1 {
                    ticks.push(Tick { at, label });
                }
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests;
