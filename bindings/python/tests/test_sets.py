"""A filter as a set, beside an exact one."""

import copy
import math
import random

import numpy as np
import pytest

from equibloom import Filter, FilterMergeError, RequirementsError, plan


def is_within(measured, expected, trials):
    """Four standard deviations of a share, and 2 % for what the model leaves out."""
    return abs(measured - expected) <= 4 * math.sqrt(expected / trials) + 0.02 * expected


@pytest.mark.parametrize("rate", [0.1, 0.01, 1e-3, 1e-4])
def test_the_rate_is_what_was_asked_for(rate):
    keys = np.arange(200_000)
    seen = Filter(keys=len(keys), rate=rate, seed=3)
    seen.update(keys)
    absent = np.arange(10**9, 10**9 + 2_000_000)
    measured = seen.contains(absent).mean()
    assert seen.contains(keys).all()
    assert seen.rate <= rate
    assert is_within(measured, seen.rate_now, len(absent)), (measured, seen.rate_now)
    assert is_within(seen.rate_now, seen.rate, len(keys)), (seen.rate_now, seen.rate)


@pytest.mark.parametrize("rate", [0.1, 0.01, 1e-3])
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_len_estimates_the_number_of_different_keys(rate, share):
    seen = Filter(keys=200_000, rate=rate, seed=5)
    count = int(200_000 * share)
    seen.update(np.arange(count), np.arange(count // 2))
    # The keys that seemed to be there scatter as a Poisson number, and the estimate of them is good to a tenth.
    uncounted = count * rate * share / 2
    assert abs(len(seen) - count) <= 4 * math.sqrt(uncounted) + 0.1 * uncounted + 1


@pytest.mark.parametrize("removable", [False, True])
def test_any_sequence_of_calls_agrees_with_a_counter(removable):
    """No false negative whatever the order; and with this rate, no false positive is expected in 20,000 lookups."""
    choose = random.Random(7)
    seen = Filter(keys=3_000, rate=1e-9, removable=removable)
    counts = {}
    for _ in range(20_000):
        key = f"key {choose.randrange(4_000)}"
        action = choose.random()
        if action < 0.4 and len(counts) < 2_900:
            assert seen.add(key) is (key not in counts) or removable
            counts[key] = counts.get(key, 0) + 1 if removable else 1
        elif action < 0.6 and removable:
            assert seen.discard(key) is (key in counts)
            if counts.get(key, 0) > 1:
                counts[key] -= 1
            else:
                counts.pop(key, None)
        else:
            assert (key in seen) is (key in counts)
    assert len(seen) == sum(counts.values())


def test_what_sets_do():
    one, two = Filter.from_keys(list("abc"), rate=1e-6), Filter.from_keys(list("cde"), rate=1e-6)
    both = one | two
    assert all(key in both for key in "abcde") and "d" not in one and "a" not in two
    one |= two
    assert all(key in one for key in "abcde")
    assert one == both and one != two and one != "abc"
    assert bool(one) and not bool(Filter(keys=10, rate=0.1))
    one.clear()
    assert not one and len(one) == 0 and "a" not in one and one.kind == "bytes"
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(TypeError):
        one | {"a"}


@pytest.mark.parametrize("make", [lambda seen: seen.copy(), copy.copy, copy.deepcopy])
def test_a_copy_has_a_life_of_its_own(make):
    seen = Filter.from_keys([1, 2, 3], rate=1e-6)
    other = make(seen)
    assert other == seen
    other.add(4)
    assert 4 in other and 4 not in seen and other != seen


def test_filters_of_different_plans_can_be_united():
    small = Filter.from_keys(np.arange(1_000), rate=1e-4)
    large = Filter.from_keys(np.arange(1_000, 50_000), rate=1e-5)
    both = small | large
    assert both.contains(np.arange(50_000)).all()
    assert both.contains(np.arange(10**6, 10**6 + 100_000)).mean() < 4e-4


def test_an_empty_filter_takes_the_kind_of_the_other():
    empty, full = Filter(keys=100, rate=1e-6), Filter(keys=100, rate=1e-6)
    full.add("a")
    assert (empty | full).kind == (full | empty).kind == "bytes"
    assert "a" in (empty | full) and "a" in (full | empty)


def test_filters_that_cannot_be_united():
    integers, text = Filter.from_keys([1], rate=1e-6), Filter.from_keys(["a"], rate=1e-6)
    for other in (text, Filter.from_keys([1], rate=1e-6, seed=1), Filter.from_keys([1], rate=1e-6, removable=True)):
        with pytest.raises(FilterMergeError):
            integers | other
    assert 1 in integers and 2 not in integers


def test_remove_is_for_removable_filters():
    seen = Filter.from_keys(["a"], rate=1e-6)
    with pytest.raises(TypeError, match="removable=True"):
        seen.remove("a")
    seen = Filter.from_keys(["a"], rate=1e-6, removable=True)
    seen.remove("a")
    with pytest.raises(KeyError, match="a"):
        seen.remove("a")
    assert seen.discard("a") is False


def test_from_keys_of_an_iterator_counts_them():
    seen = Filter.from_keys((str(number) for number in range(10_000)), rate=0.001)
    assert seen.capacity == 10_000 and all(str(number) in seen for number in range(10_000))
    assert Filter.from_keys([], rate=0.001).capacity == 1
    assert Filter.from_keys([1, 2], capacity=500).capacity == 500
    assert not Filter.from_keys(iter([]))


def test_update_takes_several_columns_and_iterables():
    seen = Filter(keys=1_000, rate=1e-9)
    assert seen.update([1, 2], (3,), {4}, range(5, 8), np.arange(8, 10), (number for number in [10])) == 10
    assert seen.update() == 0
    assert all(number in seen for number in range(1, 11)) and 11 not in seen


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"keys": 100},
        {"rate": 0.01},
        {"keys": 100, "rate": 0},
        {"keys": 100, "rate": 1.5},
        {"keys": 100, "rate": math.nan},
        {"keys": -1, "rate": 0.1},
        {"keys": 2**64, "rate": 0.1},
        {"keys": 10**400, "rate": 0.1},
        {"keys": 1.5, "rate": 0.1},
        {"keys": math.inf, "rate": 0.1},
        {"keys": 0, "rate": 0.1},
        {"keys": 1000, "rate": 1e-9, "memory": 100},
        {"keys": 1000, "bits_per_key": -3},
        {"keys": 100, "rate": 0.1, "kind": "float"},
        {"keys": 100, "rate": 0.1, "headroom": -1},
        {"keys": 100, "rate": 0.1, "accesses_miss": 0.5},
    ],
)
def test_impossible_requirements_are_refused(arguments):
    with pytest.raises(RequirementsError) as error:
        Filter(**arguments)
    assert len(str(error.value)) > 20


