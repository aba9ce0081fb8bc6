//! A cache of seen URLs: their number is unknown, many threads ask, and it is saved while in use.

use std::error::Error;
use std::path::Path;
use std::thread;

use equibloom::{Filter, GrowingFilter};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir();
    crawl(&directory.join(format!("seen-urls-{}.eqg", std::process::id())), 100_000)
}

/// Four threads find URLs, most of them more than once, and fetch each once.
pub(crate) fn crawl(path: &Path, urls: u64) -> Result<(), Box<dyn Error>> {
    let seen = Filter::<str>::builder().rate(0.001).random_seed().build_shared_growing()?;
    let fetched: u64 = thread::scope(|scope| {
        let crawlers: Vec<_> = (0..4)
            .map(|crawler| {
                let seen = &seen;
                scope.spawn(move || {
                    let mut fetched = 0;
                    for number in (crawler * urls / 8)..(crawler * urls / 8 + urls / 2) {
                        let url = format!("https://example.com/{number}");
                        // Of all threads that insert a URL, one finds it new.
                        fetched += u64::from(seen.insert(&url).is_ok_and(|it| it.is_new()));
                    }
                    fetched
                })
            })
            .collect();
        // Saved while they go on: the file has every URL whose insert has returned.
        let saved = seen.save(path);
        let fetched = crawlers.into_iter().map(|crawler| crawler.join().unwrap_or(0)).sum();
        saved.map(|()| fetched)
    })?;

    // Tomorrow, or in another program.
    seen.save(path)?;
    let seen = GrowingFilter::<str>::load(path)?;
    let different = 7 * urls / 8;
    assert!((0..different).all(|number| seen.contains(&format!("https://example.com/{number}"))));
    println!("{fetched} of {different} URLs fetched, {} bytes in memory", seen.bytes());
    std::fs::remove_file(path)?;
    Ok(())
}
