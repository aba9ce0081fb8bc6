//! Drops, memory, panics in the user's code, sizes that cannot be had.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

mod hashers;

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use equibloom_layout::{Rule, Share};
use equibloom_tables::{
    Balanced, BalancedMap, BalancedSet, BucketPlan, Cuckoo, CuckooMap, CuckooSet, Map, RawTable,
    TableError,
};
use hashers::Few;

/// Runs the same test on maps of every kind, with good hashes, frequent collisions and equal hashes.
macro_rules! on_every_map {
    ($entry:ty, $test:expr) => {
        for values in [0, 1, 7] {
            let hasher = Few { values, seed: 3 };
            for plan in plans() {
                $test(Map::from_table(Balanced::<$entry>::new(0, plan).unwrap(), hasher));
            }
            $test(Map::from_table(Cuckoo::<$entry, 1>::new(0, 0.45).unwrap(), hasher));
            $test(Map::from_table(Cuckoo::<$entry, 4>::new(0, 0.95).unwrap(), hasher));
        }
    };
}

fn plans() -> Vec<BucketPlan> {
    let share = Share::clamped(0.5);
    let rule = Rule::FirstWithRoom { below: 2, coin: share };
    vec![
        BucketPlan::default(),
        BucketPlan::single(2.0, rule),
        BucketPlan::sequential(2.5, 3, rule),
        BucketPlan::two_choice(9.0, 10),
        BucketPlan::one_plus_alpha(1.0, 2, share),
    ]
}

/// A key whose `Hash` and `Eq` panic on command, and whose copies are counted.
#[derive(Clone)]
struct Fragile {
    id: u32,
    /// Calls until the panic; `None`: never.
    fuse: Rc<Cell<Option<u32>>>,
}

impl Fragile {
    fn burn(&self) {
        match self.fuse.get() {
            Some(0) => {
                self.fuse.set(None);
                panic!("the fuse has burned down");
            }
            left => self.fuse.set(left.map(|left| left - 1)),
        }
    }
}

impl PartialEq for Fragile {
    fn eq(&self, other: &Self) -> bool {
        self.burn();
        self.id == other.id
    }
}

impl Eq for Fragile {}

impl Hash for Fragile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.burn();
        state.write_u64(self.id.into());
    }
}

#[test]
fn every_entry_is_dropped_exactly_once() {
    fn check<T: RawTable<Entry = (u32, Rc<()>)> + Clone>(mut map: Map<u32, Rc<()>, T, Few>) {
        let counter = Rc::new(());
        for key in 0..300 {
            map.insert(key, counter.clone());
        }
        assert_eq!(Rc::strong_count(&counter), 301);
        for key in 0..50 {
            map.insert(key, counter.clone());
            map.remove(&(key + 100));
        }
        assert_eq!(Rc::strong_count(&counter), 251);
        let copy = map.clone();
        assert_eq!(Rc::strong_count(&counter), 501);
        let mut iterator = copy.into_iter();
        assert_eq!(iterator.by_ref().take(10).count(), 10);
        drop(iterator);
        assert_eq!(Rc::strong_count(&counter), 251);
        map.retain(|key, _| key % 2 == 0);
        assert_eq!(Rc::strong_count(&counter), 1 + map.len());
        let before = map.len();
        assert_eq!(map.drain().take(5).count(), 5);
        assert!(before > 100 && map.is_empty());
        assert_eq!(Rc::strong_count(&counter), 1);
        map.insert(1, counter.clone());
        map.clear();
        map.insert(1, counter.clone());
        drop(map);
        assert_eq!(Rc::strong_count(&counter), 1);
    }
    on_every_map!((u32, Rc<()>), check);
}

/// Whenever the user's `Hash` or `Eq` panics, in an insert, a growth or a displacement, the entries that
/// were in the map are still there, each once.
#[test]
fn nothing_is_lost_or_doubled_when_the_users_code_panics() {
    fn check<T: RawTable<Entry = (Fragile, u32)>>(mut map: Map<Fragile, u32, T, Few>) {
        let fuse = Rc::new(Cell::new(None));
        let key = |id| Fragile { id, fuse: fuse.clone() };
        let mut panics = 0;
        let mut known = Vec::new();
        for id in 0..150_u32 {
            // Another point of time for every key: some at once, some deep in a rebuild.
            fuse.set(Some(if id % 3 == 0 { id % 5 } else { id * 37 % 120 }));
            let inserted = catch_unwind(AssertUnwindSafe(|| map.insert(key(id), id)));
            fuse.set(None);
            if inserted.is_ok() {
                known.push(id);
            } else {
                panics += 1;
                // It may have come in before the panic; then it counts as known.
                if map.contains_key(&key(id)) {
                    known.push(id);
                }
            }
            assert_eq!(map.len(), known.len());
            assert_eq!(map.iter().count(), known.len());
        }
        assert!(panics > 3, "{panics}");
        for &id in &known {
            assert_eq!(map.get(&key(id)), Some(&id), "{id}");
        }
        for &id in known.iter().step_by(2) {
            assert_eq!(map.remove(&key(id)), Some(id));
            assert!(!map.contains_key(&key(id)));
        }
        fuse.set(Some(5));
        let shrunk = catch_unwind(AssertUnwindSafe(|| map.shrink_to_fit()));
        assert!(shrunk.is_err());
        for &id in known.iter().skip(1).step_by(2) {
            assert_eq!(map.get(&key(id)), Some(&id));
        }
        assert_eq!(Rc::strong_count(&fuse), map.len() + 1);
        drop(map);
        assert_eq!(Rc::strong_count(&fuse), 1);
    }
    let silent = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(|| on_every_map!((Fragile, u32), check));
    std::panic::set_hook(silent);
    outcome.unwrap();
}

