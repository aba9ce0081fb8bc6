//! Every function of the parts that filters are described by, and of keys.

use core::fmt::Display;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;

use equibloom::{
    BlockKind, Blocks, Candidates, Design, KeyHash, KeyHasher, Layout, Overflow, Parameters,
    PerSubtable, Placement, Proportions, Rule, Share, Stable, StableKey, WhenFull,
};

use crate::arguments::rounds;
use crate::random::Random;
use crate::refused;

/// A design that need not be valid.
pub(crate) fn design(mut design: Design, random: &mut Random) {
    let number = random.number();
    let _ = (design.check().map_err(refused), design.name(), design.bytes(), design.block_bytes());
    let _ = (design.block_kind(), design.hashes(), design.hints(), design.is_multiset());
    let _ = (design.max_accesses(), design.max_hashes(), design.placement());
    let _ = (design.overflow_bytes(number), design.overflow_words(number));
    policy(design.overflow());
    if let Some(&layout) = design.layout() {
        parts_of(layout, random);
    }
    let _ = design.with_hashes(random.number_32()).check();
    design.sizes_mut().iter_mut().for_each(|size| *size = number);
    let _ = (design.check(), design.bytes());
}

fn policy(overflow: Overflow) {
    let Overflow { when_full, .. } = overflow;
    let _ = (overflow.bytes(), overflow.slots(), when_full.grows(), when_full.refuses());
    assert!((0.0..=1.0).contains(&when_full.growth_rate()));
}

fn parts_of(layout: Layout, random: &mut Random) {
    let Layout { blocks, mut candidates, rule, .. } = layout;
    let _ = (layout.check(), layout.block_bytes(), layout.block_kind(), layout.data_bits());
    let _ = (layout.max_hashes(), layout.placement(), layout.with_budget(Some(random.number())));
    let _ = (blocks.bits(), blocks.hashes(), blocks.hints(), blocks.stride_bits());
    let _ = (blocks.used_bits(), rule.capacity(), rule.counter_bits());
    let _ = (blocks.with_hashes(random.number_32()), candidates.blocks(), candidates.choices());
    let proportions = candidates.proportions();
    let _ = (proportions.choices(), proportions.share(), proportions.with_blocks(random.number()));
    candidates.sizes_mut().iter_mut().for_each(|size| *size = random.number());
    let _ = (candidates.blocks(), candidates.proportions());
    let made = [
        Layout::new(blocks, candidates, rule),
        Layout::blocked(blocks, random.number()),
        Layout::single(blocks, random.number(), rule),
        Layout::sequential(blocks, random.number(), random.number_32(), rule),
        Layout::two_choice(blocks, random.number()),
        Layout::one_plus_alpha(blocks, random.number(), random.share()),
    ];
    for layout in made {
        let layout = layout.with_overflow(Overflow::NONE);
        let _ = (layout.with_removal().check().map_err(refused), layout.block_bytes());
    }
    let sizes = random.sizes();
    let _ = (Layout::multi_level(blocks, &sizes, rule), Layout::fingerprints(blocks, &sizes));
    let _ = (Candidates::subtables(&sizes), Candidates::anywhere(random.number(), 3));
}

