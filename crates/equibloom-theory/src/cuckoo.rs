//! Cuckoo hashing with two tables of m buckets of one slot (the slides' second subject).
//!
//! The cuckoo graph has the 2m buckets as nodes and the n elements as edges, each between its two
//! buckets. An insertion follows a path in it and succeeds exactly if the component it comes to has at
//! most one cycle: c nodes hold c elements, not more.
//!
//! With m = (1 + ε)·n a bucket has Poisson(c) edges, c = n/m = 1/(1 + ε). Seen from any node the graph is
//! a branching process with c children each, which dies out:
//!
//! ```text
//!     nodes in the component of a bucket   1 + c + c² + …  =  1/(1 − c)  =  1 + 1/ε
//! ```
//!
//! so that the slides' bound on the component is its limit. The chance that some component has a
//! second cycle is of order 1/m; its constant is due to Kutzelnigg (*Bipartite random graphs and cuckoo
//! hashing*, 2006). An insertion walks over nodes of one component, so that its cost is at most the
//! component's size.
//!
//! Below, `load` is the share of all 2m slots that are filled, n / 2m, from 0 to 1/2.
//!
//! ```
//! use equibloom_theory::cuckoo;
//!
//! // m = 1.25 n, hence ε = 0.25.
//! assert!((cuckoo::component_size(0.4)? - 5.0).abs() < 1e-12);
//! assert!(cuckoo::rehash_probability(0.4, 1_000)? < 0.01);
//! # Ok::<(), equibloom_theory::Error>(())
//! ```

use core::f64::consts::PI;

use crate::error::{Error, require};

/// Mean number of buckets in the component of a bucket, 1 + 1/ε.
pub fn component_size(load: f64) -> Result<f64, Error> {
    Ok(1.0 / (1.0 - edges_per_node(load)?))
}

/// Probability that n elements do not fit, because a component has more than one cycle; `buckets` is m.
///
/// The number of graphs without such a component is a coefficient of a generating function
/// (Kutzelnigg), which the Lagrange inversion of t1 = x·e^{t2}, t2 = y·e^{t1} turns into
///
/// ```text
///     Pr{all fit} = m!² n! / ((2m − n)! m^{2n}) · [s^m u^m] (s + u − su)^{2m−n} (1 − su)^{1/2} e^{m(s+u)}
/// ```
///
/// and that is a double integral over circles through the saddle point s = u = c, or just inside of 1 where c
/// is too near to it. Where the probability would be lost in the rounding of 1, Kutzelnigg's first term, of
/// order 1/m, is used.
pub fn rehash_probability(load: f64, buckets: u64) -> Result<f64, Error> {
    let c = edges_per_node(load)?;
    require(buckets > 0, "buckets", buckets as f64, "at least 1")?;
    let m = buckets as f64;
    let first_order = first_order_failure(c) / m;
    let failure = if first_order < LEAST_FROM_INTEGRAL {
        first_order
    } else {
        1.0 - success_probability((c * m).round(), m)
    };
    Ok(failure.clamp(0.0, 1.0))
}

/// m times the probability of failure, for large m. (Kutzelnigg's ε, with n = (1 − ε)·m, is 1 − c here.)
fn first_order_failure(c: f64) -> f64 {
    let e = 1.0 - c;
    (2.0 * e * e - 5.0 * e + 5.0) * c.powi(3) / (12.0 * (2.0 - e).powi(2) * e.powi(3))
}

/// Below this the rounding of n! is visible.
const LEAST_FROM_INTEGRAL: f64 = 1e-6;
/// The integral reaches this many standard deviations to each side, …
const REACH: f64 = 8.0;
/// … in steps of this many.
const STEP: f64 = 0.2;

/// Steps for each unit of the distance to the branch point of the root.
const STEPS_TO_BRANCH: f64 = 3.0;

/// The integral along both diagonals of the two angles, where its peak is widest and narrowest. The integrand is
/// periodic and analytic, so that equal steps converge faster than any power of them.
fn success_probability(n: f64, m: f64) -> f64 {
    // Below three elements there is no second cycle.
    if n < 3.0 {
        return 1.0;
    }
    let trees = 2.0 * m - n;
    // The saddle point; but the steps must resolve the branch point of (1 − su)^{1/2} at 1.
    let radius = (n / m).min(1.0 - 0.5 * m.cbrt().recip());
    let peak = radius * (2.0 - radius);
    let integrand = |a: f64, b: f64| {
        // s = ρ·e^{i(a+b)}, u = ρ·e^{i(a−b)}: s + u = 2ρ·cos b·e^{ia}, su = ρ²·e^{2ia}.
        let sum = (2.0 * radius * b.cos() * a.cos(), 2.0 * radius * b.cos() * a.sin());
        let product = (radius * radius * (2.0 * a).cos(), radius * radius * (2.0 * a).sin());
        let tree = (sum.0 - product.0, sum.1 - product.1);
        let cycle = (1.0 - product.0, -product.1);
        let logarithm = trees * (tree.0.hypot(tree.1) / peak).ln()
            + 0.5 * cycle.0.hypot(cycle.1).ln()
            + m * (sum.0 - 2.0 * radius);
        let angle =
            trees * tree.1.atan2(tree.0) + 0.5 * cycle.1.atan2(cycle.0) + m * sum.1 - 2.0 * m * a;
        logarithm.exp() * angle.cos()
    };
    // Standard deviations of the peak along s = u and s = 1/u. Where it is wider than the circle, a from −π to
    // π and b from −π/2 to π/2 cover all angles once.
    let wide = (2.0 * m * radius - 2.0 * trees * radius / (2.0 - radius).powi(2)).sqrt().recip();
    let narrow = (2.0 * trees / (2.0 - radius) + 2.0 * m * radius).sqrt().recip();
    let finest = -radius.ln() / STEPS_TO_BRANCH;
    let along = steps(REACH * wide, (STEP * wide).min(finest), PI);
    let across = steps(REACH * narrow, STEP * narrow, PI / 2.0);
    let each = |a: f64| (0..across.count).map(|j| integrand(a, across.at(j))).sum::<f64>();
    let sum: f64 = (0..along.count).map(|i| each(along.at(i))).sum();
    // The two angles are a ± b, so that their area element is 2·da·db.
    let integral = 2.0 * sum * along.width * across.width / (4.0 * PI.powi(2));
    let ln_factorial = |x: f64| libm::lgamma(x + 1.0);
    let logarithm =
        2.0 * ln_factorial(m) + ln_factorial(n) - ln_factorial(trees) - 2.0 * n * m.ln()
            + trees * peak.ln()
            + 2.0 * m * radius
            - 2.0 * m * radius.ln();
    (logarithm + integral.ln()).exp()
}

