use alloc::string::ToString;

use super::*;

#[test]
#[cfg(feature = "planner")]
fn the_default_plan_is_the_optimum_of_the_theory() {
    let best = BucketPlan::optimal_multi_level(6.0, 1.2, 3).unwrap();
    let plan = BucketPlan::default();
    assert_eq!((plan.load, plan.slots), (best.load, best.slots));
    let numbers = |plan: &BucketPlan| match (plan.rule, plan.proportions) {
        (Rule::FirstWithRoom { below, coin }, Proportions::Subtables { shares }) => {
            let mut numbers = shares.to_vec();
            numbers.extend([below.into(), coin.get()]);
            numbers
        }
        other => panic!("{other:?}"),
    };
    let (numbers, best) = (numbers(&plan), numbers(&best));
    assert_eq!(numbers.len(), best.len());
    let mut pairs = numbers.iter().zip(&best);
    assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-6), "{numbers:?} {best:?}");
}

#[test]
fn plans_have_the_names_of_the_papers() {
    let rule = Rule::below(3);
    for (plan, name) in [
        (BucketPlan::single(2.0, rule), "single"),
        (BucketPlan::sequential(2.0, 3, rule), "sequential"),
        (BucketPlan::default(), "multi-level"),
        (BucketPlan::two_choice(2.0, 3), "two-choice"),
        (BucketPlan::one_plus_alpha(2.0, 3, Share::clamped(0.3)), "one-plus-alpha"),
    ] {
        assert_eq!((plan.check(), plan.placement().as_str()), (Ok(()), name));
    }
}

#[test]
fn plans_that_cannot_work_name_the_value_and_the_cure() {
    let rule = Rule::FirstWithRoom { below: 3, coin: Share::clamped(0.5) };
    let multi_level = |shares| BucketPlan::multi_level(1.0, shares, rule).unwrap();
    let two_choice = BucketPlan::two_choice(1.0, 2);
    let share = Share::clamped(0.5);
    for (plan, expected) in [
        (BucketPlan::single(-4.5, rule), "mean entries per bucket is -4.5"),
        (BucketPlan::single(f64::NAN, rule), "is NaN: give a finite number"),
        (BucketPlan::single(0.0, rule), "mean entries per bucket is 0"),
        (BucketPlan::single(1.0, Rule::below(0)), "raise the threshold to 1"),
        (BucketPlan::single(1.0, Rule::below(1_025)), "slots per bucket is 1025"),
        (BucketPlan::single(1.0, Rule::below(u32::MAX)), "threshold is 4294967295"),
        (
            BucketPlan { slots: 3, ..BucketPlan::single(1.0, rule) },
            "entries that a bucket admits is 4: give a whole number from 1 to 3",
        ),
        (BucketPlan::sequential(1.0, 17, rule), "choices is 17: give a whole number from 1 to 16"),
        (BucketPlan::single(1.0, Rule::LeastLoaded), "slots per bucket is 0"),
        (BucketPlan::two_choice(1.0, 2_000), "slots per bucket is 2000"),
        (BucketPlan { rule, ..BucketPlan::one_plus_alpha(1.0, 4, share) }, "give the share 1"),
        (
            BucketPlan { proportions: multi_level(&[1.0]).proportions, ..two_choice },
            "give candidates `Anywhere`",
        ),
        (multi_level(&[0.5, 0.4]), "sum of the subtables' shares is 0.9: give a number from"),
        (multi_level(&[1.5, -0.5]), "share of a subtable is 1.5: give a number from 0 to 1"),
        (multi_level(&[f64::NAN]), "share of a subtable is NaN"),
    ] {
        let message = plan.check().unwrap_err().to_string();
        assert!(message.contains(expected), "«{message}» does not say «{expected}»");
    }
    let error = BucketPlan::multi_level(1.0, &[], rule).unwrap_err().to_string();
    assert!(error.contains("number of subtables is 0"), "{error}");
}

#[test]
#[cfg(feature = "serde")]
fn a_plan_comes_back_from_json() {
    for plan in [BucketPlan::default(), BucketPlan::two_choice(2.0, 3)] {
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<BucketPlan>(&json).unwrap(), plan, "{json}");
    }
}
