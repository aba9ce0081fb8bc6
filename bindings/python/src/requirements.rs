//! What the user requires of a filter, and the plan for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use equibloom::{Blocks, Design, Filter, FilterBuilder, Layout, Lookup, Parameters, Plan};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::error::{self, RequirementsError};

/// Requirements as they are given, to the bit: the same ones have the same plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Requirements {
    keys: Option<u64>,
    memory: Option<u64>,
    rate: Option<u64>,
    bits_per_key: Option<u64>,
    accesses_miss: Option<u64>,
    headroom: Option<u64>,
    removable: bool,
    mergeable: bool,
    one_by_one: bool,
    smallest: bool,
}

/// The keyword arguments, as they come.
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) keys: Option<&'a Bound<'py, PyAny>>,
    pub(crate) rate: Option<&'a Bound<'py, PyAny>>,
    pub(crate) memory: Option<&'a Bound<'py, PyAny>>,
    pub(crate) bits_per_key: Option<&'a Bound<'py, PyAny>>,
    pub(crate) accesses_miss: Option<&'a Bound<'py, PyAny>>,
    pub(crate) headroom: Option<&'a Bound<'py, PyAny>>,
    pub(crate) removable: bool,
    pub(crate) mergeable: bool,
    pub(crate) one_by_one: bool,
    pub(crate) smallest: bool,
}

impl Requirements {
    pub(crate) fn new(arguments: &Arguments<'_, '_>) -> PyResult<Self> {
        let whole = |name, value: Option<&Bound<'_, PyAny>>| {
            value.map(|value| whole(name, value)).transpose()
        };
        let real = |name, value: Option<&Bound<'_, PyAny>>| {
            value.map(|value| real(name, value).map(f64::to_bits)).transpose()
        };
        Ok(Self {
            keys: whole("keys", arguments.keys)?,
            memory: whole("memory", arguments.memory)?,
            rate: real("rate", arguments.rate)?,
            bits_per_key: real("bits_per_key", arguments.bits_per_key)?,
            accesses_miss: real("accesses_miss", arguments.accesses_miss)?,
            headroom: real("headroom", arguments.headroom)?,
            removable: arguments.removable,
            mergeable: arguments.mergeable,
            one_by_one: arguments.one_by_one,
            smallest: arguments.smallest,
        })
    }

    /// The same for so many keys, unless their number was given.
    pub(crate) fn for_keys(self, keys: u64) -> Self {
        Self { keys: self.keys.or(Some(keys)), ..self }
    }

    /// The same with a rate, if nothing else says how large the filter is to be.
    pub(crate) fn or_rate(self, rate: f64) -> Self {
        if self.rate.or(self.memory).or(self.bits_per_key).is_some() {
            return self;
        }
        Self { rate: Some(rate.to_bits()), ..self }
    }

    /// The same for so many keys, their headroom counted, in so many bits each.
    pub(crate) fn of_size(self, keys: u64, bits_per_key: f64) -> Self {
        Self {
            keys: Some(keys),
            bits_per_key: Some(bits_per_key.to_bits()),
            memory: None,
            rate: None,
            headroom: None,
            ..self
        }
    }

    pub(crate) fn builder(&self) -> FilterBuilder<[u8]> {
        let mut builder = Filter::builder();
        macro_rules! set {
            ($($name:ident $(, $convert:path)?;)*) => {$(
                if let Some(value) = self.$name {
                    builder = builder.$name($($convert)?(value));
                }
            )*};
        }
        set! {
            keys;
            memory;
            rate, f64::from_bits;
            bits_per_key, f64::from_bits;
            accesses_miss, f64::from_bits;
            headroom, f64::from_bits;
        }
        if self.removable {
            builder = builder.removable();
        }
        if self.mergeable {
            builder = builder.mergeable();
        }
        if self.one_by_one {
            builder = builder.prefer(Lookup::OneByOne);
        }
        builder
    }

    /// The smallest filter, or a faster one.
    ///
    /// At rates around 1 % the smallest filter stores fingerprints of which less than a byte lies in the plane that a lookup
    /// searches. With a byte, ten million lookups took a third of the time, inserts half, for a twentieth more memory.
    pub(crate) fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        py.detach(|| {
            let smallest = self.builder().plan()?;
            if self.smallest || self.memory.or(self.bits_per_key).is_some() || has_bytes(&smallest)
            {
                return Ok(smallest);
            }
            let faster = self.builder().remainder_bits(u8::BITS).plan();
            let most = smallest.bytes() + smallest.bytes() / 10;
            Ok(faster.ok().filter(|plan| plan.bytes() <= most).unwrap_or(smallest))
        })
        .map_err(error::plan)
    }

    /// The parameters of a filter. Planning takes a millisecond, so that the last plans are kept.
    pub(crate) fn parameters(&self, py: Python<'_>, seed: u64) -> PyResult<Parameters> {
        const MOST: usize = 256;
        static PLANNED: Mutex<Option<HashMap<Requirements, Parameters>>> = Mutex::new(None);
        let planned = || PLANNED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parameters) = planned().as_ref().and_then(|planned| planned.get(self)) {
            return Ok(Parameters { seed, ..*parameters });
        }
        let Plan { keys, design, .. } = self.plan(py)?;
        let parameters = Parameters { keys, seed, design };
        let mut planned = planned();
        let planned = planned.get_or_insert_default();
        if planned.len() >= MOST {
            planned.clear();
        }
        planned.insert(*self, parameters);
        Ok(parameters)
    }
}

/// Whether lookups compare bytes of fingerprints; or there are no fingerprints.
fn has_bytes(plan: &Plan) -> bool {
    match plan.design {
        Design::Blocked(Layout { blocks: Blocks::Fingerprint { remainder_bits, .. }, .. }) => {
            remainder_bits >= u8::BITS
        }
        _ => true,
    }
}

/// A number of keys or bytes. A float is taken if it is whole: `1e6`.
pub(crate) fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(value) = value.extract() {
        return Ok(value);
    }
    let Ok(number) = value.extract::<f64>() else {
        return Err(wrong_type(name, value, "a whole number"));
    };
    if number >= 0.0 && number < 2_f64.powi(63) && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    Err(RequirementsError::new_err(format!(
        "{name} is {number}: give a whole number from 0 to 2**64 - 1"
    )))
}

pub(crate) fn real(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| wrong_type(name, value, "a number"))
}

fn wrong_type(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let found = value.get_type().getattr(intern!(value.py(), "__name__"));
    let found = found.map_or_else(|_| "?".to_owned(), |found| found.to_string());
    // Too large even for a float.
    if found == "int" {
        return RequirementsError::new_err(format!(
            "{name} is too large: give {wanted} below 2**64"
        ));
    }
    PyTypeError::new_err(format!("{name} is of type {found}: give {wanted}"))
}

/// Threads for columns: at least one, and no more than there are processors.
pub(crate) fn threads(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let threads = whole("threads", value)?;
    if threads == 0 {
        return Err(RequirementsError::new_err("threads is 0: give at least 1"));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(usize::try_from(threads).unwrap_or(usize::MAX).min(processors))
}
