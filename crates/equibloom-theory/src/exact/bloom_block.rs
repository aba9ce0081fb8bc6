//! A Bloom block under the threshold rule, arrival by arrival.
//!
//! The state is (load, class): the class is the number of set bits, or, for large blocks, there is one
//! class per load, which has the mean match probability at that load. (In a block of thousands of bits
//! the number of set bits hardly varies at a given load, and what variation there is enters through the
//! mean.) Loads are rows; an admitted key moves mass from one row to the next. Rows and classes without
//! mass are dropped, so a step costs only what is alive: a few loads, a few dozen classes.
//!
//! **Hints.** A rejected key sets one of `w` hint bits at random, so that the hint of an absent key is still
//! unset after R rejects with probability (1 − 1/w)^R. R is not part of the state; it is enough to carry,
//! beside the mass of each state, its unset part E[1{state}·(1 − 1/w)^R], which follows the same transitions
//! with one difference: rejected mass is multiplied by 1 − 1/w.

use super::mixture::Meeting;
use super::patterns::Patterns;
use super::window::Window;

/// Blocks with more data bits than this have one class per load.
pub(crate) const LARGEST_RESOLVED_BLOCK: usize = 1024;

/// A block that admits less than this no longer changes.
const AT_REST: f64 = 1e-22;

/// If a smaller share of hints is unset, all count as set.
const ALL_SET: f64 = 1e-17;

/// The states of a block after some number of arrivals.
pub(crate) struct BloomBlock {
    classes: Classes,
    threshold: usize,
    probability: f64,
    pub(crate) hints: u32,
    mass: Rows,
    /// The part of the mass whose hint for a given class is unset; empty without hints.
    unset: Rows,
}

/// A block at some time.
pub(crate) struct Look {
    pub(crate) meeting: Meeting,
    pub(crate) loads: Window,
    /// Whether further arrivals change nothing.
    pub(crate) at_rest: bool,
}

/// Mass over the states, a row for each load from `first_load` on.
struct Rows {
    first_load: usize,
    rows: Vec<Window>,
    /// Factor of mass that rejects a key.
    after_reject: f64,
}

impl BloomBlock {
    /// Keys set `patterns`; a block below `threshold` admits them all, at it with `probability`.
    pub(crate) fn new(patterns: Patterns, threshold: usize, probability: f64, hints: u32) -> Self {
        let empty = vec![Window::certain(0)];
        let (unset, after_reject) = if hints == 0 {
            (Vec::new(), 0.0)
        } else {
            (empty.clone(), 1.0 - 1.0 / f64::from(hints))
        };
        Self {
            classes: Classes::new(patterns),
            threshold,
            probability,
            hints,
            mass: Rows { first_load: 0, rows: empty, after_reject: 1.0 },
            unset: Rows { first_load: 0, rows: unset, after_reject },
        }
    }

    /// The share of new keys a block with this load admits.
    fn admits(&self, load: usize) -> f64 {
        admits(load, self.threshold, self.probability)
    }
}

fn admits(load: usize, threshold: usize, probability: f64) -> f64 {
    match load.cmp(&threshold) {
        core::cmp::Ordering::Less => 1.0,
        core::cmp::Ordering::Equal => probability,
        core::cmp::Ordering::Greater => 0.0,
    }
}

impl Rows {
    /// One more key arrives.
    fn arrive(&mut self, classes: &mut Classes, admits: impl Fn(usize) -> f64) {
        // From the fullest row down, so that no mass is moved twice.
        for index in (0..self.rows.len()).rev() {
            let load = self.first_load + index;
            let admits = admits(load);
            if admits == 0.0 && self.after_reject == 1.0 {
                continue;
            }
            if admits > 0.0 && index + 1 == self.rows.len() {
                self.rows.push(Window::default());
            }
            classes.resolve(load);
            let mut row = core::mem::take(&mut self.rows[index]);
            if admits > 0.0 {
                let admitted: Vec<f64> = row.mass.iter().map(|mass| mass * admits).collect();
                classes.move_admitted(&mut self.rows[index + 1], load, row.first, &admitted);
            }
            for (class, mass) in (row.first..).zip(&mut row.mass) {
                let matched = classes.matched(load, class).0;
                *mass *= matched + (1.0 - matched) * (1.0 - admits) * self.after_reject;
            }
            row.trim_below(classes.patterns.negligible());
            self.rows[index] = row;
        }
        let empty = self.rows.iter().take_while(|row| row.is_empty()).count();
        self.rows.drain(..empty);
        self.first_load += empty;
    }

