//! The options of a new filter: how they are read, checked against the limits, and written for replicas.

use equibloom::{Design, Parameters};

use crate::config;
use crate::ffi::{Context, Flag, Name};
use crate::reply::Error;
use crate::value::Reservation;

/// As other modules have them.
pub(crate) const MAX_CAPACITY: u64 = 1 << 30;
pub(crate) const MAX_EXPANSION: u32 = 32_768;

/// Seconds after which the sum with the present time could overflow.
const MAX_SECONDS: i64 = i64::MAX / 4_000;

/// A false-positive rate.
pub(crate) fn rate(bytes: &[u8]) -> Result<f64, Error> {
    let rate: Option<f64> = number(bytes).filter(|rate: &f64| !rate.is_nan());
    let rate = rate.ok_or(Error::new("ERR bad error rate"))?;
    if rate > 0.0 && rate < 1.0 {
        return Ok(rate);
    }
    Err(Error::new("ERR error rate must be in the range (0.000000, 1.000000)"))
}

pub(crate) fn capacity(bytes: &[u8]) -> Result<u64, Error> {
    let capacity: i64 = number(bytes).ok_or(Error::new("ERR bad capacity"))?;
    let range = Error::because(format!("capacity must be in the range [1, {MAX_CAPACITY}]"));
    u64::try_from(capacity).ok().filter(|keys| (1..=MAX_CAPACITY).contains(keys)).ok_or(range)
}

fn expansion(bytes: &[u8]) -> Result<u32, Error> {
    let expansion: i64 = number(bytes).ok_or(Error::new("ERR bad expansion"))?;
    let range = Error::because(format!("expansion must be in the range [0, {MAX_EXPANSION}]"));
    u32::try_from(expansion).ok().filter(|&times| times <= MAX_EXPANSION).ok_or(range)
}

fn number<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    str::from_utf8(bytes).ok()?.parse().ok()
}

/// Options that were given, in any order.
#[derive(Debug, Default)]
pub(crate) struct Options {
    capacity: Option<u64>,
    rate: Option<f64>,
    expansion: Option<u32>,
    does_not_scale: bool,
    pub(crate) never_creates: bool,
    removable: bool,
    seed: Option<u64>,
    /// Seconds to live.
    pub(crate) seconds: Option<i64>,
    plan: Option<Option<Parameters>>,
}