/// Equal steps about 0.
struct Steps {
    count: u32,
    width: f64,
}

impl Steps {
    fn at(&self, index: u32) -> f64 {
        (f64::from(index) + 0.5 - f64::from(self.count) / 2.0) * self.width
    }
}

/// Steps of at most `width` from −`reach` to `reach`, or over half a period to each side if that is less.
fn steps(reach: f64, width: f64, half_period: f64) -> Steps {
    let reach = reach.min(half_period);
    let count = (2.0 * reach / width).ceil();
    Steps { count: count as u32, width: 2.0 * reach / count }
}

/// Mean number of rehashes until all elements fit: a geometric series.
pub fn rehashes(load: f64, buckets: u64) -> Result<f64, Error> {
    let failure = rehash_probability(load, buckets)?;
    Ok(failure / (1.0 - failure))
}

/// Bound on the mean number of elements that one more insertion places, itself and those it displaces: the size
/// of its component.
pub fn insertion_cost_bound(load: f64) -> Result<f64, Error> {
    component_size(load)
}

/// The same as a mean over all insertions from the empty table on: (1/c)·∫₀ᶜ dx/(1 − x) = −ln(1 − c)/c.
pub fn mean_insertion_cost_bound(load: f64) -> Result<f64, Error> {
    let c = edges_per_node(load)?;
    Ok(if c == 0.0 { 1.0 } else { -(-c).ln_1p() / c })
}

/// Bound on the mean accesses of a rehash that succeeds: 2m buckets are emptied and n elements placed, O(m + n/ε).
pub fn rehash_cost_bound(load: f64, buckets: u64) -> Result<f64, Error> {
    let slots = 2.0 * buckets as f64;
    Ok(slots + slots * load * insertion_cost_bound(load)?)
}

/// The load of n elements in two tables of m = (1 + ε)·n buckets.
pub fn load_of_epsilon(epsilon: f64) -> Result<f64, Error> {
    let holds = epsilon > 0.0 && epsilon.is_finite();
    require(holds, "epsilon", epsilon, "above 0: with m ≤ n the elements do not fit")?;
    Ok(0.5 / (1.0 + epsilon))
}

/// c = n/m.
fn edges_per_node(load: f64) -> Result<f64, Error> {
    require(
        (0.0..0.5).contains(&load),
        "load",
        load,
        "at least 0 and below 0.5: beyond one half two tables of single slots do not work",
    )?;
    Ok(2.0 * load)
}

/// A connected component of a cuckoo graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Component {
    /// Its buckets: those of the first table are 0 to m − 1, those of the second m to 2m − 1.
    pub nodes: Vec<u64>,
    /// Number of its edges, the elements.
    pub edges: u64,
}

impl Component {
    /// Elements without a place, since a bucket holds one.
    pub fn excess(&self) -> u64 {
        self.edges.saturating_sub(self.nodes.len() as u64)
    }

    /// Independent cycles: none in a tree; two or more do not fit.
    pub fn cycles(&self) -> u64 {
        self.edges + 1 - self.nodes.len() as u64
    }
}

/// The components of the graph whose edges join a bucket of the first table and one of the second, each
/// numbered from 0 to `buckets` − 1. Largest components first; isolated buckets are components, too.
pub fn components(
    edges: impl IntoIterator<Item = [u64; 2]>,
    buckets: u64,
) -> Result<Vec<Component>, Error> {
    let mut forest = Forest { parents: (0..2 * buckets as usize).collect() };
    let mut seen = Vec::new();
    for [first, second] in edges {
        let largest = first.max(second);
        let accepted = || format!("below the number of buckets, {buckets}");
        require(largest < buckets, "bucket of an edge", largest as f64, accepted())?;
        forest.join(first as usize, (buckets + second) as usize);
        seen.push(first as usize);
    }
    let mut components = vec![Component::default(); forest.parents.len()];
    for node in 0..forest.parents.len() {
        components[forest.root(node)].nodes.push(node as u64);
    }
    for node in seen {
        components[forest.root(node)].edges += 1;
    }
    components.retain(|component| !component.nodes.is_empty());
    components.sort_by_key(|component| std::cmp::Reverse((component.nodes.len(), component.edges)));
    Ok(components)
}

/// Disjoint sets, each a tree of parents.
struct Forest {
    parents: Vec<usize>,
}

impl Forest {
    fn root(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a] = b;
    }
}

#[cfg(test)]
#[path = "cuckoo_tests.rs"]
mod tests;
