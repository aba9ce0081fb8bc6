use super::number;

#[test]
fn numbers_have_about_four_digits() {
    let shown = [0.0, 1.5, 12.0, 0.01234567, 3.2e-8, 123456.0, 1e9].map(number);
    assert_eq!(shown, ["0", "1.500", "12.00", "0.01235", "3.200e-8", "123456", "1.000e9"]);
}
