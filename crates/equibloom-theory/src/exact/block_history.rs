//! One block under the threshold rule, arrival by arrival.
//!
//! The state is (load, class): the class is the number of set bits, or, for large blocks, there is one
//! class per load, which has the mean match probability at that load. (In a block of thousands of bits
//! the number of set bits hardly varies at a given load, and what variation there is enters through the
//! mean.) Loads are rows; an admitted key moves mass from one row to the next. Rows and classes without
//! mass are dropped, so a step costs only what is alive: a few loads, a few dozen classes.

use super::patterns::Patterns;
use super::window::Window;
use crate::poisson::Weights;

/// Blocks with more data bits than this have one class per load.
pub(crate) const LARGEST_RESOLVED_BLOCK: usize = 1024;

/// A block that admits less than this has come to rest.
const AT_REST: f64 = 1e-22;

/// What the next key meets in a block, on average over its states.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meeting {
    /// E q: the key matches.
    pub(crate) matched: f64,
    /// E q².
    pub(crate) matched_squared: f64,
    /// E(1−q)(1−A): the key is turned away.
    pub(crate) turned_away: f64,
    /// E((1−q)(1−A))².
    pub(crate) turned_away_squared: f64,
    /// E q(1−q)(1−A).
    pub(crate) matched_turned_away: f64,
    /// E(1−q)A: the key is admitted.
    pub(crate) admitted: f64,
}

/// The state of a block after some number of arrivals.
#[derive(Debug, Clone)]
struct Snapshot {
    meeting: Meeting,
    loads: Window,
    /// Sums over the arrivals so far.
    matched_before: f64,
    turned_away_before: f64,
}

/// A block's snapshots, mixed over its number of arrivals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mixture {
    pub(crate) meeting: Meeting,
    pub(crate) loads: Window,
    /// Mean number of keys that matched so far.
    pub(crate) matched_before: f64,
    /// Mean number of keys turned away so far.
    pub(crate) turned_away_before: f64,
    /// Variance of that number over blocks, less what the arrivals, whose sum is given, explain.
    pub(crate) turned_away_before_variance: f64,
    /// Mean and variance of the arrivals, and their covariance with match and rejection.
    pub(crate) arrivals: f64,
    pub(crate) arrivals_variance: f64,
    pub(crate) matched_covariance: f64,
    pub(crate) turned_away_covariance: f64,
}

/// Snapshots of one block after 0, 1, 2, … arrivals, computed as far as they are asked for.
pub(crate) struct BlockHistory {
    classes: Classes,
    threshold: usize,
    probability: f64,
    /// Rows from load `first_load` on.
    rows: Vec<Window>,
    first_load: usize,
    snapshots: Vec<Snapshot>,
    at_rest: bool,
}

impl BlockHistory {
    pub(crate) fn new(patterns: Patterns, threshold: usize, probability: f64) -> Self {
        let mut history = Self {
            classes: Classes::new(patterns),
            threshold,
            probability,
            rows: vec![Window::certain(0)],
            first_load: 0,
            snapshots: Vec::new(),
            at_rest: false,
        };
        history.take_snapshot();
        history
    }

    /// Mixes the snapshots by the number of arrivals.
    pub(crate) fn mix(&mut self, arrivals: &Weights) -> Mixture {
        self.extend_to(arrivals.last());
        let mut mixture = Mixture::default();
        let (mut squares, mut with_matched, mut with_turned_away) = (0.0, 0.0, 0.0);
        let (mut rejects_squares, mut with_rejects) = (0.0, 0.0);
        for (count, weight) in arrivals.iter() {
            let (snapshot, further) = self.snapshot(count);
            let (m, from) = (&mut mixture.meeting, &snapshot.meeting);
            m.matched += weight * from.matched;
            m.matched_squared += weight * from.matched_squared;
            m.turned_away += weight * from.turned_away;
            m.turned_away_squared += weight * from.turned_away_squared;
            m.matched_turned_away += weight * from.matched_turned_away;
            m.admitted += weight * from.admitted;
            mixture.loads.add(snapshot.loads.first, &snapshot.loads.mass, weight);
            mixture.matched_before += weight * (snapshot.matched_before + further * from.matched);
            let rejects = snapshot.turned_away_before + further * from.turned_away;
            mixture.turned_away_before += weight * rejects;
            let count = count as f64;
            rejects_squares += weight * rejects * rejects;
            with_rejects += weight * count * rejects;
            mixture.arrivals += weight * count;
            squares += weight * count * count;
            with_matched += weight * count * from.matched;
            with_turned_away += weight * count * from.turned_away;
        }
        let mean = mixture.arrivals;
        mixture.arrivals_variance = (squares - mean * mean).max(0.0);
        let rejects = mixture.turned_away_before;
        let covariance = with_rejects - mean * rejects;
        let explained = if mixture.arrivals_variance > 0.0 {
            covariance * covariance / mixture.arrivals_variance
        } else {
            0.0
        };
        mixture.turned_away_before_variance =
            (rejects_squares - rejects * rejects - explained).max(0.0);
        mixture.matched_covariance = with_matched - mean * mixture.meeting.matched;
        mixture.turned_away_covariance = with_turned_away - mean * mixture.meeting.turned_away;
        mixture
    }