def test_more_keys_than_planned_are_never_lost():
    seen = Filter(keys=10_000, rate=0.01)
    seen.update(np.arange(30_000))
    assert seen.contains(np.arange(30_000)).all()
    assert seen.is_over_capacity and seen.rate_now <= 0.01
    full = Filter(keys=10_000, bits_per_key=10)
    full.update(np.arange(30_000))
    assert full.contains(np.arange(30_000)).all()
    assert full.is_over_capacity and full.rate_now > 0.02


@pytest.mark.parametrize("rate", [0.2, 0.05, 0.02, 0.01, 0.005, 1e-3, 1e-6])
@pytest.mark.parametrize("keys", [1, 10, 1_000, 100_000])
def test_a_faster_filter_is_a_tenth_larger_at_most(rate, keys):
    usual, smallest = plan(keys=keys, rate=rate), plan(keys=keys, rate=rate, smallest=True)
    # The planner finds the smallest within half a per cent.
    assert smallest.nbytes <= 1.005 * usual.nbytes and usual.nbytes <= 1.1 * smallest.nbytes and usual.rate <= rate
    if (rate, keys) == (0.01, 100_000):
        assert "and 8 bits" in usual.reasons[1] and "and 6 bits" in smallest.reasons[1]
        assert Filter(keys, rate).nbytes == usual.nbytes
        assert Filter(keys, rate, smallest=True).nbytes == smallest.nbytes


def test_memory_is_what_was_allowed():
    seen = Filter(keys=100_000, memory=150_000)
    assert seen.nbytes <= 150_000 and len(seen.to_bytes()) <= 151_000
    assert Filter(keys=1e5, bits_per_key=12).nbytes <= 150_000
    assert "100000 keys, empty" in repr(seen)
