//! Every function of the filters, with random arguments.

use std::hash::RandomState;

use equibloom::file::{self, FileError, FileErrorKind, Mapped};
use equibloom::{
    AccessStatistics, Filter, FilterBuilder, FilterGroup, GrowingFilter, HashFilter, Insertion,
    KeyHash, KeyHasher, KeyKind, PlanError, SharedFilter, SharedGrowingFilter, Stable, Statistics,
    WithBuildHasher,
};

use crate::random::Random;
use crate::refused;
use crate::scratch::Scratch;

const KINDS: [KeyKind; 5] = [
    KeyKind::Unspecified,
    KeyKind::Bytes,
    KeyKind::Integer,
    KeyKind::WideInteger,
    KeyKind::Composite,
];

fn keys(random: &mut Random) -> Vec<u64> {
    (0..random.between(0, 200)).map(|_| random.number()).collect()
}

fn hashes(random: &mut Random) -> Vec<KeyHash> {
    let hash = |random: &mut Random| match random.coin() {
        true => KeyHash::from_u64(random.number()),
        false => KeyHash::from(u128::from(random.number()) << 64 | u128::from(random.number())),
    };
    (0..random.between(0, 200)).map(|_| hash(random)).collect()
}

/// One of the ways to build a filter.
pub(crate) fn built(builder: &FilterBuilder<u64>) -> Result<Filter<u64>, PlanError> {
    let _ = (builder.parameters(), format!("{builder:?}"));
    if let Ok(mut filter) = builder.build_with_hasher(WithBuildHasher::new(RandomState::new())) {
        let inserted = filter.insert(&5).is_ok();
        assert!(!inserted || filter.contains(&5));
    }
    if let Ok(shared) = builder.clone().random_seed().build_shared() {
        let inserted = shared.insert(&5).is_ok();
        assert!(!inserted || shared.contains(&5));
    }
    builder.build()
}

fn statistics(statistics: &Statistics) {
    let Statistics { memory, .. } = statistics;
    let _ = (statistics.bits_per_key(), statistics.overflow_fraction(), statistics.loads());
    assert!(memory.total() >= memory.header && (0.0..=1.0).contains(&statistics.expected_rate));
}

pub(crate) fn filter(filter: &mut Filter<u64>, random: &mut Random) {
    let (key, keys) = (random.number(), keys(random));
    let is_in = filter.try_extend(&keys).is_ok();
    assert!(!is_in || keys.iter().all(|key| filter.contains(key)));
    assert_eq!(filter.hash(&key), Stable::with_seed(filter.hasher().seed()).hash_key(&key));
    let elements = filter.len();
    assert_eq!(filter.is_empty(), elements == 0);
    let _ = filter.insert(&key).map(Insertion::is_new);
    assert!(filter.bytes() >= filter.as_hash_filter().bytes());
    statistics(&filter.statistics());
    let copy = filter.clone();
    hash_filter(filter.as_hash_filter_mut(), random);
    let again =
        Filter::<u64>::from_hash_filter(filter.clone().into_hash_filter(), *filter.hasher());
    assert!(again == *filter);
    let _ =
        Filter::<u64, _>::with_hasher(copy.parameters(), WithBuildHasher::new(RandomState::new()));

    let bytes = copy.to_bytes().unwrap();
    assert!(Filter::<u64>::from_bytes(&bytes).unwrap() == copy);
    assert!(Filter::<u64, Stable>::read_named(&bytes[..]).unwrap() == copy);
    assert!(Filter::<str>::from_owner(bytes).is_err() || copy.as_hash_filter().is_mapped());
    if random.between(0, 9) == 0 {
        files(&copy);
    }
    let empty: [&Filter<u64>; 0] = [];
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    for group in [FilterGroup::new(empty).unwrap(), FilterGroup::new([filter, &copy]).unwrap()] {
        group.which(&key, &mut found);
        group.clone().which_hash(KeyHash::from_u64(key), &mut found);
        group.contains_batch_bitmap(&keys, &mut bits);
        let (_, length) = (format!("{group:?}"), group.len() * keys.len().div_ceil(64));
        let filters = group.len();
        assert!(bits.len() == length && group.is_empty() == (filters == 0));
    }
    let other = Filter::<u64, _>::with_hasher(copy.parameters(), Stable::with_seed(!key)).unwrap();
    let same = Stable::with_seed(!key) == *copy.hasher();
    assert!(same || FilterGroup::new([&copy, &other]).map_err(refused).is_err());
}

