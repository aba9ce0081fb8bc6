use super::*;
use alloc::vec;

/// Weak hashers give sequential numbers or multiples of a power of two. Their buckets, tags and classes are
/// as evenly filled as those of random numbers.
#[test]
fn weak_hashes_are_spread_over_buckets_tags_and_classes() {
    let count = 1 << 16;
    for step in [1_u64, 8, 64, 4_096, 1 << 32, 1 << 40, 1 << 47] {
        let mut counts = [vec![0_u32; 256], vec![0; 256], vec![0; 256], vec![0; 256]];
        for index in 0..count {
            let key = spread(step.wrapping_mul(index), DEFAULT_MULTIPLIER);
            counts[0][(key.candidate(0) >> 56) as usize] += 1;
            counts[1][(key.candidate(1) >> 56) as usize] += 1;
            counts[2][usize::from(tag_of(key).get())] += 1;
            counts[3][class_of(key, 256)] += 1;
        }
        // The tag 1 stands for two values.
        counts[2][0] = counts[2][1] / 2;
        counts[2][1] /= 2;
        let mean = count as f64 / 256.0;
        for (draw, counts) in counts.iter().enumerate() {
            let most = f64::from(counts.iter().copied().max().unwrap_or(0));
            assert!(most < mean + 6.0 * mean.sqrt(), "draw {draw}, step {step}: {most}");
        }
    }
}
