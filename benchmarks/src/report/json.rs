//! The JSON report.

use super::Report;

/// One document: the times of every round, medians, quartiles, rates and the verdict.
///
/// Each race has the gain of a second thread in `second_thread`, round by round. The judgement on building by
/// two has its median and quartiles in `control`, which is not judged itself.
pub(crate) fn json(report: &Report) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(report)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::contestants::{DEFAULT_PLAN, Kind};
    use crate::race::made_up;
    use crate::verdict::judge;

    #[test]
    fn what_a_second_thread_gives_is_told_round_by_round_and_beside_its_judgement() {
        let ours = made_up::lane(DEFAULT_PLAN, Kind::Ours, 1e-4, 6.0);
        let mut race = made_up::outcome(50_000_000, vec![ours]);
        race.second_thread = vec![1.5, 1.0, 1.25];
        let races = vec![race];
        let verdict = judge(&races);
        let (command, machine) = ("run".to_owned(), "machine".to_owned());
        let (compiled_for, version) = ("target", "1");
        let report = Report { command, machine, compiled_for, version, races, verdict };
        let document: Value = serde_json::from_str(&super::json(&report).unwrap()).unwrap();
        assert_eq!(document["races"][0]["second_thread"], json!([1.5, 1.0, 1.25]));
        let judgements = document["verdict"]["judgements"].as_array().unwrap();
        let controls: Vec<_> =
            judgements.iter().filter_map(|judgement| judgement.get("control")).collect();
        let measured = json!({ "lower_quartile": 1.125, "median": 1.25, "upper_quartile": 1.375 });
        assert_eq!(controls.len(), 1);
        assert_eq!(controls[0]["what"], "two threads of pure arithmetic ÷ one");
        assert_eq!(controls[0]["measured"], measured);
    }
}
