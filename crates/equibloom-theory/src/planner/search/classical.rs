//! The classical filter. A miss reads about two lines, an insert or a hit all `k`.
//!
//! With fewer hash functions than the best number the array is emptier and a miss ends sooner: at two thirds of
//! it after 1.5 reads, at about twice the rate. With a limit on misses alone such a filter would win against
//! small blocks, while every insert and hit reads ten lines or more, which contradicts the purpose of the
//! limit. So it is only considered (at its best `k` or one less) where the limit on misses permits it, and with
//! fewer hash functions only if inserts are limited too, or if it is the required placement.

use equibloom_layout::Design;

use super::{Finding, Refusal, Search};
use crate::exact::best_hashes;
use crate::planner::settle::Predicted;

impl Search {
    pub(super) fn classical(&self) -> Finding {
        let bits = self.sizing.classical_bits()?;
        let keys = self.sizing.keys;
        let design = Design::classical(bits, keys);
        let best = Predicted::from(best_hashes(&design, keys)?);
        let most = best.design.hashes();
        let thinned = self.limits.placement_is_fixed || self.limits.accesses_insert.is_finite();
        let least = if thinned { 1 } else { most.saturating_sub(1).max(1) };
        for hashes in (least..=most).rev() {
            let found = Predicted::new(design.with_hashes(hashes), keys)?;
            if self.keeps_to_limits(&found.expected) && hashes <= self.limits.choices {
                return Ok(found);
            }
        }
        if best.expected.accesses_miss > self.limits.accesses_miss {
            Err(Refusal::AccessesPerMiss { accesses: best.expected.accesses_miss })
        } else {
            Err(Refusal::Limits)
        }
    }
}
