//! A key's bytes, the same on every platform and in every language (`docs/keys.md`).

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
#[cfg(target_has_atomic = "ptr")]
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of a filter's keys, stored in files so that other programs query with the same bytes.
///
/// ```
/// use equibloom::{KeyKind, StableKey};
///
/// assert_eq!((<str>::KIND, u8::KIND), (KeyKind::Bytes, KeyKind::Integer));
/// assert_eq!(<(u8, String)>::KIND.to_string(), "composite keys");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum KeyKind {
    /// The file does not say.
    #[default]
    Unspecified,
    /// Byte strings, text, characters, UUIDs and IP addresses.
    Bytes,
    /// Integers of up to 64 bits, truth values, dates and timestamps: eight bytes.
    Integer,
    /// Integers of 128 bits: sixteen bytes.
    WideInteger,
    /// Tuples, sequences, options, and user-defined types.
    Composite,
}

impl KeyKind {
    /// All kinds. A kind's index is its number in files and never changes.
    #[cfg(feature = "file")]
    pub(crate) const ALL: [Self; 5] =
        [Self::Unspecified, Self::Bytes, Self::Integer, Self::WideInteger, Self::Composite];

    /// The kind of two merged filters; `None` if the kinds conflict.
    pub(crate) fn merged(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Unspecified, _) | (_, Self::Unspecified) => Some(Self::Unspecified),
            _ => (self == other).then_some(self),
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "keys of no stated kind",
            Self::Bytes => "text or bytes",
            Self::Integer => "integers",
            Self::WideInteger => "128-bit integers",
            Self::Composite => "composite keys",
        })
    }
}

/// A key with a portable byte representation: the same on every platform, in every version and language.
///
/// | key | bytes |
/// |---|---|
/// | `[u8]`, `str`, `char` | as they are; text and characters in UTF-8 |
/// | integers of up to 64 bits, `usize`, `isize` | the value in eight little-endian bytes, two's complement |
/// | `bool` | the integer 0 or 1 |
/// | `u128`, `i128` | sixteen little-endian bytes |
/// | IP addresses | their 4 or 16 bytes |
/// | tuples, arrays, slices and `Vec` of other keys than `u8` | each element's length in eight little-endian bytes, then its bytes |
/// | `Option` | a tuple of no element or one |
/// | `&`, `Box`, `Rc`, `Arc`, `Cow` | those of the target |
///
/// The width of an integer does not matter, and `("a", "b")` differs from `("ab", "")`:
///
/// ```
/// use equibloom::{KeyHasher, Stable};
///
/// let hasher = Stable::default();
/// assert_eq!(hasher.hash_key(&-5_i8), hasher.hash_key(&-5_i64));
/// assert_eq!(hasher.hash_key(&5_u64), hasher.hash_key(&[5, 0, 0, 0, 0, 0, 0, 0_u8]));
/// assert_ne!(hasher.hash_key(&("a", "b")), hasher.hash_key(&("ab", "")));
/// ```
///
/// Floats are not keys: 0.0 equals −0.0 and NaN does not equal itself, but their bytes disagree. Round them
/// to integers, or use `to_bits`.
///
/// # Custom keys
/// Delegate to a tuple of the fields, or to any other type with the right bytes:
///
/// ```
/// use equibloom::{Filter, StableKey};
///
/// struct Visit {
///     user: u64,
///     page: String,
/// }
///
/// impl StableKey for Visit {
///     fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
///         (self.user, &self.page).with_bytes(then)
///     }
/// }
///
/// let mut filter = Filter::builder().keys(1_000).rate(0.001).build()?;
/// filter.insert(&Visit { user: 7, page: "/".into() })?;
/// assert!(filter.contains(&Visit { user: 7, page: "/".into() }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A type with only [`Hash`](core::hash::Hash) is not a stable key: `Hash` does not specify bytes.
///
/// ```compile_fail,E0277
/// # use equibloom::Filter;
/// #[derive(Hash)]
/// struct Id(u64);
///
/// let filter = Filter::builder().keys(1_000).rate(0.001).build()?;
/// filter.contains(&Id(5)); // `Id` is not a `StableKey`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Implement `StableKey` for it, or build the filter with [`WithBuildHasher`](super::WithBuildHasher).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `StableKey`: its bytes are not defined",
    label = "not a `StableKey`",
    note = "implement `StableKey` for `{Self}`: one method, which can hand its fields on as a tuple",
    note = "or make the filter with the hasher `WithBuildHasher`, which takes every key with `Hash`; such a filter cannot be saved"
)]
pub trait StableKey {
    /// The kind recorded in files. A custom type with the bytes of an integer or a text uses that kind:
    /// `const KIND: KeyKind = u64::KIND;`.
    const KIND: KeyKind = KeyKind::Composite;

    /// Calls `then` with the key's bytes.
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R;

    /// [`KIND`](Self::KIND) of a slice of such keys.
    #[doc(hidden)]
    const SLICE_KIND: KeyKind = KeyKind::Composite;

