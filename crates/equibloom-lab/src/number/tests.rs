use super::{power_of_ten, short};

#[test]
fn numbers_are_short() {
    for (value, text) in [
        (0.0, "0"),
        (1.2, "1.2"),
        (1000.0, "1000"),
        (0.0049845, "0.00498"),
        (1.39e-7, "1.39·10⁻⁷"),
        (-2e9, "-2·10⁹"),
        (1e6, "10⁶"),
        (0.9999, "1"),
    ] {
        assert_eq!(short(value), text);
    }
    assert_eq!(power_of_ten(-12), "10⁻¹²");
}
