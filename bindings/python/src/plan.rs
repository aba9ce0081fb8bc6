//! The function `plan` and the class `Plan`: what to expect of a filter before there is one.

use equibloom::Plan as Planned;
use pyo3::prelude::*;

use crate::requirements::{Arguments, Requirements};

/// A filter that the planner chose, and what to expect of it. See the function plan.
#[pyclass(frozen, module = "equibloom")]
pub(crate) struct Plan {
    plan: Planned,
    requirements: Requirements,
}

/// The best filter for requirements, without building it: what to expect, and why.
///
/// Takes the keyword arguments of Filter.
///
/// >>> import equibloom
/// >>> plan = equibloom.plan(keys=1_000_000, rate=0.001)
/// >>> plan.bits_per_key < 13, plan.rate <= 0.001, plan.accesses_miss < 1.2
/// (True, True, True)
#[pyfunction]
#[pyo3(signature = (
    keys = None, rate = None, *, memory = None, bits_per_key = None, removable = false, headroom = None,
    accesses_miss = None, mergeable = false, one_by_one = false, smallest = false,
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn plan(
    py: Python<'_>,
    keys: Option<&Bound<'_, PyAny>>,
    rate: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyAny>>,
    bits_per_key: Option<&Bound<'_, PyAny>>,
    removable: bool,
    headroom: Option<&Bound<'_, PyAny>>,
    accesses_miss: Option<&Bound<'_, PyAny>>,
    mergeable: bool,
    one_by_one: bool,
    smallest: bool,
) -> PyResult<Plan> {
    let requirements = Requirements::new(&Arguments {
        keys,
        rate,
        memory,
        bits_per_key,
        accesses_miss,
        headroom,
        removable,
        mergeable,
        one_by_one,
        smallest,
    })?;
    Ok(Plan { plan: requirements.plan(py)?, requirements })
}

#[pymethods]
impl Plan {
    /// How many keys the filter is for.
    #[getter]
    fn keys(&self) -> u64 {
        self.plan.keys
    }

    /// The expected false-positive rate with all keys.
    #[getter]
    fn rate(&self) -> f64 {
        self.plan.rate()
    }

    /// Bytes of the filter, everything counted.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.plan.bytes()
    }

    /// The same per key, in bits.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.plan.bits_per_key()
    }

    /// How many blocks an insert reads on average.
    #[getter]
    fn accesses_insert(&self) -> f64 {
        self.plan.expected.accesses_insert
    }

    /// How many blocks looking up an absent key reads on average.
    #[getter]
    fn accesses_miss(&self) -> f64 {
        self.plan.expected.accesses_miss
    }

    /// How many blocks looking up a stored key reads on average.
    #[getter]
    fn accesses_hit(&self) -> f64 {
        self.plan.expected.accesses_hit
    }

    /// The name of the placement, and how the filter is made.
    #[getter]
    fn design(&self) -> String {
        self.plan.design.name().to_owned()
    }

    /// Why: one sentence for each choice.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.plan.reasons.clone()
    }

    /// Why not another: one sentence for each alternative. Comparing them takes longer than the plan.
    fn alternatives(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.plan.alternatives())
    }

    fn __repr__(&self) -> String {
        let Self { plan, .. } = self;
        let expected = &plan.expected;
        format!(
            "<equibloom.Plan: {} for {} keys, {} bytes ({:.2} bits per key), false positives {:.3e}, \
             accesses {:.2} per insert, {:.2} per miss, {:.2} per hit>",
            plan.design.name(),
            plan.keys,
            plan.bytes(),
            plan.bits_per_key(),
            plan.rate(),
            expected.accesses_insert,
            expected.accesses_miss,
            expected.accesses_hit,
        )
    }

    /// The rate of the best filter of another size, for the same keys and under the same other requirements.
    fn _rate_at(&self, py: Python<'_>, bits_per_key: f64) -> PyResult<f64> {
        Ok(self.requirements.of_size(self.plan.keys, bits_per_key).plan(py)?.rate())
    }

    /// The plan as a notebook shows it; see equibloom/_picture.py.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("equibloom._picture")?.call_method1("html", (slf,))
    }
}
