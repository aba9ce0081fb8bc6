use super::*;

#[test]
fn words_are_zero_on_line_boundaries_and_keep_what_is_written() {
    for count in [0, 1, 7, 8, 9, 1_000, 100_000] {
        let mut words = Words::zeroed(count).unwrap();
        assert_eq!(words.bytes(), bytes_for(count));
        assert!(count == 0 || words.as_ptr().addr().is_multiple_of(LINE_BYTES));
        assert!(words.as_flattened().iter().all(|&word| word == 0));
        assert_eq!(words.as_flattened().len() as u64, bytes_for(count) / 8);
        for index in 0..count as usize {
            words.as_flattened_mut()[index] = index as u64 + 1;
        }
        let copy = words.clone();
        assert_eq!(copy, words);
        words.fill([0; WORDS_PER_LINE]);
        assert!((0..count as usize).all(|index| copy.as_flattened()[index] == index as u64 + 1));
        assert!(words.as_flattened().iter().all(|&word| word == 0));
    }
}

#[test]
fn memory_that_cannot_be_had_is_refused() {
    for count in [1 << 60, u64::MAX - 7, u64::MAX] {
        let refusal = BuildError::OutOfMemory { bytes: bytes_for(count) };
        assert_eq!(Words::zeroed(count), Err(refusal));
    }
}
