use super::*;
use alloc::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn counters_count_for_themselves_and_stay_at_many(
        steps in prop::collection::vec((0_usize..12, any::<bool>()), 0..300),
    ) {
        let mut bytes = vec![0_u8; 12_usize.div_ceil(PER_BYTE)];
        let mut model = [0_u8; 12];
        for (index, up) in steps {
            let counter = Counter::number(index);
            let byte = &mut bytes[counter.byte];
            *byte = if up { counter.incremented(*byte) } else { counter.decremented(*byte) };
            if model[index] != MANY {
                model[index] = if up { model[index] + 1 } else { model[index].saturating_sub(1) };
            }
            for (index, &expected) in model.iter().enumerate() {
                let counter = Counter::number(index);
                prop_assert_eq!(counter.is_zero(bytes[counter.byte]), expected == 0);
                prop_assert_eq!(counter.is_many(bytes[counter.byte]), expected == MANY);
            }
        }
    }
}
