//! The exact false-positive rate of a Bloom block, by the number of its elements.
//!
//! The papers take the bits of a block as independent. Here the number of set bits is followed element by
//! element: of k distinct bits drawn from U, s of which are set, the number of new ones is hypergeometric. This
//! code is independent of the theory crate's chain, so that each checks the other.

/// φ(0), φ(1), …, φ(`most`): the probability that k distinct random bits are all set in a block of `bits` bits
/// that holds this many elements.
pub fn block_rates(bits: u32, hashes: u32, most: usize) -> Vec<f64> {
    let (bits, hashes) = (bits as usize, hashes as usize);
    let choose = Choose::up_to(bits);
    let matched = |set: usize| (choose.ln(set, hashes) - choose.ln(bits, hashes)).exp();
    // Row s: the probabilities of 0, 1, …, k new bits.
    let growth: Vec<Vec<f64>> = (0..=bits)
        .map(|set| {
            let new = |new: usize| {
                let ways = choose.ln(bits - set, new) + choose.ln(set, hashes - new);
                (ways - choose.ln(bits, hashes)).exp()
            };
            (0..=hashes).map(new).collect()
        })
        .collect();
    let mut set_bits = vec![0.0; bits + 1];
    set_bits[0] = 1.0;
    let mut rates = Vec::with_capacity(most + 1);
    for _ in 0..=most {
        rates.push(set_bits.iter().enumerate().map(|(set, p)| p * matched(set)).sum());
        let mut next = vec![0.0; bits + 1];
        for (set, &probability) in set_bits.iter().enumerate().filter(|&(_, &p)| p > 1e-30) {
            for (new, &growth) in growth[set].iter().enumerate().take(bits - set + 1) {
                next[set + new] += probability * growth;
            }
        }
        set_bits = next;
    }
    rates
}

/// Logarithms of binomial coefficients.
struct Choose {
    ln_factorial: Vec<f64>,
}

impl Choose {
    fn up_to(n: usize) -> Self {
        let mut ln_factorial = vec![0.0; n + 1];
        for i in 1..=n {
            ln_factorial[i] = ln_factorial[i - 1] + (i as f64).ln();
        }
        Self { ln_factorial }
    }

    /// Minus infinity for impossible choices.
    fn ln(&self, from: usize, take: usize) -> f64 {
        if take > from {
            return f64::NEG_INFINITY;
        }
        self.ln_factorial[from] - self.ln_factorial[take] - self.ln_factorial[from - take]
    }
}

#[cfg(test)]
mod tests;
