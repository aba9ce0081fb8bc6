use super::parse;

#[test]
fn integers_are_read_by_value() {
    for (text, value) in [
        ("0", 0),
        ("-0", 0),
        ("5", 5),
        ("+5", 5),
        ("0005", 5),
        ("-5", -5_i64 as u64),
        ("18446744073709551615", u64::MAX),
        ("-9223372036854775808", i64::MIN as u64),
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap(), value, "{text}");
    }
    for text in [
        "",
        "-",
        "+",
        "--5",
        "+-5",
        "-+5",
        "5.0",
        "1e3",
        "0x5",
        " 5",
        "5 ",
        "1_000",
        "five",
        "true",
        "18446744073709551616",
        "-9223372036854775809",
        "٥",
        "\u{feff}5",
    ] {
        let error = parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(&format!("`{text}` is not one from")), "{error}");
    }
    assert!(parse(b"\xff").is_err());
}