#[test]
fn memory_is_given_back() {
    fn check<T: RawTable<Entry = (u64, u64)>>(mut map: Map<u64, u64, T, Few>) {
        map.extend((0..2_000).map(|key| (key, key)));
        let full = map.statistics().bytes;
        map.retain(|key, _| *key < 20);
        map.shrink_to_fit();
        let small = map.statistics().bytes;
        assert!(small < full / 10, "{small} of {full}");
        assert!((0..20).all(|key| map.get(&key) == Some(&key)));
        map.clear();
        map.shrink_to_fit();
        assert_eq!((map.capacity(), map.len()), (0, 0));
        assert_eq!(map.insert(1, 2), None);
        assert_eq!(map[&1], 2);
    }
    on_every_map!((u64, u64), check);
}

#[test]
fn zero_sized_keys_and_values_are_entries_like_others() {
    fn check<T: RawTable<Entry = ((), ())>>(mut map: Map<(), (), T, Few>) {
        assert_eq!(map.insert((), ()), None);
        assert_eq!(map.insert((), ()), Some(()));
        assert_eq!((map.len(), map.iter().count()), (1, 1));
        assert_eq!(map.remove(&()), Some(()));
        assert!(map.is_empty() && map.get(&()).is_none());
    }
    on_every_map!(((), ()), check);
    let set: BalancedSet<u8> = (0..=255).collect();
    assert_eq!((set.len(), set.iter().map(|&key| u32::from(key)).sum::<u32>()), (256, 255 * 128));
}

#[test]
fn sizes_that_cannot_be_had_are_errors_and_leave_the_map_as_it_was() {
    fn check<T: RawTable<Entry = (u64, u64)>>(mut map: Map<u64, u64, T, Few>) {
        map.insert(1, 2);
        for additional in [usize::MAX, usize::MAX - 1, usize::MAX / 2, 1 << 60, 1 << 50] {
            let error = map.try_reserve(additional).unwrap_err();
            assert!(
                matches!(error, TableError::TooLarge { .. } | TableError::OutOfMemory { .. }),
                "{additional}: {error}"
            );
            assert!(
                error.to_string().contains("give fewer")
                    || error.to_string().contains("request less")
            );
            map.reserve(additional);
        }
        assert_eq!((map.len(), map[&1]), (1, 2));
    }
    on_every_map!((u64, u64), check);
    // A constructor without a result starts with nothing instead.
    let mut map = BalancedMap::with_capacity(usize::MAX);
    map.insert("a", 1);
    let mut other: CuckooMap<&str, i32> = CuckooMap::with_capacity(usize::MAX);
    other.insert("a", 1);
    assert!(map == other);
    // An entry larger than any memory can be named, and none stored.
    let enormous = BalancedMap::<u64, [u8; 1 << 40]>::new();
    assert!(enormous.is_empty() && enormous.get(&1).is_none());
}

#[test]
fn maps_and_sets_print_compare_and_cross_threads() {
    fn sent<T: Send + Sync>(value: T) -> T {
        value
    }
    let map: BalancedMap<&str, i32> = sent([("a", 1)].into_iter().collect());
    assert_eq!(format!("{map:?}"), r#"{"a": 1}"#);
    let cuckoo: CuckooMap<&str, i32> =
        sent(map.iter().map(|(&key, &value)| (key, value)).collect());
    assert!(map == cuckoo);
    let set: CuckooSet<u64> = (0..3).collect();
    let mut other: CuckooSet<u64> = CuckooSet::new();
    assert!(set != other);
    other.extend([2, 1, 0, 0]);
    assert!(set == other);
    assert!(other.remove(&0) && !other.remove(&0));
    assert_eq!(format!("{:?}", BalancedSet::<u8>::from_iter([7])), "{7}");
    let result = catch_unwind(|| map["b"]);
    assert!(result.is_err());
}

#[test]
fn errors_go_through_threads_and_boxes() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    is_error::<TableError>();
}
