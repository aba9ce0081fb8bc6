//! Pages to read before the reference.

#[doc = include_str!("../docs/which-filter.md")]
pub mod which_filter {}

#[doc = include_str!("../docs/from-fastbloom.md")]
pub mod coming_from_fastbloom {}
