//! A design as JSON: readable, and the same when it comes back.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use equibloom_layout::{Blocks, Design, Layout, Overflow, Rule, Share, WhenFull};

#[test]
fn a_layout_is_written_field_by_field_and_comes_back() {
    let rule = Rule::FirstWithRoom { below: 27, coin: Share::new(0.25).unwrap() };
    let layout = Layout::multi_level(Blocks::bloom(512, 11), &[830, 145, 25], rule)
        .unwrap()
        .with_overflow(Overflow { capacity: 500, when_full: WhenFull::Saturate })
        .with_budget(Some(1_200));
    let design = Design::from(layout);
    let json = serde_json::to_string(&design).unwrap();
    assert_eq!(
        json,
        r#"{"design":"blocked","blocks":{"kind":"bloom","bits":512,"hashes":11,"hints":0},"#
            .to_owned()
            + r#""candidates":{"kind":"subtables","sizes":[830,145,25]},"#
            + r#""rule":{"kind":"first-with-room","below":27,"coin":0.25},"budget":1200,"#
            + r#""overflow":{"capacity":500,"when_full":"saturate"},"multiset":false}"#
    );
    assert_eq!(serde_json::from_str::<Design>(&json).unwrap(), design);
}

#[test]
fn a_list_is_written_field_by_field_and_comes_back() {
    let overflow = Overflow { capacity: 20, when_full: WhenFull::Refuse };
    let design = Design::List { overflow, multiset: true };
    let json = serde_json::to_string(&design).unwrap();
    let overflow = r#"{"capacity":20,"when_full":"refuse"}"#;
    assert_eq!(json, format!(r#"{{"design":"list","overflow":{overflow},"multiset":true}}"#));
    assert_eq!(serde_json::from_str::<Design>(&json).unwrap(), design);
}

#[test]
fn growth_is_written_with_its_bits() {
    let overflow = Overflow { capacity: 20, when_full: WhenFull::Grow { rate_bits: 11 } };
    let json = serde_json::to_string(&overflow).unwrap();
    assert_eq!(json, r#"{"capacity":20,"when_full":{"grow":{"rate_bits":11}}}"#);
    assert_eq!(serde_json::from_str::<Overflow>(&json).unwrap(), overflow);
}

#[test]
fn shares_outside_and_too_many_subtables_are_refused() {
    assert!(serde_json::from_str::<Share>("1.5").is_err());
    assert!(serde_json::from_str::<Share>("0.3").is_ok());
    let sizes = serde_json::to_string(&[1; 17]).unwrap();
    let json = format!(r#"{{"kind":"subtables","sizes":{sizes}}}"#);
    let error = serde_json::from_str::<equibloom_layout::Candidates>(&json).unwrap_err();
    assert!(
        error.to_string().contains("number of subtables is 17: give a whole number from 1 to 16"),
        "{error}"
    );
}
