use super::*;
use alloc::collections::BTreeMap;
use proptest::prelude::*;

proptest! {
    /// Hashes that collide often, against an ordered map.
    #[test]
    fn a_stash_holds_what_was_pushed_and_not_removed(
        steps in prop::collection::vec((any::<bool>(), 0_u64..40), 0..200),
    ) {
        let mut stash = Stash::new();
        let mut model = BTreeMap::new();
        for (insert, key) in steps {
            let found = stash.find(key % 5, |entry: &(u64, usize)| entry.0 == key).map(|(at, _)| at);
            prop_assert_eq!(found.is_some(), model.contains_key(&key));
            match found {
                Some(at) if !insert => {
                    prop_assert_eq!(stash.remove(at).map(|entry| entry.1), model.remove(&key));
                }
                None if insert => {
                    stash.push(key % 5, (key, model.len()));
                    model.insert(key, model.len());
                }
                _ => {}
            }
            prop_assert_eq!(stash.len(), model.len());
        }
        let mut found: Vec<_> = stash.iter().copied().collect();
        found.sort_unstable();
        prop_assert_eq!(found, Vec::from_iter(model));
    }
}

#[test]
fn entries_without_a_hash_are_found_and_removed_like_others() {
    let mut stash = Stash::new();
    stash.push(1, 'a');
    stash.push(0, 'b');
    stash.has_unhashed = true;
    stash.push(2, 'c');
    let (at, _) = stash.find(77, |&entry| entry == 'b').unwrap();
    assert_eq!(stash.get(at), Some(&'b'));
    assert_eq!(stash.remove(at), Some('b'));
    assert_eq!(stash.find(77, |&entry| entry == 'b'), None);
    assert_eq!(stash.len(), 2);
    assert_eq!(stash.get(2), None);
}
