//! A filter's complete description.

use crate::blocks::Blocks;
use crate::candidates::Candidates;
use crate::check::MAX_HASHES;
use crate::error::LayoutError;
use crate::names::{BlockKind, Placement};
use crate::overflow::{Overflow, WhenFull};
use crate::rule::Rule;
use crate::share::Share;

/// Upper bound on the bytes of a filter's own fields; the library's tests check it.
pub const HEADER_BYTES: u64 = 832;

/// Bytes of `bits` bits, in whole cache lines.
pub const fn bytes_of_bits(bits: u64) -> u64 {
    bits.div_ceil(512).saturating_mul(64)
}

/// The complete description of a filter, except for the hash function.
///
/// ```
/// use equibloom_layout::{Blocks, Design, Layout};
///
/// let classical = Design::Classical { bits: 16_000, hashes: 11 };
/// let blocked = Design::from(Layout::blocked(Blocks::bloom(512, 11), 32));
/// assert_eq!((classical.name(), blocked.name()), ("classical", "blocked"));
/// assert_eq!(blocked.block_bytes(), 32 * 64);
/// assert!(classical.check().is_ok() && blocked.check().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "design", rename_all = "kebab-case")
)]
// A design is read when a filter is built, not on the hot path.
#[allow(clippy::large_enum_variant)]
pub enum Design {
    /// Bloom's filter: `hashes` bits per key anywhere in one array.
    Classical {
        /// Bits of the array.
        bits: u64,
        /// Bits set per key.
        hashes: u32,
    },
    /// A blocked filter.
    Blocked(Layout),
    /// A list of the keys' 64-bit hashes, for very few keys.
    List {
        /// Its capacity, and what happens to further keys. A list that saturates grows.
        overflow: Overflow,
        /// Whether every insert is stored, so that keys can be removed.
        multiset: bool,
    },
}

/// A blocked filter: blocks × candidates × rule × overflow list.
///
/// The constructors have the papers' names. Each takes the blocks first; see [`Rule`] for thresholds.
///
/// ```
/// use equibloom_layout::{Blocks, Layout, Placement, Rule};
///
/// let blocks = Blocks::bloom(512, 11);
/// let layouts = [
///     (Layout::two_choice(blocks, 1_000), Placement::TwoChoice),
///     (Layout::single(blocks, 1_000, Rule::below(33)), Placement::Single),
///     (Layout::multi_level(blocks, &[830, 145, 25], Rule::below(33))?, Placement::MultiLevel),
/// ];
/// assert!(layouts.iter().all(|(layout, placement)| layout.placement() == *placement));
/// # Ok::<(), equibloom_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Layout {
    /// Size and contents of a block.
    pub blocks: Blocks,
    /// The candidate blocks of a key.
    pub candidates: Candidates,
    /// Which candidate stores the key.
    pub rule: Rule,
    /// Total block accesses that placing keys may cost. Once they are spent, new keys go to the overflow
    /// list.
    pub budget: Option<u64>,
    /// The overflow list, for keys that no block admits.
    pub overflow: Overflow,
    /// Whether every insert is stored, even of a key that seems present, so that keys can be removed.
    pub multiset: bool,
}

impl Design {
    /// A classical filter with the best number of hashes for `keys`: `bits / keys × ln 2`, rounded.
    ///
    /// ```
    /// use equibloom_layout::Design;
    ///
    /// assert_eq!(Design::classical(8_000, 1_000), Design::Classical { bits: 8_000, hashes: 6 });
    /// assert_eq!(Design::classical(100, 1_000), Design::Classical { bits: 100, hashes: 1 });
    /// ```
    pub fn classical(bits: u64, keys: u64) -> Self {
        let best = bits as f64 / keys.max(1) as f64 * core::f64::consts::LN_2;
        // The cast rounds down and saturates.
        let hashes = ((best + 0.5) as u32).clamp(1, MAX_HASHES);
        Self::Classical { bits, hashes }
    }

