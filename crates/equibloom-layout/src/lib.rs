//! The description of a filter, and the candidate blocks of a key.
//!
//! ```text
//!     filter = blocks (one memory access each) × candidates × rule × overflow list
//! ```
//!
//! A [`Design`] describes a filter completely, as plain data: the library builds it, the models predict it,
//! the planner searches for it, files store it. A [`Layout`] is the design of a blocked filter. Its
//! constructors build the papers' filters, and its [`Placement`] is the papers' name for it:
//!
//! ```
//! use equibloom_layout::{Blocks, Layout, Overflow, Placement, Rule, Share, WhenFull};
//!
//! let rule = Rule::FirstWithRoom { below: 27, coin: Share::new(0.5)? };
//! let layout = Layout::multi_level(Blocks::bloom(512, 11), &[830, 145, 25], rule)?
//!     .with_overflow(Overflow { capacity: 500, when_full: WhenFull::Saturate });
//! layout.check()?;
//! assert_eq!(layout.placement(), Placement::MultiLevel);
//! assert_eq!(layout.block_bytes(), 1_000 * 64);
//! # Ok::<(), equibloom_layout::LayoutError>(())
//! ```
//!
//! [`Design::check`] rejects every invalid design, with the value, the limit and the cure.
//!
//! [`mod@placement`] turns candidates and rules into functions of a [`KeyHash`]. Filters and hash tables share it; it
//! may change with any version.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "serde")]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod blocks;
mod candidates;
mod check;
mod design;
mod error;
mod hash;
mod names;
mod overflow;
pub mod placement;
mod rule;
mod share;

pub use blocks::{Blocks, FINGERPRINT_BLOCK_BITS, WATERMARK_BITS};
pub use candidates::{Candidates, PerSubtable, Proportions};
pub use check::{
    MAX_BLOCK_BITS, MAX_CHOICES, MAX_FINGERPRINT_SUBTABLES, MAX_HASHES, MAX_HINTS, MAX_LISTS,
    MAX_OVERFLOW, MAX_REMAINDER_BITS, MAX_SLOTS, MAX_THRESHOLD, MIN_BLOCK_BITS, MIN_REMAINDER_BITS,
};
pub use design::{Design, HEADER_BYTES, Layout};
pub use error::{Accepted, LayoutError, Number};
pub use hash::KeyHash;
pub use names::{BlockKind, Placement, UnknownName};
pub use overflow::{MAX_GROWTH_BITS, Overflow, WhenFull};
pub use rule::Rule;
pub use share::Share;

// For the other crates of this project, and no promise.
#[doc(hidden)]
pub use check::{check_positive, check_real, check_whole};
#[doc(hidden)]
pub use design::bytes_of_bits;
#[doc(hidden)]
pub use hash::{scale, scale_in_halves};
