use super::*;

/// Record by record, as keys are read.
fn one_by_one(text: &[u8], separator: u8, keep_empty: bool) -> u64 {
    let whole = text.strip_suffix(&[separator]).unwrap_or(text);
    if text.is_empty() {
        return 0;
    }
    let keys = whole.split(|&byte| byte == separator).map(|record| {
        let is_line = separator == b'\n';
        record.strip_suffix(b"\r").filter(|_| is_line).unwrap_or(record)
    });
    keys.filter(|key| keep_empty || !key.is_empty()).count() as u64
}

#[test]
fn keys_are_counted_as_they_would_be_read() {
    // All texts of up to seven of these bytes, alone and behind a long one.
    for length in 0..=7 {
        for number in 0..4_usize.pow(length) {
            let byte = |place| b"\n\ra\0"[number / 4_usize.pow(place) % 4];
            let short: Vec<u8> = (0..length).map(byte).collect();
            let long: Vec<u8> =
                b"ab\n\n\r\n\0".repeat(70).into_iter().chain(short.clone()).collect();
            for separator in [b'\n', 0] {
                for keep_empty in [true, false] {
                    for text in [&short, &long] {
                        let expected = one_by_one(text, separator, keep_empty);
                        assert_eq!(count_keys(text, separator, keep_empty), expected, "{text:?}");
                    }
                }
            }
        }
    }
}
