"""An independent computation of the papers' theorems in high precision.

Reads one question a line from standard input, `kind argument ...`, and answers each with one line of
numbers. Arguments are decimal forms of doubles and are taken as exactly these doubles. Everything follows
the printed theorems (gamma functions, fixed-point equations), not the forms of the Rust code.
"""

import sys
from mpmath import mp, mpf, mpmathify, gammainc, gamma, exp, factorial, quad, log, ceil, binomial, nstr

# At r = 200, a = 3 the kept load differs from 200 in its 90th digit only.
mp.dps = 160


def poisson(i, lam):
    return exp(-lam) * lam**i / factorial(i)


def at_most(x, lam):
    """Pr{X <= x} = Gamma(x + 1, lam) / x!"""
    return gammainc(x + 1, lam) / factorial(x) if x >= 0 else mpf(0)


def lower_bound(r, a, gamma_):
    """k0, P_LB of Theorem 1."""
    lam, mean = a * r, r * (1 - gamma_)

    def kept(k):  # the left-hand side of the theorem
        e0 = lam * gammainc(k, lam) / factorial(k - 1) if k > 0 else mpf(0)
        return e0 + k * (1 - at_most(k, lam))

    k0 = 0
    step = 1
    while kept(k0 + step) < mean:
        k0 += step
        step *= 2
    while step >= 1:
        if kept(k0 + step) < mean:
            k0 += step
        step //= 2
    e0 = lam * gammainc(k0, lam) / factorial(k0 - 1) if k0 > 0 else mpf(0)
    p0 = at_most(k0, lam)
    masses = [poisson(i, lam) for i in range(k0)]
    masses.append(poisson(k0, lam) + e0 + k0 + 1 - k0 * p0 - p0 - mean)
    masses.append(-e0 - k0 + k0 * p0 + mean)
    return k0, masses


def coin(h, lam, target):
    """p of Theorems 3 to 5 from the printed equation, with enough digits for its cancellation."""
    with mp.workdps(60 + 4 * h):

        def excess(p):
            term, total = mpf(1), mpf(0)
            for i in range(h):
                total += term
                term *= lam * (1 - p) / (i + 1)
            return (exp(-p * lam) - exp(-lam) * total) / (1 - p) ** h - target

        low, high = mpf(0), 1 - mpf(10) ** -4
        f_low, f_high = excess(low), excess(high)
        if f_low <= 0:
            return low
        if f_high >= 0:
            return None  # too close to 1 for the printed form
        side = 0
        for step in range(400):
            x = (low * f_high - high * f_low) / (f_high - f_low) if step % 4 else (low + high) / 2
            value = excess(x)
            if value > 0:
                low, f_low = x, value
                f_high = f_high / 2 if side == 1 else f_high
                side = 1
            else:
                high, f_high = x, value
                f_low = f_low / 2 if side == -1 else f_low
                side = -1
            if high - low < mpf(10) ** -14 * high:
                break
        return (low + high) / 2


def block_cost(bits, k):
    return lambda i: (1 - exp(-mpf(k) * i / bits)) ** k


def mean_cost(masses, cost):
    return sum(mass * cost(i) for i, mass in enumerate(masses))


def geometric(a, d):
    """rho with 1 + rho + ... + rho^(d-1) = a"""
    low, high = mpf(0), mpf(1)
    for _ in range(160):
        middle = (low + high) / 2
        if sum(middle**i for i in range(d)) < a:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def question_bound(r, a, gamma_, bits, k):
    """k0, P(k0), P(k0 + 1), variance, block rate, p (-1 where the printed equation gives none)"""
    k0, masses = lower_bound(r, a, gamma_)
    mean = sum(i * mass for i, mass in enumerate(masses))
    variance = mean_cost(masses, lambda i: mpf(i) ** 2) - mean**2
    p = coin(k0, a * r, masses[k0])
    return [k0, masses[k0], masses[k0 + 1], variance, mean_cost(masses, block_cost(bits, int(k))), -1 if p is None else p]


def question_multi(a, d):
    """gamma_0 of Theorem 5, from a = (1 - p^d) / (1 - p) and p = 1 - (1 - gamma) / a"""
    return [1 - a * (1 - geometric(a, int(d)))]