#[allow(unsafe_code, reason = "the file is this test's own")]
fn files(filter: &Filter<u64>) {
    let scratch = Scratch::new("calls");
    let path = scratch.path("filter");
    filter.save(&path).unwrap();
    // SAFETY: nothing writes to the file.
    let opened = unsafe { Filter::<u64>::open(&path) }.unwrap();
    assert!(opened == *filter && Filter::<u64>::load(&path).unwrap() == *filter);
    assert!(Filter::<u64, Stable>::load_named(&path).unwrap() == *filter);
    assert_eq!(file::inspect(&path).unwrap(), file::verify(&path).unwrap());
    // SAFETY: the file is replaced as a whole.
    let mut mapped = unsafe { Mapped::<Filter<u64>>::open(&path) }.unwrap();
    assert!(!mapped.reload_if_changed().unwrap() && mapped.len() == filter.len());
    filter.save(&path).unwrap();
    let _ = (mapped.reload_if_changed().unwrap(), format!("{mapped:?}"));
    let failed: Result<(), FileError> =
        file::replace(&path, |_| Err(FileErrorKind::NotReplaceable.into()));
    let error = failed.unwrap_err();
    assert!(matches!(error.kind(), FileErrorKind::NotReplaceable) && error.path().is_some());
    refused(error);
    for absent in [scratch.path("absent"), scratch.path("")] {
        refused(filter.save(scratch.path("")).unwrap_err());
        refused(file::inspect(&absent).unwrap_err());
        refused(file::verify(&absent).unwrap_err());
        refused(HashFilter::load(&absent).unwrap_err());
        refused(GrowingFilter::<u64>::load(&absent).unwrap_err());
        // SAFETY: as above.
        refused(unsafe { HashFilter::open(&absent) }.unwrap_err());
    }
}

fn hash_filter(filter: &mut HashFilter, random: &mut Random) {
    let hashes = hashes(random);
    let hash = hashes.first().copied().unwrap_or(KeyHash::from_u64(0));
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    filter.prefetch(hash);
    let _ = (filter.part_count(), filter.growth_elements(), filter.words().take(100).count());
    let _ = (filter.insert_batch(&hashes), filter.remove(hash).map_err(refused));
    let threads = random.one_of(&[0, 1, 2, 3, usize::MAX]);
    let is_in = filter.insert_parallel(&hashes, threads).is_ok();
    filter.contains_batch(&hashes, &mut found);
    filter.contains_batch_bitmap(&hashes, &mut bits);
    assert!(!is_in || found.iter().all(|&it_is| it_is));
    let mut accesses = AccessStatistics::default();
    let _ = (accesses.hits.mean_blocks(), accesses.misses.mean_overflow_probes());
    let is_in = filter.insert_counted(hash, &mut accesses).is_ok();
    assert!(!is_in || filter.contains_counted(hash, &mut accesses));
    assert!(accesses.hits.mean_blocks() >= 0.0);
    let kind = filter.key_kind();
    filter.set_key_kind(random.one_of(&KINDS));
    let copy = filter.clone().with_key_kind(random.one_of(&KINDS));
    let merged = filter.merge(&copy).map_err(refused);
    let bytes = copy.to_bytes().unwrap();
    let mut back = HashFilter::from_owner(bytes.clone()).unwrap();
    let _ = (back.insert(hash), back.detach().unwrap());
    assert!(!back.is_mapped() && HashFilter::from_bytes(&bytes).unwrap() == copy);
    let _ = (merged, format!("{copy:?} {}", copy.key_kind()));
    filter.set_key_kind(kind);
}

pub(crate) fn shared(mut shared: SharedFilter<u64>, random: &mut Random) {
    let (key, keys) = (random.number(), keys(random));
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    let is_in = shared.insert_batch(&keys).is_ok() && shared.try_extend(&keys).is_ok();
    shared.contains_batch(&keys, &mut found);
    shared.contains_batch_bitmap(&keys, &mut bits);
    assert!(!is_in || found.iter().all(|&it_is| it_is));
    let hash = shared.hash(&key);
    let is_in = shared.insert(&key).is_ok();
    assert!(!is_in || shared.contains(&key) && shared.contains_hash(hash));
    let _ = (shared.insert_hash(hash).map_err(refused), shared.hasher(), format!("{shared:?}"));
    let _ = (shared.is_over_capacity(), shared.is_empty(), shared.parameters());
    statistics(&shared.statistics().unwrap());
    let copy = shared.snapshot().unwrap();
    assert_eq!(copy.len(), shared.len());
    assert!(Filter::<u64>::from_bytes(&shared.to_bytes().unwrap()).unwrap() == copy);
    let mut bytes = Vec::new();
    shared.write_to(&mut bytes).unwrap();
    if random.between(0, 19) == 0 {
        shared.save(Scratch::new("shared").path("filter")).unwrap();
    }
    shared.clear();
    assert!(shared.is_empty() && shared.into_filter().is_empty());
}