    fn get(&self, load: usize, class: usize) -> f64 {
        let row = load.checked_sub(self.first_load).and_then(|index| self.rows.get(index));
        row.map_or(0.0, |row| row.get(class))
    }
}

impl BloomBlock {
    /// One more key arrives.
    pub(crate) fn arrive(&mut self) {
        let Self { classes, threshold, probability, mass, unset, .. } = self;
        for rows in [mass, unset] {
            rows.arrive(classes, |load| admits(load, *threshold, *probability));
        }
    }

    /// What the next key finds now.
    pub(crate) fn look(&mut self) -> Look {
        let mut meeting = Meeting::default();
        let Rows { first_load, rows, .. } = &self.mass;
        let mut loads = Window { first: *first_load, mass: Vec::with_capacity(rows.len()) };
        let (mut admitted, mut all_unset) = (0.0, 0.0);
        self.classes.resolve(first_load + rows.len());
        for (load, row) in (*first_load..).zip(rows) {
            let admits = self.admits(load);
            let refuses = 1.0 - admits;
            let mut total = 0.0;
            for (class, mass) in row.iter().filter(|&(_, mass)| mass > 0.0) {
                let (matched, matched_squared) = self.classes.matched(load, class);
                total += mass;
                meeting.present += mass * matched;
                meeting.found_squared += mass * matched_squared;
                meeting.rejected += mass * (1.0 - matched) * refuses;
                admitted += mass * (1.0 - matched) * admits;
                // The share of absent keys without a match that go on, and its square.
                let (passes, passes_squared) = if self.hints == 0 {
                    (refuses, refuses * refuses)
                } else {
                    let unset = (self.unset.get(load, class) / mass).clamp(0.0, 1.0);
                    all_unset += mass * unset;
                    meeting.unset += mass * (1.0 - matched) * refuses * unset;
                    let set = 1.0 - unset;
                    // After a given number of arrivals a state's rejects hardly vary.
                    (set, set * set + set * unset / f64::from(self.hints))
                };
                meeting.goes_on += mass * (1.0 - matched) * passes;
                meeting.goes_on_squared += mass * (1.0 - matched).powi(2) * passes_squared;
                meeting.found_goes_on += mass * (matched - matched_squared) * passes;
            }
            loads.mass.push(total);
        }
        meeting.found = meeting.present;
        let at_rest = admitted < AT_REST && all_unset < ALL_SET;
        Look { meeting, loads, at_rest }
    }

    /// After this many arrivals the block counts as full.
    pub(crate) fn arrivals_to_fill(&self) -> usize {
        self.classes.patterns.arrivals_to_fill()
    }
}

/// The classes a block of a given load can be in.
struct Classes {
    patterns: Patterns,
    /// For large blocks: mean q and q² per load, and the set bits at the last of these loads.
    by_load: Option<(Vec<(f64, f64)>, Window)>,
}

impl Classes {
    fn new(patterns: Patterns) -> Self {
        let large = patterns.bits() > LARGEST_RESOLVED_BLOCK;
        let by_load = large.then(|| (vec![(0.0, 0.0)], Window::certain(0)));
        Self { patterns, by_load }
    }

    /// Computes loads up to `load`.
    fn resolve(&mut self, load: usize) {
        let Self { patterns, by_load: Some((rates, set_bits)) } = self else { return };
        while rates.len() <= load {
            *set_bits = patterns.after_new_key(set_bits);
            let rate = set_bits.mean_of(|set| patterns.matched(set));
            let square = set_bits.mean_of(|set| patterns.matched(set).powi(2));
            rates.push((rate.min(1.0), square.min(1.0)));
        }
    }

    /// Mean q and q² of a class.
    fn matched(&self, load: usize, class: usize) -> (f64, f64) {
        match &self.by_load {
            Some((rates, _)) => rates[load],
            None => {
                let matched = self.patterns.matched(class);
                (matched, matched * matched)
            }
        }
    }

    /// A key is admitted unless it matches: moves that part of the mass of `first` and further classes into the row of
    /// the next load.
    fn move_admitted(&self, next: &mut Window, load: usize, first: usize, mass: &[f64]) {
        match &self.by_load {
            Some((rates, _)) => next.add(0, mass, 1.0 - rates[load].0),
            None => self.patterns.grow(first, mass, next),
        }
    }
}
