use super::*;

#[test]
fn counts_read_as_people_write_them() {
    for (text, value) in [
        ("0", 0),
        ("250_000", 250_000),
        ("4M", 4_000_000),
        ("1.5k", 1_500),
        ("1e9", 1_000_000_000),
        ("2g", 2_000_000_000),
        ("1.1G", 1_100_000_000),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(count(text), Ok(value), "{text}");
    }
}

#[test]
fn bytes_read_as_people_write_them() {
    for (text, value) in [
        ("4096", 4096),
        ("150MB", 150_000_000),
        ("150 MB", 150_000_000),
        ("1GiB", 1 << 30),
        ("1.5MiB", 3 << 19),
        ("64k", 64_000),
        ("7b", 7),
        ("2TB", 2_000_000_000_000),
    ] {
        assert_eq!(bytes(text), Ok(value), "{text}");
    }
}

#[test]
fn shares_and_reals_read_as_people_write_them() {
    for (text, value) in [("0.1%", 0.001), ("100 %", 1.0), ("1e-6", 1e-6), ("0", 0.0)] {
        assert_eq!(share(text), Ok(value), "{text}");
    }
    assert_eq!(real("1_000.5"), Ok(1000.5));
}

#[test]
fn what_is_not_a_number_is_named() {
    let names = |text: &str, error: String| {
        assert!(error.contains(&format!("`{text}`")), "{error}");
    };
    for text in ["", "M", "-1", "1.5", "nan", "inf", "1e30", "12 apples", "é", "1µ"] {
        names(text, count(text).unwrap_err());
    }
    for text in ["", "MB", "-1", "0.5b", "nan", "infGB", "1e30", "1PB", "ééb"] {
        names(text, bytes(text).unwrap_err());
    }
    for text in ["", "%", "-1", "1.5", "nan", "101%", "x%", "0,1"] {
        names(text, share(text).unwrap_err());
    }
    for text in ["", "nan", "inf", "-inf", "1.2.3", "one"] {
        names(text, real(text).unwrap_err());
    }
}
