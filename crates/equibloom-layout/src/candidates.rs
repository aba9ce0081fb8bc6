//! Candidate blocks of a key: their number and location, and the table sizes.

use core::fmt;
use core::num::NonZeroU32;
use core::ops::{Deref, DerefMut};

use crate::check::{MAX_CHOICES, check_whole};
use crate::error::LayoutError;
use crate::share::Share;

/// The candidate blocks of a key. The only place that holds a filter's table sizes.
///
/// ```
/// use equibloom_layout::{Candidates, Share};
///
/// let two = Candidates::anywhere(1_000, 2);
/// assert_eq!(two, Candidates::Anywhere { blocks: 1_000, choices: 2, share: Share::ALL });
/// let subtables = Candidates::subtables(&[830, 145, 25])?;
/// assert_eq!((subtables.blocks(), subtables.choices()), (1_000, 3));
/// # Ok::<(), equibloom_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Candidates {
    /// Blocks anywhere in one table.
    Anywhere {
        /// Blocks of the table.
        blocks: u64,
        /// Candidates of a key.
        choices: u32,
        /// Share of the keys with more than one candidate (the papers' α).
        share: Share,
    },
    /// One block in each of several subtables, in the order they are tried.
    Subtables {
        /// Blocks of each subtable.
        sizes: PerSubtable<u64>,
    },
}

impl Candidates {
    /// `choices` candidates anywhere among `blocks`, for every key.
    pub const fn anywhere(blocks: u64, choices: u32) -> Self {
        Self::Anywhere { blocks, choices, share: Share::ALL }
    }

    /// One candidate in each subtable.
    pub fn subtables(sizes: &[u64]) -> Result<Self, LayoutError> {
        Ok(Self::Subtables { sizes: PerSubtable::new(sizes)? })
    }

    /// Blocks of all tables; saturates at `u64::MAX`.
    pub fn blocks(&self) -> u64 {
        match self {
            Self::Anywhere { blocks, .. } => *blocks,
            Self::Subtables { sizes } => {
                sizes.iter().fold(0, |sum: u64, &size| sum.saturating_add(size))
            }
        }
    }

    /// Maximum number of candidates of a key.
    pub const fn choices(&self) -> u32 {
        match self {
            Self::Anywhere { choices, .. } => *choices,
            Self::Subtables { sizes } => sizes.len.get(),
        }
    }

    /// The same candidates without sizes; [`Proportions::with_blocks`] is the inverse.
    ///
    /// ```
    /// use equibloom_layout::{Candidates, Proportions};
    ///
    /// let candidates = Candidates::subtables(&[6, 2])?;
    /// assert_eq!(candidates.proportions(), Proportions::subtables(&[0.75, 0.25])?);
    /// assert_eq!(candidates.proportions().with_blocks(8), candidates);
    /// # Ok::<(), equibloom_layout::LayoutError>(())
    /// ```
    pub fn proportions(&self) -> Proportions {
        match *self {
            Self::Anywhere { choices, share, .. } => Proportions::Anywhere { choices, share },
            Self::Subtables { sizes } => {
                let blocks = self.blocks() as f64;
                Proportions::Subtables { shares: sizes.map(|size| size as f64 / blocks) }
            }
        }
    }

    /// Mutable access to the sizes of the table or subtables.
    pub fn sizes_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Anywhere { blocks, .. } => core::slice::from_mut(blocks),
            Self::Subtables { sizes } => sizes,
        }
    }
}

/// [`Candidates`] without sizes: what remains constant when a table grows, and what fluid limits depend on.
///
/// ```
/// use equibloom_layout::{Candidates, Proportions};
///
/// let proportions = Proportions::subtables(&[0.75, 0.25])?;
/// assert_eq!(proportions.with_blocks(8), Candidates::subtables(&[6, 2])?);
/// # Ok::<(), equibloom_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "kebab-case")
)]
pub enum Proportions {
    /// Anywhere in one table.
    Anywhere {
        /// Candidates of a key.
        choices: u32,
        /// Share of the keys with more than one candidate.
        share: Share,
    },
    /// One in each of several subtables.
    Subtables {
        /// Sizes of the subtables as shares of the whole.
        shares: PerSubtable<f64>,
    },
}

impl Proportions {
    /// `choices` candidates anywhere, for every key.
    pub const fn anywhere(choices: u32) -> Self {
        Self::Anywhere { choices, share: Share::ALL }
    }

    /// One candidate in each subtable.
    pub fn subtables(shares: &[f64]) -> Result<Self, LayoutError> {
        Ok(Self::Subtables { shares: PerSubtable::new(shares)? })
    }

    /// One candidate in each of `choices` subtables, each of which is `ratio` times as large as the one
    /// before it: the papers' subtables.
    ///
    /// ```
    /// use equibloom_layout::Proportions;
    ///
    /// let halves = Proportions::geometric(0.5, 3)?;
    /// assert_eq!(halves, Proportions::subtables(&[4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0])?);
    /// # Ok::<(), equibloom_layout::LayoutError>(())
    /// ```
    pub fn geometric(ratio: f64, choices: u32) -> Result<Self, LayoutError> {
        check_whole("number of subtables", choices.into(), 1, MAX_CHOICES.into())?;
        let mut sizes = [1.0; MAX_CHOICES as usize];
        for level in 1..choices as usize {
            sizes[level] = ratio * sizes[level - 1];
        }
        let sizes = &sizes[..choices as usize];
        let sum: f64 = sizes.iter().sum();
        Ok(Self::Subtables { shares: PerSubtable::new(sizes)?.map(|size| size / sum) })
    }

