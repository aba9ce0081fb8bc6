use super::*;

#[test]
fn tables_have_exactly_the_requested_buckets() {
    for buckets in (3..400).chain([1_000, 10_000, 25_000, 100_000]) {
        let one = cuckoo_tables::<(), 1>(buckets).unwrap();
        let four = cuckoo_tables::<(), 4>(buckets).unwrap();
        assert_eq!((one.buckets_per_table(), four.buckets_per_table()), (buckets, buckets));
        assert!(one.capacity() as f64 >= 0.98 * buckets as f64 - 2.0, "{buckets}");
        assert!(four.capacity() as f64 >= 0.95 * 8.0 * buckets as f64 - 5.0, "{buckets}");
    }
}