#[allow(unsafe_code, reason = "the file is this test's own")]
pub(crate) fn growing(filter: &mut GrowingFilter<u64>, random: &mut Random) {
    let (key, keys, hashes) = (random.number(), keys(random), hashes(random));
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    filter.insert(&key).unwrap();
    filter.try_extend(&keys).unwrap();
    filter.extend(&keys);
    filter.insert_hashes(&hashes).unwrap();
    filter.contains_hashes(&hashes, &mut found);
    filter.contains_hashes_bitmap(&hashes, &mut bits);
    filter.contains_batch_bitmap(&keys, &mut bits);
    assert!(found.iter().all(|&it_is| it_is) && filter.contains(&key));
    let hash = filter.hash(&key);
    assert!(filter.insert_hash(hash).is_ok() && filter.contains_hash(hash));
    let _ = (filter.remove_hash(hash).map_err(refused), filter.remove(&key).map_err(refused));
    let _ = (filter.rate(), filter.hasher(), filter.longest_insert(), format!("{filter:?}"));
    let elements = filter.len();
    assert!(filter.is_empty() == (elements == 0) && filter.bytes() > 0);
    statistics(&filter.statistics());
    filter.set_key_kind(random.one_of(&KINDS));
    let _ = filter.key_kind();
    let others: GrowingFilter<u64> = keys.iter().copied().collect();
    let _ = filter.merge(&others).map_err(refused);
    assert!(filter.is_removable() || others == others.clone());
    let bytes = filter.to_bytes().unwrap();
    let mut back = GrowingFilter::<u64>::from_owner(bytes.clone()).unwrap();
    let _ = (back.insert(&key), back.detach().unwrap());
    assert!(!back.is_mapped() && GrowingFilter::<u64>::from_bytes(&bytes).unwrap() == *filter);
    if random.between(0, 19) == 0 {
        let scratch = Scratch::new("growing-calls");
        let path = scratch.path("filter");
        filter.save(&path).unwrap();
        // SAFETY: nothing writes to the file.
        let opened = unsafe { GrowingFilter::<u64>::open(&path) }.unwrap();
        assert!(opened == *filter && GrowingFilter::<u64>::load(&path).unwrap() == *filter);
        refused(Filter::<u64>::load(&path).unwrap_err());
        refused(file::verify(&path).unwrap_err());
    }
}

pub(crate) fn shared_growing(mut shared: SharedGrowingFilter<u64>, random: &mut Random) {
    let (key, keys) = (random.number(), keys(random));
    let (mut found, mut bits) = (Vec::new(), Vec::new());
    shared.insert_batch(&keys).unwrap();
    shared.try_extend(&keys).unwrap();
    shared.contains_batch(&keys, &mut found);
    shared.contains_batch_bitmap(&keys, &mut bits);
    assert!(found.iter().all(|&it_is| it_is));
    let hash = shared.hash(&key);
    shared.insert(&key).unwrap();
    shared.insert_hash(hash).unwrap();
    assert!(shared.contains(&key) && shared.contains_hash(hash));
    let _ = (shared.rate(), shared.hasher(), shared.longest_insert(), format!("{shared:?}"));
    let elements = shared.len();
    assert!(shared.bytes() > 0 && elements > 0 && !shared.is_empty());
    statistics(&shared.statistics().unwrap());
    let copy = shared.snapshot().unwrap();
    let _ = shared.merge(&copy).map_err(refused);
    let _ = (shared.remove(&key).map_err(refused), shared.is_removable());
    let copy = shared.snapshot().unwrap();
    assert!(GrowingFilter::<u64>::from_bytes(&shared.to_bytes().unwrap()).unwrap() == copy);
    let mut bytes = Vec::new();
    shared.write_to(&mut bytes).unwrap();
    if random.between(0, 19) == 0 {
        shared.save(Scratch::new("shared-growing").path("filter")).unwrap();
    }
    shared.clear();
    assert!(shared.is_empty() && shared.into_growing().unwrap().is_empty());
}

#[test]
fn growing_filters_of_any_wish_have_every_hasher() {
    let mut random = Random(5);
    for _ in 0..crate::arguments::rounds(100) {
        let builder = random.builder(10_000);
        let hasher = || WithBuildHasher::new(RandomState::new());
        match builder.build_growing_with_hasher(hasher()) {
            Ok(mut filter) => {
                filter.try_extend(keys(&mut random)).unwrap();
                let shared = filter.into_shared().unwrap();
                let _ = (shared.insert(&1), shared.into_growing().unwrap().statistics());
            }
            Err(error) => refused(error),
        }
        if let Err(error) = builder.build_shared_growing_with_hasher(hasher()) {
            refused(error);
        }
        if let Ok(shared) = builder.build_shared_growing() {
            shared_growing(shared, &mut random);
        }
    }
}