def question_sequential(r, a, d, hint):
    """gamma_0 of Theorem 4: one Newton step from the hint, which shows how far off the hint was."""
    d = int(d)
    with mp.workdps(30):

        def elements(gamma_):
            k0, masses = lower_bound(r, a, gamma_)
            p = coin(k0, a * r, masses[k0])

            def away(s):
                if s == 0:
                    return mpf(0) if k0 > 0 else 1 - p
                lam = s * r
                with mp.workdps(40 + 2 * k0):
                    q = 1 - p
                    f_h = exp(-p * lam) / q**k0 * (1 - (at_most(k0 - 1, lam * q) if k0 > 0 else 0))
                    f_above = 1 - (at_most(k0 - 1, lam) if k0 > 0 else 0) - f_h
                    return q * f_h + f_above

            def integrand(s):
                x = away(s)
                return 1 / sum(x**i for i in range(d))

            return quad(integrand, [a * i / 4 for i in range(5)], maxdegree=5)

        at = elements(hint)
        delta = hint * mpf(10) ** -4
        slope = (elements(hint + delta) - at) / delta
        return [hint - (at - 1) / slope]


def question_rate(kind, bits, beta, a, d):
    """The papers' rate with k = round(beta ln 2) for blocked, single (a is the overflow) and multi-level."""
    r = bits / beta
    k = int(mp.nint(beta * log(2)))
    if kind == "classical":
        return [(1 - exp(-k / beta)) ** k]
    if kind == "blocked":
        top = int(r + 60 * mp.sqrt(r) + 200)
        return [sum(poisson(i, r) * block_cost(bits, k)(i) for i in range(top))]
    if kind == "single":
        k0, masses = lower_bound(r, mpf(1), a)
        bits -= ceil(log(mpf(k0 + 2)) / log(2))
        return [mean_cost(masses, block_cost(bits, k))]
    k0, masses = lower_bound(r, a, 1 - a * (1 - geometric(a, int(d))))
    bits -= ceil(log(mpf(k0 + 2)) / log(2))
    full = masses[k0] + masses[k0 + 1]
    return [sum(full**j for j in range(int(d))) * mean_cost(masses, block_cost(bits, k))]


def question_alpha(bits, beta, alpha):
    """One-plus-alpha by the tails u_i = Pr{load >= i}: u_i' = r[(1-alpha)(u_{i-1}-u_i) + alpha(u_{i-1}^2-u_i^2)].

    Runge-Kutta in doubles at two step sizes, extrapolated."""
    bits, beta, alpha = float(bits), float(beta), float(alpha)
    r = bits / beta
    k = round(beta * float(log(2)))
    size = int(r + 12 * r**0.5 + 30)

    def run(steps):
        u = [1.0] + [0.0] * size
        dt = 1.0 / steps

        def slope(u):
            flow = [(1 - alpha) * x + alpha * x * x for x in u]
            return [0.0] + [r * (flow[i - 1] - flow[i]) for i in range(1, size + 1)]

        for _ in range(steps):
            s1 = slope(u)
            s2 = slope([x + dt / 2 * s for x, s in zip(u, s1)])
            s3 = slope([x + dt / 2 * s for x, s in zip(u, s2)])
            s4 = slope([x + dt * s for x, s in zip(u, s3)])
            u = [x + dt / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(u, s1, s2, s3, s4)]
        from math import exp as e

        cost = lambda i: (1 - e(-k * i / bits)) ** k
        # Sum by parts: no difference of tails is needed.
        return (1 + alpha) * sum(u[i] * (cost(i) - cost(i - 1)) for i in range(1, size + 1))

    steps = int(40 * r) + 200
    coarse, fine = run(steps), run(2 * steps)
    return [mpf(fine + (fine - coarse) / 15)]


def question_exact(bits, k, keys, blocks):
    """Exact rate of the blocked filter, by inclusion and exclusion over the query's bits."""
    bits, k, keys, blocks = int(bits), int(k), int(keys), int(blocks)
    with mp.workdps(120):
        total = mpf(0)
        for j in range(k + 1):
            misses = binomial(bits - j, k) / binomial(bits, k)  # a key avoids j given bits
            total += (-1) ** j * binomial(k, j) * (1 - (1 - misses) / blocks) ** keys
        return [total]


def answer(line):
    kind, *arguments = line.split()
    if kind in ("classical", "blocked", "single", "multi-rate"):
        return question_rate(kind, *[mpf(float(x)) for x in arguments])
    return globals()["question_" + kind](*[mpf(float(x)) for x in arguments])


for line in sys.stdin:
    print(*[nstr(mpmathify(x), 20) for x in answer(line)], flush=True)
