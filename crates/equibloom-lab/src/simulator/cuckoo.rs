//! Cuckoo hashing from its definition: an element is its two random buckets.

use super::random::Random;

/// Step limit of an insertion; fewer in small tables, where a terminating walk visits no slot more than twice.
const MOST_DISPLACEMENTS: u64 = 500;

/// Random elements of two tables of `buckets` buckets: the edges of a cuckoo graph.
pub fn random_graph(elements: u64, buckets: u64, seed: u64) -> impl Iterator<Item = [u64; 2]> {
    let mut random = Random::new(seed);
    (0..elements).map(move |_| [random.below(buckets), random.below(buckets)])
}

/// Two tables of buckets with some slots each, and a stash for elements without a place.
pub struct Cuckoo {
    buckets: u64,
    slots: usize,
    random: Random,
    /// The two buckets of every element, the second table's counted from `buckets` on.
    homes: Vec<[usize; 2]>,
    /// The elements in each bucket, both tables one after the other.
    contents: Vec<Vec<usize>>,
    /// Elements without a place.
    pub stashed: usize,
    /// Number of displaced elements so far.
    pub displacements: u64,
    /// Number of rehashes.
    pub rehashes: u64,
}

impl Cuckoo {
    /// Two empty tables.
    pub fn new(buckets: u64, slots: usize, seed: u64) -> Self {
        Self {
            buckets,
            slots,
            random: Random::new(seed),
            homes: Vec::new(),
            contents: vec![Vec::with_capacity(slots); 2 * buckets as usize],
            stashed: 0,
            displacements: 0,
            rehashes: 0,
        }
    }

    /// Share of the elements that are not in the first table.
    pub fn share_beyond_first(&self) -> f64 {
        let first: usize = self.contents[..self.buckets as usize].iter().map(Vec::len).sum();
        1.0 - first as f64 / self.homes.len() as f64
    }

    /// Inserts an element.
    pub fn insert(&mut self) {
        let homes = self.draw();
        self.homes.push(homes);
        self.place(self.homes.len() - 1);
    }

    /// New buckets for all elements.
    pub fn rehash(&mut self) {
        self.rehashes += 1;
        self.stashed = 0;
        self.contents.iter_mut().for_each(Vec::clear);
        for element in 0..self.homes.len() {
            self.homes[element] = self.draw();
        }
        for element in 0..self.homes.len() {
            self.place(element);
        }
    }

    fn draw(&mut self) -> [usize; 2] {
        let first = self.random.below(self.buckets);
        [first as usize, (self.buckets + self.random.below(self.buckets)) as usize]
    }

    /// An element begins in the first table; with several slots in the second one, if only that has room.
    fn place(&mut self, element: usize) {
        let has_room = |contents: &[Vec<usize>], bucket: usize| contents[bucket].len() < self.slots;
        let [first, second] = self.homes[element];
        let mut table = usize::from(
            self.slots > 1 && !has_room(&self.contents, first) && has_room(&self.contents, second),
        );
        let mut in_hand = element;
        let slots = 2 * self.buckets * self.slots as u64;
        for _ in 0..=MOST_DISPLACEMENTS.min(2 * slots) {
            let bucket = self.homes[in_hand][table];
            if has_room(&self.contents, bucket) {
                self.contents[bucket].push(in_hand);
                return;
            }
            let victim = self.random.below(self.slots as u64) as usize;
            std::mem::swap(&mut self.contents[bucket][victim], &mut in_hand);
            self.displacements += 1;
            table = 1 - table;
        }
        self.stashed += 1;
    }
}