#[test]
fn any_numbers_are_parts_or_refused() {
    let mut random = Random(4);
    for _ in 0..rounds(5_000) {
        let (first, second, number) = (random.real(), random.real(), random.number());
        for share in
            [Share::new(first).ok(), Share::from_units(number), Some(Share::clamped(second))]
        {
            let Some(share) = share else { continue };
            assert!((0.0..=1.0).contains(&share.get()) && Share::new(share.get()) == Ok(share));
            let _ = (share.takes(number), share.is_all(), share.units());
        }
        if let Ok(proportions) = Proportions::subtables(&[first, second]) {
            let _ = proportions.with_blocks(number);
        }
        let _ = Proportions::geometric(first, random.number_32()).map_err(refused);
        let _ = Proportions::anywhere(random.number_32()).with_blocks(number);
        let _ = PerSubtable::new(&random.sizes()).map(|sizes| sizes.map(|size| size / 2));
        let _ = (Share::try_from(first), PerSubtable::try_from(random.sizes()));
        let _ = Rule::below(random.number_32()).capacity();
        if let Some(grow) = WhenFull::grow(first) {
            assert!(grow.grows() && grow.growth_rate() <= first / 16.0);
        }
        policy(Overflow { capacity: number, when_full: random.policy() });
        let classical = Design::classical(number, random.number());
        let parameters = Parameters { keys: number, seed: number, design: classical };
        let _ = (classical.bytes(), parameters.check().map_err(refused));
        let _ = Blocks::bloom(random.number_32(), random.number_32()).with_hints(3).used_bits();
        hash(KeyHash::from(u128::from(number) << 64 | u128::from(random.number())), &mut random);
    }
    for name in ["list", "blocked", "bloom", "", "ü"] {
        fn parsed<T: Display>(text: &str, read: Result<T, equibloom::UnknownName>) {
            read.map_or_else(refused, |it| assert_eq!(it.to_string(), text));
        }
        parsed(name, name.parse::<Placement>());
        parsed(name, name.parse::<BlockKind>());
    }
    assert!(Placement::ALL.iter().all(|name| name.as_str().parse() == Ok(*name)));
    assert!(BlockKind::ALL.iter().all(|name| name.as_str().parse() == Ok(*name)));
}

fn hash(hash: KeyHash, random: &mut Random) {
    let (index, index_32) = (random.number() as usize, random.number_32());
    let _ = (hash.candidate(index), hash.coin(index), hash.overflow_entry(), hash.second_choice());
    let _ = (hash.pattern_lanes(index_32), hash.pattern_word(index_32));
    assert_eq!(KeyHash::from(u128::from(hash)), hash);
    let _ = KeyHash::onward(random.number(), random.number());
}

/// Keys of every type: equal ones have equal bytes.
#[test]
fn any_value_is_a_key() {
    fn same<A: StableKey + ?Sized, B: StableKey + ?Sized>(random: &mut Random, one: &A, other: &B) {
        let hasher = Stable::with_seed(random.number());
        assert_eq!(hasher.hash_key(one), hasher.hash_key(other));
        assert_eq!(one.with_bytes(<[u8]>::to_vec), other.with_bytes(<[u8]>::to_vec));
        assert_eq!(A::KIND, B::KIND);
    }
    let mut random = Random(6);
    for _ in 0..rounds(300) {
        let number = random.number();
        let text: String =
            (0..random.between(0, 90)).filter_map(|_| char::from_u32(random.0 as u32)).collect();
        let r = &mut random;
        same(r, &text, &Cow::<str>::Borrowed(&text));
        same(r, text.as_str(), &Box::<str>::from(&*text));
        same(r, text.as_bytes(), &text.clone().into_bytes());
        same(r, &Rc::new(number), &Arc::new(&number));
        same(r, &(number as u8), &u16::from(number as u8));
        same(r, &(number as i8), &i64::from(number as i8));
        same(r, &(number as i16), &i32::from(number as i16));
        same(r, &(number as u32), &(number as u32 as usize));
        same(r, &(number as i32), &(number as i32 as isize));
        same(r, &u128::from(number), &i128::from(number));
        same(r, &[number; 3], &vec![number; 3]);
        same(r, &Some(number), &Some(&number));
        same(r, &None::<u64>, &None::<u64>);
        let is_odd = number & 1 == 1;
        same(r, &is_odd, &is_odd);
        let address = Ipv4Addr::from(number as u32);
        same(r, &address, &address);
        same(r, &IpAddr::V4(address), &IpAddr::V4(address));
        same(r, &Ipv6Addr::from(u128::from(number)), &Ipv6Addr::from(u128::from(number)));
        let nested = (number, &*text, 'x', [1_u8], Some(2_u64), (true,), -1_i8, 7_i128);
        same(r, &nested, &&nested);
    }
}