    /// Maximum number of candidates of a key.
    pub const fn choices(&self) -> u32 {
        match self {
            Self::Anywhere { choices, .. } => *choices,
            Self::Subtables { shares } => shares.len.get(),
        }
    }

    /// Share of the keys with more than one candidate.
    pub const fn share(&self) -> Share {
        match self {
            Self::Anywhere { share, .. } => *share,
            Self::Subtables { .. } => Share::ALL,
        }
    }

    /// Candidates among `blocks` blocks. Subtable sizes are rounded; the largest takes the rounding error,
    /// and none is empty if there is a block for each.
    ///
    /// ```
    /// use equibloom_layout::{Candidates, Proportions};
    ///
    /// let proportions = Proportions::subtables(&[0.83, 0.142, 0.028])?;
    /// assert_eq!(proportions.with_blocks(1_000), Candidates::subtables(&[830, 142, 28])?);
    /// assert_eq!(proportions.with_blocks(3), Candidates::subtables(&[1, 1, 1])?);
    /// # Ok::<(), equibloom_layout::LayoutError>(())
    /// ```
    pub fn with_blocks(&self, blocks: u64) -> Candidates {
        match *self {
            Self::Anywhere { choices, share } => Candidates::Anywhere { blocks, choices, share },
            Self::Subtables { shares } => Candidates::Subtables { sizes: divide(blocks, &shares) },
        }
    }
}

fn divide(blocks: u64, shares: &PerSubtable<f64>) -> PerSubtable<u64> {
    let largest = (0..shares.len()).rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
    let least = u64::from(blocks >= shares.len() as u64);
    let (mut left, mut to_come) = (blocks, shares.len() as u64);
    let mut sizes = shares.map(|_| 0);
    for at in (0..shares.len()).filter(|&at| Some(at) != largest) {
        to_come -= 1;
        // Rounds half up; the cast converts negative numbers and NaN to 0.
        let wanted = (shares[at] * blocks as f64 + 0.5) as u64;
        sizes[at] = wanted.clamp(least, left - least * to_come);
        left -= sizes[at];
    }
    if let Some(at) = largest {
        sizes[at] = left;
    }
    sizes
}

/// A value for each of at most [`MAX_CHOICES`] subtables, stored inline. Dereferences to a slice. Serialised as a
/// list.
///
/// ```
/// use equibloom_layout::PerSubtable;
///
/// let sizes = PerSubtable::new(&[830, 145, 25])?;
/// assert_eq!(sizes.iter().sum::<i32>(), 1_000);
/// assert_eq!(*sizes.map(|size| size / 5), [166, 29, 5]);
/// assert!(PerSubtable::new(&[1; 17]).is_err());
/// # Ok::<(), equibloom_layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "alloc::vec::Vec<T>", try_from = "alloc::vec::Vec<T>"),
    serde(bound = "T: Copy + Default + serde::Serialize + serde::de::DeserializeOwned")
)]
pub struct PerSubtable<T> {
    // Unused values are the default, so that equal lists are equal arrays.
    values: [T; MAX_CHOICES as usize],
    // Never 0, which leaves a value for the other candidates: a filter's description is smaller by a word.
    len: NonZeroU32,
}

impl<T: Copy + Default> PerSubtable<T> {
    /// From 1 to [`MAX_CHOICES`] values.
    pub fn new(values: &[T]) -> Result<Self, LayoutError> {
        check_whole("number of subtables", values.len() as u64, 1, MAX_CHOICES.into())?;
        Ok(Self::of_checked(values))
    }

    fn of_checked(values: &[T]) -> Self {
        let mut all = [T::default(); MAX_CHOICES as usize];
        all[..values.len()].copy_from_slice(values);
        Self { values: all, len: NonZeroU32::new(values.len() as u32).unwrap_or(NonZeroU32::MIN) }
    }

    /// Applies `change` to each value.
    #[must_use]
    pub fn map<U: Copy + Default>(&self, change: impl Fn(T) -> U) -> PerSubtable<U> {
        let mut values = [U::default(); MAX_CHOICES as usize];
        for (slot, value) in values.iter_mut().zip(self.iter()) {
            *slot = change(*value);
        }
        PerSubtable { values, len: self.len }
    }
}

impl<T: fmt::Debug> fmt::Debug for PerSubtable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.values[..self.len.get() as usize]).finish()
    }
}

/// A list of constant length, which the compiler checks.
///
/// ```
/// use equibloom_layout::PerSubtable;
///
/// assert_eq!(Ok(PerSubtable::from([0.8, 0.2])), PerSubtable::new(&[0.8, 0.2]));
/// ```
impl<T: Copy + Default, const N: usize> From<[T; N]> for PerSubtable<T> {
    fn from(values: [T; N]) -> Self {
        const { assert!(1 <= N && N <= MAX_CHOICES as usize, "from 1 to `MAX_CHOICES` subtables") }
        Self::of_checked(&values)
    }
}

impl<T> Deref for PerSubtable<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..self.len.get() as usize]
    }
}

impl<T> DerefMut for PerSubtable<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..self.len.get() as usize]
    }
}

#[cfg(feature = "serde")]
impl<T: Copy + Default> TryFrom<alloc::vec::Vec<T>> for PerSubtable<T> {
    type Error = LayoutError;

    fn try_from(values: alloc::vec::Vec<T>) -> Result<Self, LayoutError> {
        Self::new(&values)
    }
}

#[cfg(feature = "serde")]
impl<T: Copy> From<PerSubtable<T>> for alloc::vec::Vec<T> {
    fn from(values: PerSubtable<T>) -> Self {
        values.to_vec()
    }
}

#[cfg(test)]
mod tests;