    /// [`with_bytes`](Self::with_bytes) for a slice of such keys; only `u8` overrides it.
    #[doc(hidden)]
    fn slice_with_bytes<R>(slice: &[Self], then: impl FnOnce(&[u8]) -> R) -> R
    where
        Self: Sized,
    {
        then(Sequence::of(slice).bytes())
    }
}

macro_rules! integers {
    ($kind:ident as $wide:ty: $($integer:ty)*) => {$(
        impl StableKey for $integer {
            const KIND: KeyKind = KeyKind::$kind;

            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                // The cast extends the sign.
                then(&(*self as $wide).to_le_bytes())
            }
        }
    )*};
}

integers!(Integer as u64: bool u16 u32 u64 usize i8 i16 i32 i64 isize);
integers!(WideInteger as u128: u128 i128);

impl StableKey for u8 {
    const KIND: KeyKind = KeyKind::Integer;
    const SLICE_KIND: KeyKind = KeyKind::Bytes;

    #[inline]
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        u64::from(*self).with_bytes(then)
    }

    #[inline]
    fn slice_with_bytes<R>(slice: &[Self], then: impl FnOnce(&[u8]) -> R) -> R {
        then(slice)
    }
}

impl<K: StableKey> StableKey for [K] {
    const KIND: KeyKind = K::SLICE_KIND;

    #[inline]
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        K::slice_with_bytes(self, then)
    }
}

/// Types with bytes given by an expression.
macro_rules! bytes {
    ($($key:ty: |$this:ident| $bytes:expr;)*) => {$(
        impl StableKey for $key {
            const KIND: KeyKind = KeyKind::Bytes;

            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                let $this = self;
                then($bytes)
            }
        }
    )*};
}

bytes! {
    str: |text| text.as_bytes();
    char: |character| character.encode_utf8(&mut [0; 4]).as_bytes();
    Ipv4Addr: |address| &address.octets();
    Ipv6Addr: |address| &address.octets();
}

impl StableKey for IpAddr {
    const KIND: KeyKind = KeyKind::Bytes;

    #[inline]
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::V4(address) => address.with_bytes(then),
            Self::V6(address) => address.with_bytes(then),
        }
    }
}

/// Owners and pointers: the bytes of what they can be borrowed as.
macro_rules! borrowing {
    ($($(#[$condition:meta])* [$($parameters:tt)*] $key:ty => $borrowed:ty;)*) => {$(
        $(#[$condition])*
        impl<$($parameters)*> StableKey for $key {
            const KIND: KeyKind = <$borrowed>::KIND;

            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                <$borrowed>::with_bytes(self, then)
            }
        }
    )*};
}

borrowing! {
    [] String => str;
    [K: StableKey] Vec<K> => [K];
    [K: StableKey, const N: usize] [K; N] => [K];
    [K: StableKey + ?Sized] &K => K;
    [K: StableKey + ?Sized] Box<K> => K;
    [K: StableKey + ?Sized] Rc<K> => K;
    #[cfg(target_has_atomic = "ptr")] [K: StableKey + ?Sized] Arc<K> => K;
    [K: StableKey + ToOwned + ?Sized] Cow<'_, K> => K;
}

impl<K: StableKey> StableKey for Option<K> {
    #[inline]
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        then(Sequence::of(self).bytes())
    }
}

macro_rules! tuples {
    ($(($($element:ident)+))*) => {$(
        impl<$($element: StableKey),+> StableKey for ($($element,)+) {
            #[inline]
            fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
                #[allow(non_snake_case, reason = "one name for an element and its type")]
                let ($($element,)+) = self;
                let mut sequence = Sequence::new();
                $(sequence.push($element);)+
                then(sequence.bytes())
            }
        }
    )*};
}

tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

/// Longest sequence kept on the stack, in bytes: several integers and a short text.
const ON_STACK: usize = 128;

/// The bytes of a sequence: each element's length and bytes.
struct Sequence {
    on_stack: [u8; ON_STACK],
    length: usize,
    /// All bytes, once they exceed `ON_STACK`.
    on_heap: Vec<u8>,
}

impl Sequence {
    const fn new() -> Self {
        Self { on_stack: [0; ON_STACK], length: 0, on_heap: Vec::new() }
    }

    fn of<'a, K: StableKey + 'a>(elements: impl IntoIterator<Item = &'a K>) -> Self {
        let mut sequence = Self::new();
        elements.into_iter().for_each(|element| sequence.push(element));
        sequence
    }

    fn push<K: StableKey>(&mut self, element: &K) {
        element.with_bytes(|bytes| {
            self.extend(&(bytes.len() as u64).to_le_bytes());
            self.extend(bytes);
        });
    }

    fn extend(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        match self.on_stack.get_mut(self.length..end) {
            Some(room) => room.copy_from_slice(bytes),
            None => {
                if self.on_heap.is_empty() {
                    self.on_heap.extend_from_slice(&self.on_stack[..self.length]);
                }
                self.on_heap.extend_from_slice(bytes);
            }
        }
        self.length = end;
    }

    fn bytes(&self) -> &[u8] {
        self.on_stack.get(..self.length).unwrap_or(&self.on_heap)
    }
}
