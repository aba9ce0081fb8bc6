//! The bytes of keys are those of `docs/keys.md`: its test vectors, written by `keys.py` with the reference
//! hash.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::borrow::Cow;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use equibloom::{KeyHasher, KeyKind, Stable, StableKey};
use serde_json::Value;

/// A key of a vector, converted to a Rust type.
enum Key {
    Bytes(Vec<u8>),
    Text(String),
    Char(char),
    Ip(IpAddr),
    Integer(u64),
    Bool(bool),
    Wide(u128),
    Tuple(Vec<Self>),
    Option(Option<Box<Self>>),
}

impl StableKey for Key {
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::Bytes(key) => key.with_bytes(then),
            Self::Text(key) => key.with_bytes(then),
            Self::Char(key) => key.with_bytes(then),
            Self::Ip(key) => key.with_bytes(then),
            Self::Integer(key) => key.with_bytes(then),
            Self::Bool(key) => key.with_bytes(then),
            Self::Wide(key) => key.with_bytes(then),
            // An enum cannot hold tuples of all lengths; the test of sequences compares some with slices.
            Self::Tuple(key) => key.with_bytes(then),
            Self::Option(key) => key.with_bytes(then),
        }
    }
}

fn bytes(key: &(impl StableKey + ?Sized)) -> Vec<u8> {
    key.with_bytes(<[u8]>::to_vec)
}

fn from_hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// The key and its kind, by the vector's type and value.
fn key(vector: &Value) -> (Key, KeyKind) {
    let value = &vector["value"];
    let text = || value.as_str().unwrap();
    // Parsed as signed and unsigned: each value fits one of them, and few vectors both.
    let wide =
        |text: &str| text.parse::<i128>().map_or_else(|_| text.parse().unwrap(), |n| n as u128);
    match vector["type"].as_str().unwrap() {
        "bytes" => (Key::Bytes(from_hex(text())), <[u8]>::KIND),
        "text" => (Key::Text(text().to_owned()), str::KIND),
        "char" => (Key::Char(text().parse().unwrap()), char::KIND),
        "ip" => (Key::Ip(text().parse().unwrap()), IpAddr::KIND),
        "uuid" => (Key::Bytes(from_hex(&text().replace('-', ""))), <[u8; 16]>::KIND),
        "integer" => {
            check_all_widths(
                text().parse().unwrap(),
                &from_hex(vector["bytes"].as_str().unwrap_or_default()),
            );
            (Key::Integer(wide(text()) as u64), u64::KIND)
        }
        "bool" => (Key::Bool(value.as_bool().unwrap()), bool::KIND),
        "date" | "timestamp" => {
            (Key::Integer(wide(vector["integer"].as_str().unwrap()) as u64), i64::KIND)
        }
        "wide-integer" => (Key::Wide(wide(text())), u128::KIND),
        "tuple" => {
            let elements = value.as_array().unwrap().iter();
            (Key::Tuple(elements.map(|element| key(element).0).collect()), <(u64,)>::KIND)
        }
        "option" => {
            let element = (!value.is_null()).then(|| Box::new(key(value).0));
            (Key::Option(element), Option::<u64>::KIND)
        }
        other => panic!("unknown type {other}"),
    }
}

/// An integer is the same key in every type that holds it. Elements of tuples have no bytes of their own.
fn check_all_widths(value: i128, expected: &[u8]) {
    macro_rules! check {
        ($($integer:ty)*) => {$(
            if !expected.is_empty() && let Ok(key) = <$integer>::try_from(value) {
                assert_eq!(bytes(&key), expected, "{value} as {}", stringify!($integer));
                assert_eq!(<$integer>::KIND, KeyKind::Integer);
            }
        )*};
    }
    check!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);
}

#[test]
fn the_test_vectors_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/keys.json");
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let hex = |text: &Value| u128::from_str_radix(text.as_str().unwrap(), 16).unwrap();
    let vectors = file["keys"].as_array().unwrap();
    assert!(vectors.len() > 60);
    for vector in vectors {
        let (key, kind) = key(vector);
        assert_eq!(bytes(&key), from_hex(vector["bytes"].as_str().unwrap()), "{vector}");
        for (seed, hash) in
            file["seeds"].as_array().unwrap().iter().zip(vector["hashes"].as_array().unwrap())
        {
            let hasher = Stable::with_seed(hex(seed) as u64);
            assert_eq!(u128::from(hasher.hash_key(&key)), hex(hash), "{vector}");
        }
        let name = match kind {
            KeyKind::Bytes => "bytes",
            KeyKind::Integer => "integer",
            KeyKind::WideInteger => "wide-integer",
            KeyKind::Composite => "composite",
            other => panic!("{other:?}"),
        };
        assert_eq!(vector["kind"], name, "{vector}");
    }
}

#[test]
fn sequences_are_the_tuples_of_their_elements() {
    let two = [8, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, b'a'];
    assert_eq!(bytes(&(5_u8, "a")), two);
    assert_eq!(bytes(&(5_i64, 'a')), two);
    assert_ne!(bytes(&("a", "b")), bytes(&("ab", "")));
    // Tuples, arrays, slices and vectors of the same elements are the same key; bytes are no sequence.
    assert_eq!(bytes(&(1_u16, 2_u16, 3_u16)), bytes(&[1_u32, 2, 3]));
    assert_eq!(bytes(&vec!["a", "b"]), bytes(&("a", "b")));
    assert_eq!(bytes(&[1_i8, 2][..]), bytes(&(1, 2)));
    assert_eq!(bytes(&[1_u8, 2]), [1, 2]);
    assert_eq!(bytes(&Some("a")), bytes(&("a",)));
    assert_eq!(bytes(&None::<u64>), bytes(&[0_u64; 0]));
    assert_eq!((<[u8; 2]>::KIND, <[i8; 2]>::KIND), (KeyKind::Bytes, KeyKind::Composite));
    assert_eq!((Vec::<u8>::KIND, Vec::<&str>::KIND), (KeyKind::Bytes, KeyKind::Composite));
    // Lengths around the stack buffer, ended by a short element or a long one.
    for length in 0..300 {
        let text = "x".repeat(length);
        let mut expected = Vec::new();
        for part in [&*text, "", "end"] {
            expected.extend((part.len() as u64).to_le_bytes());
            expected.extend(part.as_bytes());
        }
        assert_eq!(bytes(&(&text, "", "end")), expected, "{length}");
        assert_eq!(bytes(&[text, String::new(), "end".to_owned()]), expected, "{length}");
    }
}

#[test]
fn pointers_are_their_targets() {
    let key = "alice@example.com";
    for same in [
        bytes(&key),
        bytes(&&key),
        bytes(&String::from(key)),
        bytes(&Box::<str>::from(key)),
        bytes(&Rc::<str>::from(key)),
        bytes(&Arc::<str>::from(key)),
        bytes(&Cow::Borrowed(key)),
        bytes(&Cow::<str>::Owned(key.to_owned())),
        bytes(&Box::<[u8]>::from(key.as_bytes())),
    ] {
        assert_eq!(same, key.as_bytes());
    }
    assert_eq!((Box::<str>::KIND, <&u32>::KIND), (KeyKind::Bytes, KeyKind::Integer));
}
