//! Many keys at once, by several threads, with the bytes that one thread would have written.
//!
//! What happens to a key at a block depends on the keys that came to that block before it, and on nothing
//! else. So a level is divided among threads by blocks: each thread goes over all keys in their order and
//! takes those whose block is its own. What a level turns away goes to the next one, again in order. At
//! the end, one thread takes what is left into the overflow list.
//!
//! This needs levels that share no block. Where they do (sequential, two-choice, one-plus-alpha), what
//! happens at a block depends on others, and the keys are inserted one after the other. The same if the
//! overflow list has no room for all: then it is time to refuse, or to saturate blocks in the order of
//! the keys.
//!
//! Threads work on copies of their blocks, which replace them when all is done: nothing is half done
//! at any time, and no thread needs what belongs to another.

use alloc::vec::Vec;
use core::ops::Range;
use std::thread;

use super::Balanced;
use crate::block::simd::{Machine, Operation};
use crate::block::{BlockArray, BlockIndex, On};
use crate::hashing::KeyHash;
use crate::parameters::WhenFull;
use crate::placement::{Candidates, Level, Rule, Stop};

/// Keys whose blocks are asked for before the first of them is looked at.
const AHEAD: usize = 64;

/// A key on its way to a level.
#[derive(Clone, Copy)]
struct Sent {
    /// Which of the keys it is: they come in this order.
    place: usize,
    key: KeyHash,
    /// Leads to its block.
    word: u64,
    /// Whether a lookup would come this far.
    led_on: bool,
}

/// What a thread has done with its blocks of a level.
struct Done<B> {
    first: u64,
    part: B,
    sent: Vec<Sent>,
    placed: u64,
    reads: u64,
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    /// Inserts keys as if one by one; how many were new. `None` if that cannot be done by several
    /// threads; then nothing has changed.
    pub(super) fn insert_by_threads(&mut self, keys: &[KeyHash], threads: usize) -> Option<u64> {
        let levels = self.candidates.levels();
        let share_no_block =
            levels.windows(2).all(|two| two[0].offset + two[0].size <= two[1].offset);
        if threads < 2 || !share_no_block || !self.budget.is_unlimited() {
            return None;
        }
        let mut all_done: Vec<Done<B>> = Vec::new();
        let mut sent: Vec<Vec<Sent>> = Vec::new();
        for (probe, &level) in levels.iter().enumerate() {
            let mut done = self.visit_level(probe, level, threads, keys, &sent)?;
            sent = done.iter_mut().map(|done| core::mem::take(&mut done.sent)).collect();
            all_done.append(&mut done);
        }
        let mut overflow = self.overflow.clone();
        let (mut placed, mut reads) = (0, 0);
        for Sent { key, led_on, .. } in in_order(&sent) {
            let entry = self.candidates.overflow_entry(key);
            if self.rule.places_repeats() || !led_on || !overflow.contains(entry) {
                overflow.push(entry, WhenFull::Refuse).ok()?;
                placed += 1;
                reads += levels.len() as u64;
            }
        }
        self.overflow = overflow;
        for done in all_done {
            self.blocks.put(done.first, &done.part);
            placed += done.placed;
            reads += done.reads;
        }
        self.elements = self.elements.saturating_add(placed);
        self.budget.spend_of_unlimited(reads);
        Some(placed)
    }

    /// Takes the keys through one level.
    fn visit_level(
        &self,
        probe: usize,
        level: Level,
        threads: usize,
        keys: &[KeyHash],
        sent: &[Vec<Sent>],
    ) -> Option<Vec<Done<B>>> {
        let visit = |blocks: Range<u64>| -> Option<Done<B>> {
            let part = self.blocks.part(&blocks)?;
            let visit = Visit { filter: self, probe, level, blocks, part };
            Some(if probe == 0 {
                let arriving = keys.iter().enumerate().map(|(place, &key)| {
                    let key = self.blocks.seen(key);
                    Sent { place, key, word: key.candidate(0), led_on: true }
                });
                self.machine.run(Arriving { visit, arriving })
            } else {
                self.machine.run(Arriving { visit, arriving: in_order(sent) })
            })
        };
        thread::scope(|scope| {
            let workers: Vec<_> =
                divided(level, threads).map(|blocks| scope.spawn(move || visit(blocks))).collect();
            workers.into_iter().map(|worker| worker.join().ok().flatten()).collect()
        })
    }
}

