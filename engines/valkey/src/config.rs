//! The module's options, as `equibloom.<name>`: in the configuration file, by `CONFIG SET`, or by `MODULE LOADEX`.

use std::sync::Mutex;
use std::sync::atomic::AtomicI64;

use crate::commands::options;
use crate::ffi::{AtomicString, Loader, Number, Text};

/// Most bytes of a filter; 0 is no limit. What a replica gets, or what is loaded, was accepted before.
pub(crate) static MEMORY_LIMIT: Number = Number {
    name: c"memory-limit",
    default: 128 << 20,
    limits: (0, i64::MAX),
    is_memory: true,
    value: AtomicI64::new(128 << 20),
};

/// Keys of a filter that is made without a reservation.
pub(crate) static CAPACITY: Number = Number {
    name: c"capacity",
    default: 100,
    limits: (1, options::MAX_CAPACITY as i64),
    is_memory: false,
    value: AtomicI64::new(100),
};

/// What `EXPANSION` is if it is not said.
pub(crate) static EXPANSION: Number = Number {
    name: c"expansion",
    default: 2,
    limits: (0, options::MAX_EXPANSION as i64),
    is_memory: false,
    value: AtomicI64::new(2),
};

/// Seed of the hash. Filters can be merged if their seeds are equal, also with those of the library and the command,
/// whose default is 0.
pub(crate) static SEED: Number = Number {
    name: c"seed",
    default: 0,
    limits: (0, i64::MAX),
    is_memory: false,
    value: AtomicI64::new(0),
};

/// The false-positive rate of a filter that is made without a reservation.
pub(crate) static ERROR_RATE: Text = Text {
    name: c"error-rate",
    default: c"0.01",
    is_changeable: true,
    check: |text| match options::rate(text.as_bytes()) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{text} is not a rate between 0 and 1, such as 0.01")),
    },
    value: Mutex::new(String::new()),
    shown: AtomicString::none(),
};

/// Prefix of the commands that other modules have, too. Empty: only `EB.*`.
pub(crate) static PREFIX: Text = Text {
    name: c"prefix",
    default: c"BF",
    is_changeable: false,
    check: |text| {
        let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_word
            .then_some(())
            .ok_or_else(|| format!("{text} is no prefix, which has letters and digits"))
    },
    value: Mutex::new(String::new()),
    shown: AtomicString::none(),
};

/// Where `EB.LOAD` and `EB.DUMP` find files. Empty: nowhere.
pub(crate) static DIRECTORY: Text = Text {
    name: c"directory",
    default: c"",
    is_changeable: false,
    check: |text| {
        let is_absolute = text.is_empty() || std::path::Path::new(text).is_absolute();
        is_absolute.then_some(()).ok_or_else(|| format!("{text} is no absolute path"))
    },
    value: Mutex::new(String::new()),
    shown: AtomicString::none(),
};

pub(crate) fn register(loader: &Loader<'_>) -> Result<(), String> {
    for option in [&MEMORY_LIMIT, &CAPACITY, &EXPANSION, &SEED] {
        loader.number(option)?;
    }
    for option in [&ERROR_RATE, &PREFIX, &DIRECTORY] {
        loader.text(option)?;
    }
    loader.read_options()
}

/// The rate of a filter that is made without a reservation.
pub(crate) fn error_rate() -> f64 {
    // What is stored was checked.
    options::rate(ERROR_RATE.get().as_bytes()).unwrap_or(0.01)
}
