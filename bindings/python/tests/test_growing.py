"""Growing filters."""

import numpy as np
import pytest

from equibloom import Filter, FilterMergeError, GrowingFilter, KeyTypeError, RequirementsError


@pytest.mark.parametrize("rate", [0.1, 0.01, 1e-4])
def test_the_rate_holds_for_any_number_of_keys(rate):
    seen = GrowingFilter(rate=rate, seed=4)
    for count in (100, 10_000, 300_000):
        seen.update(np.arange(count))
        assert seen.contains(np.arange(count)).all()
        measured = seen.contains(np.arange(10**9, 10**9 + 500_000)).mean()
        assert measured <= rate and seen.rate_now <= rate == seen.rate
        # At most the share of the rate is not counted.
        assert count * (1 - 1.1 * rate) <= len(seen) <= count


def test_it_is_a_set_like_a_filter():
    seen = GrowingFilter(rate=1e-9)
    assert not seen and len(seen) == 0 and seen.kind is None
    assert seen.add("a") and not seen.add("a") and "a" in seen and "b" not in seen
    assert seen.update(["b", "c"], ("d",)) == 3 and len(seen) == 4
    assert seen.contains(["d", "e"]).tolist() == [True, False]
    with pytest.raises(KeyTypeError):
        5 in seen
    other = seen.copy()
    other.add("e")
    assert other != seen and all(key in seen | other and key in other | seen for key in "abcde")
    seen |= other
    assert "e" in seen and len(seen) == 9  # as documented: the sum of both
    seen.clear()
    assert not seen and "a" not in seen
    assert "at a rate of 1e-9, empty" in repr(seen)


def test_removal():
    seen = GrowingFilter(rate=1e-9, removable=True)
    seen.update(np.arange(10_000))
    for key in range(0, 10_000, 2):
        seen.remove(key)
    assert seen.contains(np.arange(10_000)).tolist() == [key % 2 == 1 for key in range(10_000)]
    with pytest.raises(KeyError):
        seen.remove(0)
    assert not seen.discard(0) and seen.discard(1)
    with pytest.raises(TypeError, match="removable=True"):
        GrowingFilter(rate=0.01).remove(0)


def test_what_is_refused():
    for arguments in ({"rate": 0}, {"rate": 2}, {"rate": float("nan")}, {"keys": -1}, {"kind": "x"}):
        with pytest.raises(RequirementsError):
            GrowingFilter(**arguments)
    one, two = GrowingFilter(seed=1), GrowingFilter(seed=2)
    with pytest.raises(FilterMergeError):
        one |= two
    with pytest.raises(TypeError):
        one |= Filter(keys=10, rate=0.1)


def test_memory_follows_the_keys():
    seen = GrowingFilter(rate=0.01)
    assert seen.nbytes < 20_000
    seen.update(np.arange(1_000_000))
    assert 10 < 8 * seen.nbytes / 1_000_000 < 24
