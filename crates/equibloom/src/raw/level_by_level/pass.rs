//! One worker's pass over its blocks of a level.

use super::scratch::{PendingKeys, Scratch};
use crate::block::BlockIndex;
use crate::block::isa::{Nearness, Target};
use crate::hashing::KeyHash;
use crate::placement::{Choose, Probe};
use crate::raw::balanced::Plan;
use crate::raw::threads::Part;
use crate::storage::WORDS_PER_LINE;

/// Own keys that are listed before they are inserted: they and their list fit into a first-level cache. (Tests
/// need many chunks.)
const CHUNK: usize = if cfg!(test) { 1 << 6 } else { 1 << 10 };
/// How many inserts ahead a block is prefetched.
const AHEAD: usize = 32;

/// Takes the pending keys whose block of the level numbered `number` belongs to the part to that block, in
/// order; returns the number of keys placed.
#[inline(always)]
pub(in crate::raw) fn pass<T: Target, R: Choose>(
    target: T,
    plan: &Plan<R>,
    number: usize,
    keys: &[KeyHash],
    pending: &PendingKeys,
    Part { first, mut lines }: Part<'_>,
    scratch: &mut Scratch,
) -> u64 {
    let Plan { shape, rule, .. } = plan;
    let level = plan.levels.level(number);
    // The number of a block among those of the part.
    let place_of = |block: BlockIndex| BlockIndex(block.0.wrapping_sub(first));
    let blocks = (lines.len() * WORDS_PER_LINE / shape.words_per_block()) as u64;
    let mut placed = 0;
    let mut own = [(0, BlockIndex(0)); CHUNK];
    let mut places = pending.places();
    loop {
        let mut count = 0;
        while count < CHUNK
            && let Some(place) = places.next()
        {
            let block = level.block_of(keys[place].candidate(number));
            own[count] = (place, block);
            count += usize::from(place_of(block).0 < blocks);
        }
        let own = &own[..count];
        let ahead = own.iter().skip(AHEAD).map(Some).chain(core::iter::repeat(None));
        for (_, block) in own.iter().take(AHEAD) {
            shape.prefetch(&lines, place_of(*block), Nearness::First);
        }
        for (&(place, block), ahead) in own.iter().zip(ahead) {
            if let Some((_, block)) = ahead {
                shape.prefetch(&lines, place_of(*block), Nearness::First);
            }
            let reachable = number == 0 || pending.reachable(place);
            let (key, here) = (keys[place], place_of(block));
            if reachable && shape.test(target, &lines, here, key) {
                continue;
            }
            scratch.journal.note(shape, lines, here, block);
            let admits = |load| rule.admits(load, key, number);
            if !R::REJECTS || admits(shape.load(&lines, here)) {
                placed += u64::from(shape.try_add(target, &mut &mut lines, here, key, admits));
                continue;
            }
            let probe = Probe::at(number, key, here);
            let was_set = shape.hint_is_set(target, &lines, probe).unwrap_or(true);
            scratch.sent_on.insert(place, reachable && was_set);
            shape.set_hint(&mut &mut lines, probe);
        }
        if count < CHUNK {
            return placed;
        }
    }
}