impl Options {
    /// What `RESERVE` has: a rate, a capacity, and options to the end.
    pub(crate) fn of_reserve<'a>(
        rate: Name<'a>,
        capacity: Name<'a>,
        mut words: impl Iterator<Item = Name<'a>>,
    ) -> Result<Self, Error> {
        let mut given = Self {
            rate: Some(self::rate(rate.bytes())?),
            capacity: Some(self::capacity(capacity.bytes())?),
            ..Self::default()
        };
        while let Some(word) = words.next() {
            match &*word.bytes().to_ascii_uppercase() {
                b"EXPANSION" => {
                    let times = words.next().ok_or(Error::new("ERR no expansion"))?;
                    given.expansion = Some(expansion(times.bytes())?);
                }
                name if given.read(name, &mut words)? => {}
                _ => {
                    let word = String::from_utf8_lossy(word.bytes()).into_owned();
                    return Err(Error::because(format!("unknown argument received: {word:?}")));
                }
            }
        }
        if given.does_not_scale && given.expansion.is_some_and(|times| times > 0) {
            return Err(Error::new("Nonscaling filters cannot expand"));
        }
        Ok(given)
    }

    /// What `INSERT` has: options up to the word `ITEMS`. Its errors are not those of `RESERVE`, and `NONSCALING` wins
    /// over `EXPANSION`, as in other modules.
    pub(crate) fn of_insert<'a>(words: &mut impl Iterator<Item = Name<'a>>) -> Result<Self, Error> {
        let mut given = Self::default();
        loop {
            let word = words.next().ok_or(Error::Arity)?;
            let mut value = || words.next().map(Name::bytes).ok_or(Error::Arity);
            let bad = |text| move |_| Error::new(text);
            match &*word.bytes().to_ascii_uppercase() {
                b"ITEMS" => return Ok(given),
                b"NOCREATE" => given.never_creates = true,
                b"CAPACITY" => {
                    given.capacity = Some(capacity(value()?).map_err(bad("Bad capacity"))?);
                }
                b"ERROR" => given.rate = Some(rate(value()?).map_err(bad("Bad error rate"))?),
                b"EXPANSION" => {
                    given.expansion = Some(expansion(value()?).map_err(bad("Bad expansion"))?);
                }
                name if given.read(name, words)? => {}
                _ => return Err(Error::new("Unknown argument received")),
            }
        }
    }

    /// Reads an option that both commands have. `false` if this is none.
    fn read<'a>(
        &mut self,
        word: &[u8],
        words: &mut impl Iterator<Item = Name<'a>>,
    ) -> Result<bool, Error> {
        let mut value = || words.next().map(Name::bytes).ok_or(Error::Arity);
        match word {
            b"NONSCALING" => self.does_not_scale = true,
            b"REMOVABLE" => self.removable = true,
            b"SEED" => {
                let bad = Error::new("ERR bad seed: it is a whole number below 2^64");
                self.seed = Some(number(value()?).ok_or(bad)?);
            }
            b"EX" => {
                let seconds = number(value()?);
                let valid = seconds.filter(|seconds| (1..=MAX_SECONDS).contains(seconds));
                self.seconds =
                    Some(valid.ok_or(Error::new("ERR invalid expire time: EX takes seconds"))?);
            }
            b"PLAN" => {
                let plan = serde_json::from_slice(value()?);
                self.plan =
                    Some(plan.map_err(|error| Error::because(format!("bad plan: {error}")))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What is asked for, where nothing was said by the defaults of the configuration.
    fn reservation(&self) -> Reservation {
        let default = u32::try_from(config::EXPANSION.get()).unwrap_or(MAX_EXPANSION);
        let expansion = self.expansion.unwrap_or(default);
        Reservation {
            rate: self.rate.unwrap_or_else(config::error_rate),
            capacity: self.capacity.unwrap_or_else(|| config::CAPACITY.get().unsigned_abs()),
            expansion: if self.does_not_scale { 0 } else { expansion },
            removable: self.removable,
            seed: self.seed.unwrap_or_else(|| config::SEED.get().unsigned_abs()),
        }
    }

    /// The filter to make.
    pub(crate) fn filter(&self) -> Result<NewFilter, Error> {
        let reservation = self.reservation();
        let plan = match self.plan {
            Some(plan) => plan,
            None => reservation.plan().map_err(Error::because)?,
        };
        if let Some(Parameters { design, seed, .. }) = plan
            && (seed != reservation.seed
                || design.is_multiset() != reservation.removable
                || reservation.removable && reservation.scales())
        {
            return Err(Error::new("ERR bad plan: it is for another seed or kind of filter"));
        }
        Ok(NewFilter { reservation, plan })
    }
}

/// A filter that is to be made.
#[derive(Debug)]
pub(crate) struct NewFilter {
    pub(crate) reservation: Reservation,
    pub(crate) plan: Option<Parameters>,
}

impl NewFilter {
    /// Bytes that making it takes.
    pub(crate) fn bytes(&self) -> Result<u64, Error> {
        match &self.plan {
            Some(plan) => Ok(Design::bytes(&plan.design)),
            None => self.reservation.growing_bytes().map_err(Error::because),
        }
    }
}

/// Refuses a filter of so many bytes beyond the limits, before anything is allocated.
pub(crate) fn check_memory(context: &Context, bytes: u64) -> Result<(), Error> {
    check_limit(context, bytes)?;
    if context.has(Flag::Accepted) {
        return Ok(());
    }
    let (used, most) = context.memory();
    let used = if context.has(Flag::Evicts) { 0 } else { used };
    if most == 0 || used.saturating_add(bytes) <= most {
        return Ok(());
    }
    Err(Error::Text(
        format!(
            "OOM the filter takes {bytes} bytes, and of maxmemory {most} are {used} used: \
             take fewer keys, or raise maxmemory"
        )
        .into(),
    ))
}

/// Refuses a filter of more bytes than the limit of a filter.
pub(crate) fn check_limit(context: &Context, bytes: u64) -> Result<(), Error> {
    let limit = memory_limit(context);
    if bytes <= limit {
        return Ok(());
    }
    Err(Error::because(format!(
        "the filter takes {bytes} bytes, and equibloom.memory-limit is {limit}: take fewer keys, or raise the limit"
    )))
}

/// [`check_memory`] for a filter that comes in so many bytes, some KiB of which are not the filter's.
pub(crate) fn check_encoded(context: &Context, bytes: u64) -> Result<(), Error> {
    check_memory(context, bytes.saturating_sub(1 << 16))
}

/// Bytes beyond which no filter grows. What a primary or an AOF sends was accepted before.
pub(crate) fn memory_limit(context: &Context) -> u64 {
    match config::MEMORY_LIMIT.get().unsigned_abs() {
        limit if limit > 0 && !context.has(Flag::Accepted) => limit,
        _ => u64::MAX,
    }
}

/// The arguments of `EB.RESERVE`, after the key, that make this filter anywhere.
pub(crate) fn words(filter: &NewFilter) -> Vec<String> {
    let Reservation { rate, capacity, expansion, removable, seed } = filter.reservation;
    // A plan is numbers and names, which are always written.
    let plan = serde_json::to_string(&filter.plan).unwrap_or_default();
    let mut words = vec![rate.to_string(), capacity.to_string()];
    if expansion == 0 {
        words.push("NONSCALING".into());
    } else {
        words.extend(["EXPANSION".into(), expansion.to_string()]);
    }
    if removable {
        words.push("REMOVABLE".into());
    }
    words.extend(["SEED".into(), seed.to_string(), "PLAN".into(), plan]);
    words
}
