//! The kind of a filter's keys, decided by the first of them.

use std::sync::atomic::{AtomicU8, Ordering};

use equibloom::KeyKind;
use pyo3::{PyErr, PyResult};

use crate::error::{KeyTypeError, RequirementsError};

/// Kinds by the numbers and names of `docs/keys.md`.
const KINDS: [(KeyKind, &str); 5] = [
    (KeyKind::Unspecified, "unspecified"),
    (KeyKind::Bytes, "bytes"),
    (KeyKind::Integer, "integer"),
    (KeyKind::WideInteger, "wide-integer"),
    (KeyKind::Composite, "composite"),
];
/// No key has come yet.
const UNDECIDED: u8 = 255;

/// The kind of a filter's keys. It changes once at most, from undecided to the kind of the first key, so that it needs no lock.
pub(crate) struct Kind(AtomicU8);

impl Kind {
    /// The kind that the user names, or undecided.
    pub(crate) fn named(name: Option<&str>) -> PyResult<Self> {
        let Some(name) = name else { return Ok(Self(AtomicU8::new(UNDECIDED))) };
        match KINDS.iter().position(|&(_, other)| other == name) {
            Some(number) => Ok(Self(AtomicU8::new(number as u8))),
            None => Err(RequirementsError::new_err(format!(
                "kind is {name:?}: give \"bytes\", \"integer\", \"wide-integer\", \"composite\" or \
                 \"unspecified\", or leave it out, and the first key decides"
            ))),
        }
    }

    /// The kind of a filter from a file. Without any keys, an unspecified one is still open.
    pub(crate) fn stated(kind: KeyKind, has_keys: bool) -> Self {
        let undecided = kind == KeyKind::Unspecified && !has_keys;
        Self(AtomicU8::new(if undecided { UNDECIDED } else { number(kind) }))
    }

    pub(crate) fn copied(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }

    pub(crate) fn is_undecided(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNDECIDED
    }

    /// The kind as files have it.
    pub(crate) fn get(&self) -> KeyKind {
        KINDS
            .get(usize::from(self.0.load(Ordering::Relaxed)))
            .map_or(KeyKind::Unspecified, |kind| kind.0)
    }

    pub(crate) fn name(&self) -> Option<&'static str> {
        KINDS.get(usize::from(self.0.load(Ordering::Relaxed))).map(|kind| kind.1)
    }

    /// Whether the filter's keys are of this kind.
    #[inline(always)]
    pub(crate) fn is(&self, kind: KeyKind) -> bool {
        self.0.load(Ordering::Relaxed) == number(kind)
    }

    /// Checks that keys of this kind can be looked up.
    #[inline]
    pub(crate) fn check(&self, kind: KeyKind) -> PyResult<()> {
        let ours = self.0.load(Ordering::Relaxed);
        // Of an unspecified kind is what some other program has built: it knows what its keys are.
        if ours == number(kind) || ours == UNDECIDED || ours == number(KeyKind::Unspecified) {
            return Ok(());
        }
        Err(self.other(kind))
    }

    /// Checks that keys of this kind can be inserted; the first decides.
    #[inline]
    pub(crate) fn claim(&self, kind: KeyKind) -> PyResult<()> {
        if self.0.load(Ordering::Relaxed) == UNDECIDED {
            // If another thread was first, the check tells.
            let _ = self.0.compare_exchange(
                UNDECIDED,
                number(kind),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
        self.check(kind)
    }

    #[cold]
    fn other(&self, kind: KeyKind) -> PyErr {
        let ours = self.get();
        let cure = match (ours, kind) {
            (KeyKind::Integer, KeyKind::Bytes) => "ask with int(…)",
            (KeyKind::Bytes, KeyKind::Integer) => "ask with str(…)",
            _ => "ask with keys of its kind, or make another filter",
        };
        KeyTypeError::new_err(format!("the filter holds {ours}, and was asked for {kind}: {cure}"))
    }
}

/// The number of a kind in files.
#[inline]
const fn number(kind: KeyKind) -> u8 {
    match kind {
        KeyKind::Bytes => 1,
        KeyKind::Integer => 2,
        KeyKind::WideInteger => 3,
        KeyKind::Composite => 4,
        _ => 0,
    }
}