    /// Probability that a key matches, and that it is turned away: the part of `mix` integrals need.
    pub(crate) fn match_and_turn_away(&mut self, arrivals: &Weights) -> (f64, f64) {
        self.extend_to(arrivals.last());
        arrivals.iter().fold((0.0, 0.0), |(matched, turned_away), (count, weight)| {
            let meeting = &self.snapshot(count).0.meeting;
            (matched + weight * meeting.matched, turned_away + weight * meeting.turned_away)
        })
    }

    /// Arrivals after which all bits are set.
    pub(crate) fn arrivals_to_fill(&self) -> f64 {
        self.classes.patterns.arrivals_to_fill() as f64
    }

    /// Whether nothing changes any more after this many arrivals, as far as is known.
    pub(crate) fn is_settled_at(&self, arrivals: usize) -> bool {
        let full = arrivals > self.classes.patterns.arrivals_to_fill();
        full || (self.at_rest && arrivals >= self.snapshots.len())
    }

    /// The snapshot after `count` arrivals; for a block at rest also how many arrivals ago it was taken.
    fn snapshot(&self, count: usize) -> (&Snapshot, f64) {
        let last = self.snapshots.len() - 1;
        (&self.snapshots[count.min(last)], count.saturating_sub(last) as f64)
    }

    fn extend_to(&mut self, arrivals: usize) {
        let needed = arrivals.min(self.classes.patterns.arrivals_to_fill());
        while self.snapshots.len() <= needed && !self.at_rest {
            self.arrive();
            self.take_snapshot();
        }
    }

    /// The share of new keys a block with this load admits.
    fn admits(&self, load: usize) -> f64 {
        match load.cmp(&self.threshold) {
            core::cmp::Ordering::Less => 1.0,
            core::cmp::Ordering::Equal => self.probability,
            core::cmp::Ordering::Greater => 0.0,
        }
    }

    /// One more key arrives.
    fn arrive(&mut self) {
        // From the fullest row down, so that nobody is moved twice.
        for index in (0..self.rows.len()).rev() {
            let load = self.first_load + index;
            let admits = self.admits(load);
            if admits == 0.0 {
                continue;
            }
            if index + 1 == self.rows.len() {
                self.rows.push(Window::default());
            }
            self.classes.resolve(load);
            let mut row = core::mem::take(&mut self.rows[index]);
            let next = &mut self.rows[index + 1];
            for (class, mass) in (row.first..).zip(&mut row.mass) {
                self.classes.move_admitted(next, load, class, *mass * admits);
                let matched = self.classes.matched(load, class).0;
                *mass *= matched + (1.0 - matched) * (1.0 - admits);
            }
            row.trim();
            self.rows[index] = row;
        }
        let empty = self.rows.iter().take_while(|row| row.is_empty()).count();
        self.rows.drain(..empty);
        self.first_load += empty;
    }

    fn take_snapshot(&mut self) {
        let mut meeting = Meeting::default();
        let mut loads =
            Window { first: self.first_load, mass: Vec::with_capacity(self.rows.len()) };
        self.classes.resolve(self.first_load + self.rows.len());
        for (load, row) in (self.first_load..).zip(&self.rows) {
            let admits = self.admits(load);
            let refuses = 1.0 - admits;
            let mut total = 0.0;
            for (class, mass) in row.iter() {
                let (matched, matched_squared) = self.classes.matched(load, class);
                total += mass;
                meeting.matched += mass * matched;
                meeting.matched_squared += mass * matched_squared;
                meeting.turned_away += mass * (1.0 - matched) * refuses;
                meeting.turned_away_squared += mass * ((1.0 - matched) * refuses).powi(2);
                meeting.matched_turned_away += mass * (matched - matched_squared) * refuses;
                meeting.admitted += mass * (1.0 - matched) * admits;
            }
            loads.mass.push(total);
        }
        self.at_rest = meeting.admitted < AT_REST;
        let (matched_before, turned_away_before) =
            self.snapshots.last().map_or((0.0, 0.0), |last| {
                (
                    last.matched_before + last.meeting.matched,
                    last.turned_away_before + last.meeting.turned_away,
                )
            });
        self.snapshots.push(Snapshot { meeting, loads, matched_before, turned_away_before });
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

    /// Makes sure that loads up to `load` are known.
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

    /// A key is admitted unless it matches: moves that part of `mass` into the row of the next load.
    fn move_admitted(&self, next: &mut Window, load: usize, class: usize, mass: f64) {
        match &self.by_load {
            Some((rates, _)) => next.add(0, &[1.0 - rates[load].0], mass),
            None => next.add(class + 1, self.patterns.growth(class), mass),
        }
    }
}
