//! Peers that dominate Equibloom: at most as large, at least as accurate, and faster.

use serde::Serialize;

use crate::contestants::{DEFAULT_PLAN, Kind, ROUNDING};
use crate::measure::{Mode, Operation, Spread, Task};
use crate::race::{Lane, Outcome};

/// A peer that dominates in one operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Dominance {
    pub(crate) peer: String,
    pub(crate) plan: String,
    pub(crate) keys: u64,
    pub(crate) bits_per_key: f64,
    pub(crate) operation: Operation,
    /// Whether each filter's fastest batch interface is compared, or single keys.
    pub(crate) mode: Mode,
    /// The plan's time over the peer's.
    pub(crate) ratio: Spread,
    pub(crate) peer_rate: f64,
    pub(crate) plan_rate: f64,
}

/// Every dynamic peer that dominates our plan for its memory, and the number of comparisons.
pub(crate) fn dominances(outcome: &Outcome) -> (Vec<Dominance>, usize) {
    let (mut found, mut compared) = (Vec::new(), 0);
    for peer in outcome.lanes.iter().filter(|lane| lane.profile.kind == Kind::Peer) {
        let Some(plan) = plan_for(outcome, peer) else { continue };
        let (Some(peer_rate), Some(plan_rate)) = (peer.rate, plan.rate) else { continue };
        for operation in Operation::ALL {
            for mode in [Mode::Single, Mode::Batch] {
                let Some(ratio) = ratio(plan, peer, operation, mode) else { continue };
                compared += 1;
                if peer_rate <= plan_rate && ratio.median > 1.0 {
                    found.push(Dominance {
                        peer: peer.profile.name.clone(),
                        plan: plan.profile.name.clone(),
                        keys: outcome.size.keys,
                        bits_per_key: peer.bits_per_key,
                        operation,
                        mode,
                        ratio,
                        peer_rate,
                        plan_rate,
                    });
                }
            }
        }
    }
    (found, compared)
}

/// The plan for the peer's memory: one made for it, or the default if the peer has the requested size.
fn plan_for<'a>(outcome: &'a Outcome, peer: &Lane) -> Option<&'a Lane> {
    let made = |lane: &&Lane| lane.profile.rival.as_ref() == Some(&peer.profile.name);
    let as_large = |plan: &&Lane| plan.bits_per_key <= peer.bits_per_key * (1.0 + ROUNDING);
    outcome.lanes.iter().find(made).or_else(|| outcome.lane(DEFAULT_PLAN).filter(as_large))
}

fn ratio(plan: &Lane, peer: &Lane, operation: Operation, mode: Mode) -> Option<Spread> {
    let times = |lane: &'_ Lane| match mode {
        Mode::Single => {
            lane.nanoseconds.of(Task { operation, mode, threads: 1 }).map(<[f64]>::to_vec)
        }
        Mode::Batch => lane.nanoseconds.best(operation, 1).map(<[f64]>::to_vec),
    };
    Spread::of_ratios(&times(plan)?, &times(peer)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::made_up;

    #[test]
    fn a_peer_dominates_only_if_it_is_accurate_and_fast_at_once() {
        let plan = || made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, 10.0);
        for (rate, time, dominates) in
            [(1e-4, 9.0, true), (1e-5, 9.0, true), (2e-4, 9.0, false), (1e-5, 11.0, false)]
        {
            let peer = made_up::lane("peer", Kind::Peer, rate, time);
            let (found, compared) = dominances(&made_up::outcome(1_000, vec![plan(), peer]));
            // All times here are equal.
            assert_eq!(compared, 8);
            assert_eq!(found.len(), if dominates { 8 } else { 0 }, "{rate} {time}");
        }
        // Not compared: a peer smaller than the plan, and a static peer.
        let small = Lane { bits_per_key: 12.0, ..made_up::lane("peer", Kind::Peer, 1e-5, 1.0) };
        assert_eq!(dominances(&made_up::outcome(1_000, vec![plan(), small])).1, 0);
        let fuse = made_up::lane("fuse", Kind::Static, 0.0, 1.0);
        assert_eq!(dominances(&made_up::outcome(1_000, vec![plan(), fuse])).1, 0);
    }

    #[test]
    fn a_peer_is_compared_with_the_plan_for_its_own_memory() {
        let default = made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, 10.0);
        let mut beside = made_up::lane("beside", Kind::Ours, 1e-2, 10.0);
        beside.profile.rival = Some("peer".to_owned());
        let peer = made_up::lane("peer", Kind::Peer, 1e-3, 9.0);
        let (found, _) = dominances(&made_up::outcome(1_000, vec![default, beside, peer]));
        assert!(found.iter().all(|dominance| dominance.plan == "beside"));
        assert_eq!(found.len(), 8);
    }
}
