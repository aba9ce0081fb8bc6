//! How long predictions take.
use equibloom_theory::exact::{Machine, Placement};
use std::time::Instant;
fn main() {
    for (bits, beta) in [(512u32, 16.0), (4096, 8.0), (32768, 8.0), (32768, 24.0), (32768, 40.0)] {
        let keys = 4_000_000u64;
        let blocks = (keys as f64 * beta / f64::from(bits)) as u64;
        let hashes = (beta * 0.69_f64).round() as u32;
        for a in [0.0, 0.1, 0.3, 0.5, 1.0] {
            let m = Machine {
                keys,
                data_bits: bits,
                hashes,
                placement: Placement::LeastLoaded { blocks, second_choice: a },
            };
            let t = Instant::now();
            let p = m.predict().unwrap();
            println!(
                "B={bits} beta={beta} {a}: k={hashes} rate {:.4e} in {:?}",
                p.rate,
                t.elapsed()
            );
        }
    }
    use equibloom_theory::paper::*;
    for (bits, beta) in [(500, 18.0), (4096, 12.0), (32768, 16.0), (32768, 8.0)] {
        let t = Instant::now();
        let r = rate(Scheme::OnePlusAlpha { alpha: 0.5 }, bits, beta, Hashes::Paper).unwrap();
        let one = t.elapsed();
        let t = Instant::now();
        let r2 = best_alpha(bits, beta, Hashes::Paper).unwrap();
        println!(
            "paper {bits} {beta}: {:e} {one:?}, best alpha {} {:?}",
            r.rate,
            r2.0,
            t.elapsed()
        );
    }
    for r in [8.0, 200.0, 4096.0] {
        let t = Instant::now();
        let o = equibloom_theory::optimum::sequential(r, 1.2, 3, None).unwrap();
        println!("sequential {r}: {:?} {:?}", o, t.elapsed());
    }
}
