//! Errors of tables.

use core::fmt;

use equibloom_layout::LayoutError;

/// Why a table could not be made or enlarged. The table is unchanged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TableError {
    /// The plan cannot work.
    Plan(LayoutError),
    /// There is no optimal plan for these numbers.
    #[cfg(feature = "planner")]
    Theory(equibloom_theory::Error),
    /// The size in bytes exceeds the address space.
    TooLarge {
        /// Requested buckets or entries.
        count: u64,
        /// Bytes of each.
        bytes: u64,
    },
    /// The operating system refused the memory.
    OutOfMemory {
        /// Requested bytes.
        bytes: u64,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            #[cfg(feature = "planner")]
            Self::Theory(error) => error.fmt(f),
            Self::TooLarge { count, bytes } => write!(
                f,
                "{count} × {bytes} bytes is more than this machine can address: give fewer entries"
            ),
            Self::OutOfMemory { bytes } => {
                write!(
                    f,
                    "{bytes} bytes of memory could not be allocated: request less or free some"
                )
            }
        }
    }
}

impl core::error::Error for TableError {}

impl From<LayoutError> for TableError {
    fn from(error: LayoutError) -> Self {
        Self::Plan(error)
    }
}

#[cfg(feature = "planner")]
impl From<equibloom_theory::Error> for TableError {
    fn from(error: equibloom_theory::Error) -> Self {
        Self::Theory(error)
    }
}
