use super::chance_spent;

/// Values of erfc(d/√2)/2 by mpmath, to 10⁻¹².
#[test]
fn the_chance_is_the_tail_of_the_normal_distribution() {
    for (deviations, chance) in
        [(0.0, 0.5), (1.0, 0.158_655_253_931_457), (4.0, 3.167_124_183_311_99e-5)]
    {
        assert!((chance_spent(0.0, 3.0 * deviations, 9.0) - chance).abs() < 1e-12);
        assert!((chance_spent(3.0 * deviations, 0.0, 9.0) - (1.0 - chance)).abs() < 1e-12);
    }
    assert_eq!(chance_spent(1.0, 1e300, 1e-300), 0.0);
    assert_eq!([chance_spent(2.0, 1.0, 0.0), chance_spent(0.0, 1.0, 0.0)], [1.0, 0.0]);
}
