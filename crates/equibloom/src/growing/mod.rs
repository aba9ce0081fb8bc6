//! A filter for an unknown number of keys.
//!
//! **The idea.** A key's hash is a string of bits. The filter stores beginnings of such strings; a key is present if
//! a stored string is a beginning of its own ([`prefix`]). The first bits of a string say in which of `2^b` lists it
//! stands, the others are its remainder. A block is a cache line with some dozens of successive lists ([`block`]).
//! When the number of lists doubles, the first bit of each remainder becomes the last of the list number: nothing
//! of a key is needed but what is stored. Old strings thus have short remainders, but they are few; a
//! string without remainder is copied to both halves. This is how quotient filters grow, here with a table that
//! is read by one access.
//!
//! **Small steps.** Between two doublings, the same lists are spread over more blocks ([`schedule`]). A step
//! moves all strings from one geometry to the next in the order of lists, two blocks at each insert ([`table`], [`moving`]); a
//! lookup compares its hash with how far that has come. Memory comes and goes in segments of 16 KiB
//! ([`segments`]), so that there is never more than the strings need.
//!
//! **Full blocks** send strings on to a level of 1/16 of the lists, and that to a third ([`levels`]); an ordered
//! map takes what is left ([`listed`]).
//!
//! **Threads** share tables of parts of the hash space ([`sharded`]). A planned filter that grows has a table as its
//! second [`part`].

mod block;
mod collect;
#[cfg(feature = "file")]
mod file;
mod filter;
mod kernels;
mod levels;
mod listed;
#[cfg(feature = "file")]
mod map;
mod moving;
mod part;
#[cfg(feature = "file")]
mod part_file;
mod prefix;
mod schedule;
mod segments;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod sharded;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod shared;
mod statistics;
mod table;

#[cfg(feature = "file")]
pub(crate) use file::MAGIC;
pub use filter::GrowingFilter;
pub(crate) use part::Growth;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) use part::SharedGrowth;
#[cfg(feature = "file")]
pub(crate) use part_file::StoredGrowth;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use shared::SharedGrowingFilter;
pub use table::GrowthWork;
