//! Codes against strings of bits.

use super::*;
use crate::block::fields::LINE_BITS;
use crate::block::fields::tests::bits_of;
use crate::block::isa::ANY;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_code_counts_and_finds_its_own_bits_only(
        line: Line, end in 1..=LINE_BITS, at in 0..LINE_BITS, rank in 0..40_u32,
    ) {
        let code = UnaryCode::new(end);
        let at = at % end;
        let bits = &bits_of(&line)[..end as usize];
        let is = |value| (0..end).filter(move |&bit| bits[bit as usize] == value);
        prop_assert_eq!(code.ones(ANY, &line), is(1).count() as u32);
        prop_assert_eq!(code.ones_before(ANY, &line, at), is(1).filter(|&bit| bit < at).count() as u32);
        prop_assert_eq!(code.one(ANY, &line, rank), is(1).nth(rank as usize));
        prop_assert_eq!(code.zero(ANY, &line, rank), is(0).nth(rank as usize));
        let before = (0..at).rev().take_while(|&bit| bits[bit as usize] == 1).take(64);
        prop_assert_eq!(code.run_before(ANY, &line, at), before.count() as u32);
    }
}
