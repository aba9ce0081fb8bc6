use super::write_address;
use std::collections::HashSet;

#[test]
fn addresses_are_all_different() {
    let mut address = String::new();
    let mut all = HashSet::new();
    for index in (0..20_000).chain(1 << 40..(1 << 40) + 20_000) {
        write_address(index, &mut address);
        assert!(address.contains('@'));
        assert!(all.insert(address.clone()), "{address} twice");
    }
}
