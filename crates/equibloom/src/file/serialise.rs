//! Whole filters as serde values: the bytes of a file. Reading checks everything, as from a file.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::read::{self, Input};
use super::{FileErrorKind, typed};
use crate::filter::Filter;
use crate::growing::GrowingFilter;
#[cfg(target_has_atomic = "64")]
use crate::growing::SharedGrowingFilter;
use crate::hash_filter::HashFilter;
use crate::hashing::{NamedHasher, Stable, StableKey};
#[cfg(target_has_atomic = "64")]
use crate::shared::SharedFilter;

impl Serialize for HashFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for HashFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        filter(deserializer, Stable::NAME, Ok)
    }
}

/// A filter is serialised as the [bytes of its file](Filter::to_bytes): compact in binary formats, in JSON an array
/// of numbers.
///
/// ```
/// use equibloom::Filter;
///
/// let mut filter: Filter<str> = Filter::builder().keys(3).rate(0.01).build()?;
/// filter.insert("alice@example.com")?;
/// let json = serde_json::to_string(&filter)?;
/// assert!(serde_json::from_str::<Filter<str>>(&json)? == filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<K: ?Sized, H: NamedHasher<K>> Serialize for Filter<K, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
    }
}

impl<'de, K: ?Sized, H: NamedHasher<K>> Deserialize<'de> for Filter<K, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        filter(deserializer, H::NAME, typed)
    }
}

/// From a [`snapshot`](SharedFilter::snapshot), while threads go on using it.
#[cfg(target_has_atomic = "64")]
impl<K: ?Sized, H: NamedHasher<K> + Clone> Serialize for SharedFilter<K, H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
    }
}

#[cfg(target_has_atomic = "64")]
impl<'de, K: ?Sized, H: NamedHasher<K>> Deserialize<'de> for SharedFilter<K, H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Filter::deserialize(deserializer)?.into_shared().map_err(de::Error::custom)
    }
}

/// As the [bytes of its file](GrowingFilter::to_bytes).
///
/// ```
/// use equibloom::{Filter, GrowingFilter};
///
/// let mut filter: GrowingFilter<str> = Filter::builder().rate(0.01).build_growing()?;
/// filter.insert("alice@example.com")?;
/// let json = serde_json::to_string(&filter)?;
/// assert!(serde_json::from_str::<GrowingFilter<str>>(&json)? == filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<K: StableKey + ?Sized> Serialize for GrowingFilter<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
    }
}

impl<'de, K: StableKey + ?Sized> Deserialize<'de> for GrowingFilter<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        Self::from_bytes(&bytes).map_err(de::Error::custom)
    }
}

/// From a [`snapshot`](SharedGrowingFilter::snapshot), while threads go on using it.
#[cfg(target_has_atomic = "64")]
impl<K: StableKey + ?Sized> Serialize for SharedGrowingFilter<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(ser::Error::custom)?)
    }
}

#[cfg(target_has_atomic = "64")]
impl<'de, K: StableKey + ?Sized> Deserialize<'de> for SharedGrowingFilter<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        GrowingFilter::deserialize(deserializer)?.into_shared().map_err(de::Error::custom)
    }
}

/// A filter with keys of this hash, from exactly its bytes.
fn filter<'de, D: Deserializer<'de>, F>(
    deserializer: D,
    hash: &str,
    typed: impl FnOnce(HashFilter) -> Result<F, FileErrorKind>,
) -> Result<F, D::Error> {
    let bytes = deserializer.deserialize_byte_buf(Bytes)?;
    let input = Input::new(&bytes[..], Some(bytes.len() as u64));
    read::filter(input, hash).and_then(typed).map_err(de::Error::custom)
}

/// Takes bytes in any form that a format has for them.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a filter file")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
