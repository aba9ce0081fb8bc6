//! A filter over a type of one's own.

use std::error::Error;

use equibloom::{Filter, StableKey, WithBuildHasher};

#[derive(Hash)]
struct User {
    id: u64,
    name: String,
}

/// The key's bytes: those of a tuple of the fields, so that other programs and languages can ask the saved filter.
impl StableKey for User {
    fn with_bytes<R>(&self, then: impl FnOnce(&[u8]) -> R) -> R {
        (self.id, &self.name).with_bytes(then)
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let alice = User { id: 7, name: "Alice".into() };
    let bob = User { id: 8, name: "Bob".into() };

    let mut users = Filter::builder().keys(10_000).rate(0.001).build()?;
    users.insert(&alice)?;
    assert!(users.contains(&alice) && !users.contains(&bob));

    // A filter that is not saved can use any hash function, and whatever derives `Hash`.
    let hasher = WithBuildHasher::new(std::hash::RandomState::new());
    let builder = Filter::builder().keys(10_000).rate(0.001).hash_bits(64);
    let mut visitors = builder.build_with_hasher(hasher)?;
    visitors.insert(&bob)?;
    assert!(visitors.contains(&bob));
    println!("{users:?}");
    Ok(())
}
