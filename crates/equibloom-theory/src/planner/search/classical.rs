//! The classical filter. A miss reads about two lines, an insert or a hit all `k`.
//!
//! With fewer hash functions than the best number its array is emptier and a miss ends sooner: at two thirds of
//! it after 1.5 reads, for about twice the rate. By such a limit on misses alone it would win against small
//! blocks and make every insert and hit read up to ten lines or more, which nobody who limits accesses has in
//! mind. So it is only considered (at its best `k` or one less) where the limit on misses leaves room for it, and
//! thinned out further only for users who have said what an insert may cost, or who want it and nothing else.

use super::{Finding, Refusal, Search, best_hashes};
use crate::optimum::paper_hashes;
use crate::planner::layout::Layout;
use crate::planner::memory::MOST_HASHES;
use crate::planner::settle::Candidate;

impl Search {
    pub(super) fn classical(&self) -> Finding {
        let bits = self.sizing.classical_bits()?;
        let keys = self.sizing.keys;
        let start = paper_hashes(bits as f64 / keys as f64);
        let layout = Layout::Classical { bits, hashes: 1 };
        let best = best_hashes(&layout, keys, start, MOST_HASHES)?;
        let most = best.layout.hashes();
        let thinned = self.limits.placement_is_fixed || self.limits.accesses_insert.is_finite();
        let least = if thinned { 1 } else { most.saturating_sub(1).max(1) };
        for hashes in (least..=most).rev() {
            let candidate = Candidate::new(layout.clone().with_hashes(hashes), keys)?;
            if self.keeps_to_limits(&candidate.expected) && hashes <= self.limits.choices {
                return Ok(candidate);
            }
        }
        if best.expected.accesses_miss > self.limits.accesses_miss {
            Err(Refusal::AccessesPerMiss(Box::new(best)))
        } else {
            Err(Refusal::Limits)
        }
    }
}