    /// The layout of a blocked filter.
    pub const fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Blocked(layout) => Some(layout),
            Self::Classical { .. } | Self::List { .. } => None,
        }
    }

    /// Whether every insert is stored, so that keys can be removed.
    pub const fn is_multiset(&self) -> bool {
        match *self {
            Self::Classical { .. } => false,
            Self::Blocked(Layout { multiset, .. }) | Self::List { multiset, .. } => multiset,
        }
    }

    /// The papers' name for the placement of keys.
    pub const fn placement(&self) -> Placement {
        match self {
            Self::Classical { .. } => Placement::Classical,
            Self::Blocked(layout) => layout.placement(),
            Self::List { .. } => Placement::List,
        }
    }

    /// The kind of blocks; `None` for a classical filter and for a list.
    pub const fn block_kind(&self) -> Option<BlockKind> {
        match self {
            Self::Blocked(layout) => Some(layout.block_kind()),
            Self::Classical { .. } | Self::List { .. } => None,
        }
    }

    /// A short name: the kind of blocks if they store fingerprints, the placement otherwise.
    pub const fn name(&self) -> &'static str {
        match self.block_kind() {
            Some(BlockKind::Fingerprint) => BlockKind::Fingerprint.as_str(),
            _ => self.placement().as_str(),
        }
    }

    /// Bits set per key; 0 for fingerprint blocks and lists.
    pub const fn hashes(&self) -> u32 {
        match self {
            Self::Classical { hashes, .. } => *hashes,
            Self::Blocked(layout) => layout.blocks.hashes(),
            Self::List { .. } => 0,
        }
    }

    /// Maximum number of bits set per key in this filter.
    pub fn max_hashes(&self) -> u32 {
        self.layout().map_or(MAX_HASHES, Layout::max_hashes)
    }

    /// The same filter with another number of bits set per key; no effect on fingerprint blocks and lists.
    #[must_use]
    pub const fn with_hashes(mut self, number: u32) -> Self {
        match &mut self {
            Self::Classical { hashes, .. } => *hashes = number,
            Self::Blocked(layout) => layout.blocks = layout.blocks.with_hashes(number),
            Self::List { .. } => {}
        }
        self
    }

    /// Hint bits of a block.
    pub fn hints(&self) -> u32 {
        self.layout().map_or(0, |layout| layout.blocks.hints())
    }

    /// The overflow list, or the list that is the filter, as planned.
    pub const fn overflow(&self) -> Overflow {
        match *self {
            Self::Classical { .. } => Overflow::NONE,
            Self::Blocked(Layout { overflow, .. }) | Self::List { overflow, .. } => overflow,
        }
    }

    /// Maximum accesses of one key: blocks, bits of a classical filter, or the list.
    pub const fn max_accesses(&self) -> u32 {
        match self {
            Self::Classical { hashes, .. } => *hashes,
            Self::Blocked(layout) => layout.candidates.choices(),
            Self::List { .. } => 1,
        }
    }

    /// Bytes of the array or of all blocks, padding included; saturates at `u64::MAX`.
    pub fn block_bytes(&self) -> u64 {
        match self {
            Self::Classical { bits, .. } => bytes_of_bits(*bits),
            Self::Blocked(layout) => layout.block_bytes(),
            Self::List { .. } => 0,
        }
    }

    /// Words of an overflow list of this capacity. Multisets count copies in a second word per slot.
    pub const fn overflow_words(&self, capacity: u64) -> u64 {
        let list = Overflow { capacity, when_full: WhenFull::Refuse };
        list.slots().saturating_mul(1 + self.is_multiset() as u64)
    }

    /// Bytes of an overflow list of this capacity, in whole cache lines.
    pub const fn overflow_bytes(&self, capacity: u64) -> u64 {
        bytes_of_bits(self.overflow_words(capacity).saturating_mul(64))
    }

    /// Total memory in bytes: blocks with padding, overflow list, header.
    pub fn bytes(&self) -> u64 {
        let list = self.overflow_bytes(self.overflow().capacity);
        self.block_bytes().saturating_add(list).saturating_add(HEADER_BYTES)
    }

    /// Mutable access to the table sizes in blocks (for a classical filter: the array size in bits; for a list: none).
    pub fn sizes_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Classical { bits, .. } => core::slice::from_mut(bits),
            Self::Blocked(layout) => layout.candidates.sizes_mut(),
            Self::List { .. } => &mut [],
        }
    }
}

impl From<Layout> for Design {
    fn from(layout: Layout) -> Self {
        Self::Blocked(layout)
    }
}

impl Layout {
    /// A layout without overflow list, budget or removal.
    pub const fn new(blocks: Blocks, candidates: Candidates, rule: Rule) -> Self {
        Self { blocks, candidates, rule, budget: None, overflow: Overflow::NONE, multiset: false }
    }

    /// One of `count` blocks, whatever its load.
    pub const fn blocked(blocks: Blocks, count: u64) -> Self {
        Self::new(blocks, Candidates::anywhere(count, 1), Rule::LeastLoaded)
    }