/// A level in as many parts, each but the last a multiple of 64 blocks, so that none begins within a line.
fn divided(level: Level, parts: usize) -> impl Iterator<Item = Range<u64>> {
    let end = level.offset + level.size;
    let size = level.size.div_ceil(parts as u64).max(1);
    // The table begins on a line, a level may not.
    let cut = move |part: u64| {
        let at = level.offset.saturating_add(size.saturating_mul(part));
        if part == 0 { level.offset } else { at.next_multiple_of(64).min(end) }
    };
    (0..parts as u64).map(move |part| cut(part)..cut(part + 1)).filter(|part| !part.is_empty())
}

/// Keys of several lists, each in order, in order.
fn in_order(lists: &[Vec<Sent>]) -> impl Iterator<Item = Sent> {
    let mut rest: Vec<&[Sent]> = lists.iter().map(Vec::as_slice).collect();
    core::iter::from_fn(move || {
        let next = rest.iter_mut().filter(|list| !list.is_empty());
        let next = next.min_by_key(|list| list.first().map(|sent| sent.place))?;
        let (&first, others) = next.split_first()?;
        *next = others;
        Some(first)
    })
}

/// A thread's part of a level.
struct Visit<'a, R, B> {
    filter: &'a Balanced<R, B>,
    probe: usize,
    level: Level,
    blocks: Range<u64>,
    part: B,
}

/// The keys that come to it, among others.
struct Arriving<'a, R, B, I> {
    visit: Visit<'a, R, B>,
    arriving: I,
}

impl<R: Rule, B: BlockArray, I: Iterator<Item = Sent>> Operation for Arriving<'_, R, B, I> {
    type Output = Done<B>;

    #[inline(always)]
    fn run<M: Machine>(self, machine: M) -> Done<B> {
        let Visit { filter, probe, level, blocks, part } = self.visit;
        let mut done = Done { first: blocks.start, part, sent: Vec::new(), placed: 0, reads: 0 };
        let mut own = self.arriving.filter_map(|sent| {
            let block = Candidates::block_in(level, sent.word);
            blocks.contains(&block.0).then_some((sent, block))
        });
        let (mut now, mut next) = (Vec::with_capacity(AHEAD), Vec::with_capacity(AHEAD));
        loop {
            // While some are on their way, the ones before them are looked at.
            next.extend(own.by_ref().take(AHEAD).inspect(|&(_, block)| {
                done.part.prefetch(BlockIndex(block.0 - blocks.start));
            }));
            if now.is_empty() && next.is_empty() {
                return done;
            }
            for (sent, block) in now.drain(..) {
                filter.visit_block(machine, probe, sent, block, &mut done);
            }
            core::mem::swap(&mut now, &mut next);
        }
    }
}

impl<R: Rule, B: BlockArray> Balanced<R, B> {
    /// What an insert does at one block, in a copy of it.
    #[inline(always)]
    fn visit_block<M: Machine>(
        &self,
        machine: M,
        probe: usize,
        Sent { place, key, led_on, .. }: Sent,
        block: BlockIndex,
        done: &mut Done<B>,
    ) {
        let here = BlockIndex(block.0 - done.first);
        if led_on && !self.rule.places_repeats() && done.part.test(machine, here, key) {
            return;
        }
        let view = On { blocks: &done.part, machine };
        if !R::REJECTS || !self.rule.looks_further(&view, key, probe, here) {
            done.part.add(machine, here, key);
            done.placed += 1;
            done.reads += probe as u64 + 1;
            return;
        }
        let stop = Stop { block: here, ..self.candidates.stop_at(probe, key, block) };
        let led_on = led_on && done.part.turned_away(machine, stop).unwrap_or(true);
        done.part.mark(stop);
        done.sent.push(Sent { place, key, word: stop.onward, led_on });
    }
}
