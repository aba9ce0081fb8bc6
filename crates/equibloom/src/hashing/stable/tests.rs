use alloc::string::String;
use alloc::vec::Vec;

use super::*;

/// Reference values of the XXH3-128 reference implementation: a changed hash would invalidate every
/// stored filter.
#[test]
fn the_hash_of_known_keys_never_changes() {
    let hasher = Stable::default();
    assert_eq!(u128::from(hasher.hash_key("")), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    assert_eq!(u128::from(hasher.hash_key("a")), 0xa96f_af70_5af1_6834_e6c6_32b6_1e96_4e1f);
    assert_eq!(u128::from(hasher.hash_key("abc")), 0x06b0_5ab6_733a_6185_78af_5f94_892f_3950);
}

#[test]
fn owned_and_borrowed_keys_hash_alike() {
    let hasher = Stable::with_seed(3);
    let key = "alice@example.com";
    assert_eq!(hasher.hash_key(key), hasher.hash_key(&String::from(key)));
    assert_eq!(hasher.hash_key(key), hasher.hash_key(&Vec::from(key.as_bytes())));
    assert_eq!(hasher.hash_key(key), hasher.hash_key(&key));
}

/// Eight bytes have code of their own.
#[test]
fn integers_hash_as_xxh3_says() {
    let numbers = [0, 1, 5, u64::MAX, 0x0123_4567_89ab_cdef, 1 << 63];
    for seed in numbers {
        for key in numbers {
            let expected = xxh3_128_with_seed(&key.to_le_bytes(), seed);
            assert_eq!(u128::from(Stable::with_seed(seed).hash_key(&key)), expected);
        }
    }
    assert_eq!(Stable::default(), Stable::with_seed(0));
}