    /// The less loaded of two of `count` blocks.
    pub const fn two_choice(blocks: Blocks, count: u64) -> Self {
        Self::new(blocks, Candidates::anywhere(count, 2), Rule::LeastLoaded)
    }

    /// The less loaded of two of `count` blocks for a share `alpha` of the keys, one block for the rest.
    pub const fn one_plus_alpha(blocks: Blocks, count: u64, alpha: Share) -> Self {
        let candidates = Candidates::Anywhere { blocks: count, choices: 2, share: alpha };
        Self::new(blocks, candidates, Rule::LeastLoaded)
    }

    /// One of `count` blocks, as long as the rule admits the key there.
    pub const fn single(blocks: Blocks, count: u64, rule: Rule) -> Self {
        Self::sequential(blocks, count, 1, rule)
    }

    /// The first of `choices` blocks, anywhere among `count`, that admits the key.
    pub const fn sequential(blocks: Blocks, count: u64, choices: u32, rule: Rule) -> Self {
        Self::new(blocks, Candidates::anywhere(count, choices), rule)
    }

    /// The first of several blocks, one in each subtable of these sizes, that admits the key.
    pub fn multi_level(blocks: Blocks, sizes: &[u64], rule: Rule) -> Result<Self, LayoutError> {
        Ok(Self::new(blocks, Candidates::subtables(sizes)?, rule))
    }

    /// Fingerprint blocks in one to four subtables of these sizes.
    ///
    /// ```
    /// use equibloom_layout::{Blocks, Layout, Rule};
    ///
    /// let blocks = Blocks::Fingerprint { slots: 48, lists: 72, remainder_bits: 8 };
    /// let layout = Layout::fingerprints(blocks, &[900, 90, 10])?;
    /// layout.check()?;
    /// assert_eq!(layout.rule, Rule::KeepLargest);
    /// # Ok::<(), equibloom_layout::LayoutError>(())
    /// ```
    pub fn fingerprints(blocks: Blocks, sizes: &[u64]) -> Result<Self, LayoutError> {
        Self::multi_level(blocks, sizes, Rule::KeepLargest)
    }

    /// The same filter with this overflow list.
    #[must_use]
    pub const fn with_overflow(self, overflow: Overflow) -> Self {
        Self { overflow, ..self }
    }

    /// The same filter with a limit on the total block accesses for placing keys.
    #[must_use]
    pub const fn with_budget(self, budget: Option<u64>) -> Self {
        Self { budget, ..self }
    }

    /// The same filter, storing every insert so that keys can be removed.
    #[must_use]
    pub const fn with_removal(self) -> Self {
        Self { multiset: true, ..self }
    }

    /// The papers' name for the placement of keys.
    pub const fn placement(&self) -> Placement {
        match (self.rule, self.candidates) {
            (Rule::LeastLoaded, Candidates::Anywhere { choices: 1, .. }) => Placement::Blocked,
            (Rule::LeastLoaded, Candidates::Anywhere { share, .. }) if !share.is_all() => {
                Placement::OnePlusAlpha
            }
            (Rule::LeastLoaded, _) => Placement::TwoChoice,
            (_, Candidates::Anywhere { choices: 1, .. }) => Placement::Single,
            (_, Candidates::Anywhere { .. }) => Placement::Sequential,
            (_, Candidates::Subtables { .. }) => Placement::MultiLevel,
        }
    }

    /// The kind of blocks.
    pub const fn block_kind(&self) -> BlockKind {
        match self.blocks {
            Blocks::Bloom { .. } => BlockKind::Bloom,
            Blocks::Fingerprint { .. } => BlockKind::Fingerprint,
        }
    }

    /// Bits of a Bloom block available to keys: its bits less load counter and hints.
    pub const fn data_bits(&self) -> u32 {
        let reserved = self.rule.counter_bits().saturating_add(self.blocks.hints());
        self.blocks.bits().saturating_sub(reserved)
    }

    /// Maximum number of bits set per key in a Bloom block: more would fill half of it with one key.
    pub fn max_hashes(&self) -> u32 {
        MAX_HASHES.min(self.data_bits() / 2)
    }

    /// Bytes of all blocks, padding included; saturates at `u64::MAX`.
    pub fn block_bytes(&self) -> u64 {
        bytes_of_bits(self.candidates.blocks().saturating_mul(self.blocks.stride_bits()))
    }
}
