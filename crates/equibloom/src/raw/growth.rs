//! The part of a filter that grows: a growing table, or nothing in a library without the planner.

#[cfg(feature = "planner")]
pub(crate) use crate::growing::Growth;
#[cfg(all(feature = "planner", target_has_atomic = "64"))]
pub(crate) use crate::growing::SharedGrowth;
#[cfg(all(feature = "planner", feature = "file"))]
pub(crate) use crate::growing::{MAGIC, StoredGrowth};
#[cfg(not(feature = "planner"))]
pub(crate) use without_planner::*;

#[cfg(not(feature = "planner"))]
mod without_planner {
    #[cfg(feature = "file")]
    use std::io::{Read, Write};

    use crate::error::BuildError;
    #[cfg(feature = "file")]
    use crate::file::FileErrorKind;
    use crate::hashing::KeyHash;
    #[cfg(feature = "file")]
    use crate::hashing::KeyKind;
    use crate::observer::Observer;
    use crate::raw::Insertion;
    use crate::statistics::Statistics;
    #[cfg(feature = "file")]
    use crate::storage::Bytes;

    /// There is none: filters refuse keys beyond the plan.
    #[derive(Clone, PartialEq)]
    pub(crate) enum Growth {}

    impl Growth {
        pub(crate) fn new(_rate: f64) -> Option<Self> {
            None
        }

        pub(crate) fn insert(&mut self, _key: KeyHash) -> Result<Insertion, BuildError> {
            match *self {}
        }

        pub(crate) fn insert_batch(&mut self, _keys: &[KeyHash]) -> Result<(), BuildError> {
            match *self {}
        }

        pub(crate) fn contains(&self, _key: KeyHash) -> bool {
            match *self {}
        }

        pub(crate) fn contains_observed(&self, _key: KeyHash, _observer: impl Observer) -> bool {
            match *self {}
        }

        pub(crate) fn contains_batch(&self, _keys: &[KeyHash], _found: &mut [u64]) {
            match *self {}
        }

        pub(crate) fn prefetch(&self, _key: KeyHash) {
            match *self {}
        }

        pub(crate) fn merge(&mut self, _other: &Self) -> Result<(), BuildError> {
            match *self {}
        }

        pub(crate) fn elements(&self) -> u64 {
            match *self {}
        }

        pub(crate) fn statistics(&self) -> Statistics {
            match *self {}
        }

        pub(crate) fn words(&self) -> core::iter::Empty<u64> {
            match *self {}
        }
    }
    /// There is none.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) struct SharedGrowth;

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl SharedGrowth {
        pub(crate) fn new(_growth: Option<&Growth>, _rate: f64) -> Result<Self, BuildError> {
            Ok(Self)
        }

        pub(crate) fn has_begun(&self) -> bool {
            false
        }

        pub(crate) fn begin(&self) -> Option<()> {
            None
        }

        pub(crate) fn insert(&self, _key: KeyHash) -> Option<Insertion> {
            None
        }

        pub(crate) fn contains(&self, _key: KeyHash) -> bool {
            false
        }

        pub(crate) fn elements(&self) -> u64 {
            0
        }

        pub(crate) fn snapshot(&self) -> Result<Option<Growth>, BuildError> {
            Ok(None)
        }

        pub(crate) fn into_own(self) -> Option<Growth> {
            None
        }

        pub(crate) fn clear(&mut self) {}
    }
    /// The first bytes of its file.
    #[cfg(feature = "file")]
    pub(crate) const MAGIC: [u8; 8] = *b"\x89EQG\r\n\x1a\n";

    /// What is known of a part in a file.
    #[cfg(feature = "file")]
    pub(crate) struct StoredGrowth {
        pub(crate) growth: Growth,
        pub(crate) seed: u64,
        pub(crate) kind: KeyKind,
    }

    #[cfg(feature = "file")]
    impl StoredGrowth {
        pub(crate) fn read(_reader: impl Read, _size: Option<u64>) -> Result<Self, FileErrorKind> {
            Err(FileErrorKind::Unsupported {
                reason: "it has grown, and this library was built without the feature `planner`"
                    .into(),
                cure: "enable that feature",
            })
        }

        pub(crate) fn over(_: &Bytes, _start: u64, file: &[u8]) -> Result<Self, FileErrorKind> {
            Self::read(file, None)
        }
    }

    #[cfg(feature = "file")]
    impl Growth {
        pub(crate) fn write(
            &self,
            _seed: u64,
            _kind: KeyKind,
            _writer: impl Write,
        ) -> Result<(), FileErrorKind> {
            match *self {}
        }

        pub(crate) fn is_mapped(&self) -> bool {
            match *self {}
        }

        pub(crate) fn detach(&mut self) -> Result<(), BuildError> {
            match *self {}
        }
    }
}
