#![allow(missing_docs, clippy::all, clippy::pedantic)]
use equibloom_theory::planner::{Lookup, Requirements, plan};
fn req(keys: u64, number: f64, multiset: bool, one: bool) -> Requirements {
    let mut r = Requirements { keys: Some(keys), multiset, ..Requirements::default() };
    if number < 1.0 {
        r.rate = Some(number)
    } else {
        r.bits_per_key = Some(number)
    }
    if one {
        r.prefer = Some(Lookup::OneByOne)
    }
    r
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args[0].as_str() {
        "one" => {
            let keys: f64 = args[1].parse().unwrap();
            let p = plan(&req(
                keys as u64,
                args[2].parse().unwrap(),
                args.len() > 3 && args[3] == "m",
                args.len() > 3 && args[3] == "o",
            ));
            if args.last().unwrap() == "v" {
                match p {
                    Ok(p) => println!(
                        "{:?} rate {:e} bytes {} miss {} over {}",
                        p.design,
                        p.rate(),
                        p.bytes(),
                        p.expected.accesses_miss,
                        p.expected.overflow_fraction
                    ),
                    Err(e) => println!("{e}"),
                }
            }
        }
        "none" => {}
        "grid" => {
            for keys in [
                100u64,
                300,
                1000,
                3000,
                10_000,
                30_000,
                100_000,
                1_000_000,
                30_000_000,
                1_000_000_000,
            ] {
                for number in [
                    0.1, 0.03, 0.01, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9,
                    5.0, 7.0, 8.0, 8.5, 9.0, 9.5, 10.0, 10.5, 11.5, 12.0, 12.5, 14.0, 16.0, 16.5,
                    18.5, 20.0, 21.0, 24.0, 28.5, 33.0, 40.0, 50.0,
                ] {
                    for multiset in [false, true] {
                        let start = std::time::Instant::now();
                        let p = plan(&req(keys, number, multiset, false));
                        let t = start.elapsed().as_secs_f64() * 1e3;
                        match p {
                            Ok(p) => println!(
                                "{keys},{number:e},{multiset},{:.6e},{},{:.4},{t:.2},{:?}",
                                p.rate(),
                                p.bytes(),
                                p.expected.accesses_miss,
                                p.design.layout().map(|l| (l.blocks, l.candidates))
                            ),
                            Err(_) => println!("{keys},{number:e},{multiset},err,err,,{t:.2},"),
                        }
                    }
                }
            }
        }
        _ => {}
    }
}
