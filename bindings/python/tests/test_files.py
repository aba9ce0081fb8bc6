"""Filters as bytes, files, pickles and mapped memory."""

import copy
import mmap
import multiprocessing
import os
import pickle
import random

import numpy as np
import pytest

from equibloom import Filter, FilterFileError, GrowingFilter

KEYS = np.arange(0, 300_000, 3)


def planned():
    return Filter.from_keys(KEYS, rate=1e-3, seed=7)


def growing():
    seen = GrowingFilter(rate=1e-3, seed=7)
    seen.update(KEYS)
    return seen


both = pytest.mark.parametrize("make", [planned, growing])


@both
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_the_same_filter(make, protocol):
    seen = make()
    other = pickle.loads(pickle.dumps(seen, protocol))
    assert other == seen and other.kind == "integer" and other.seed == 7
    assert other.contains(KEYS).all()
    other.add(10**9)
    assert 10**9 in other and 10**9 not in seen


@both
def test_a_pickle_of_protocol_5_does_not_copy_the_bytes(make):
    seen, buffers = make(), []
    data = pickle.dumps(seen, 5, buffer_callback=buffers.append)
    assert len(data) < 200 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers) == seen


@both
@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, "u1")])
def test_bytes_come_back_from_any_buffer(make, convert):
    seen = make()
    data = convert(seen.to_bytes())
    for read in (type(seen).from_bytes, type(seen).from_buffer):
        other = read(data)
        assert other == seen and other.kind == "integer"


@both
def test_a_filter_over_a_buffer_copies_nothing_before_its_first_change(make):
    seen = make()
    shared = mmap.mmap(-1, len(seen.to_bytes()))
    shared.write(seen.to_bytes())
    other = type(seen).from_buffer(shared)
    with pytest.raises(BufferError):
        shared.close()  # the filter uses it
    other.add(10**9)
    assert other.contains(KEYS).all() and 10**9 in other
    assert bytes(shared) == seen.to_bytes()


@both
def test_files(make, tmp_path):
    seen = make()
    path = tmp_path / "seen.eqb"
    seen.save(path)
    assert path.read_bytes() == seen.to_bytes()
    for read in (type(seen).load, type(seen).open):
        for name in (path, str(path), os.fsencode(path)):
            other = read(name)
            assert other == seen and other.contains(KEYS).all()
        other.update(range(10**9, 10**9 + 100))
        assert 10**9 + 99 in other and path.read_bytes() == seen.to_bytes()
    other.save(path)
    assert type(seen).load(path) == other


def test_a_large_file_is_mapped_and_changed_in_memory(tmp_path):
    seen = Filter.from_keys(np.arange(1_000_000), rate=1e-3)
    seen.save(tmp_path / "large.eqb")
    mapped = Filter.open(tmp_path / "large.eqb")
    assert mapped == seen
    assert mapped.contains(np.arange(1_000_000), threads=2).all()
    mapped.update(np.arange(1_000_000, 1_100_000))
    assert mapped.contains(np.arange(1_100_000)).all()
    assert Filter.load(tmp_path / "large.eqb") == seen


def test_errors_of_the_operating_system_are_its_own(tmp_path):
    seen = Filter.from_keys([1], rate=0.01)
    for read in (Filter.load, Filter.open, GrowingFilter.load, GrowingFilter.open):
        with pytest.raises(FileNotFoundError) as error:
            read(tmp_path / "none.eqb")
        assert error.value.filename == str(tmp_path / "none.eqb")
        with pytest.raises((IsADirectoryError, FilterFileError)):
            read(tmp_path)
    with pytest.raises(OSError):
        seen.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        seen.save(tmp_path / "none" / "seen.eqb")
    for path in ("with\0zero", 5, None):
        with pytest.raises((ValueError, TypeError)):
            seen.save(path)
        with pytest.raises((ValueError, TypeError)):
            Filter.load(path)


@both
def test_every_damaged_byte_is_found(make):
    seen = type(make())(keys=50, rate=0.01)
    seen.update(range(50))
    data = seen.to_bytes()
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << (at % 8)
        with pytest.raises(FilterFileError):
            type(seen).from_bytes(damaged)


@both
def test_shortened_and_foreign_bytes_are_refused(make):
    seen = make()
    data = seen.to_bytes()
    others = [data[:-1], data + b"\0", b"", b"key,value\n1,2\n", data[: len(data) // 2], data[:100]]
    others.append((growing if make is planned else planned)().to_bytes())
    for other in others:
        for read in (type(seen).from_bytes, type(seen).from_buffer):
            with pytest.raises(FilterFileError):
                read(other)
    for read in (type(seen).from_bytes, type(seen).from_buffer):
        for nothing in (None, 5, "text", [1]):
            with pytest.raises((TypeError, ValueError)):
                read(nothing)


def aligned(data):
    """A copy that begins at a multiple of 64, so that it can be used in place."""
    memory = np.empty(len(data) + 64, "u1")
    start = -memory.ctypes.data % 64
    memory[start : start + len(data)] = np.frombuffer(data, "u1")
    return memory[start : start + len(data)]


@both
def test_damaged_buffers_in_place_give_wrong_answers_and_no_worse(make):
    """Only the header is checked there."""
    seen, choose = make(), random.Random(3)
    data = bytearray(seen.to_bytes())
    for _ in range(20):
        damaged = aligned(data)
        for _ in range(1_000):
            damaged[choose.randrange(8_192, len(damaged) - 256)] = choose.randrange(256)
        other = type(seen).from_buffer(damaged)
        other.contains(np.arange(100_000))
        other.update(np.arange(1_000_000, 1_001_000))
        assert other.rate_now >= 0 and len(other) >= 0


def answers_of(seen, start):
    return seen.contains(np.arange(start, start + 1_000)).tolist()


@both
def test_other_processes_get_the_same_answers(make):
    seen = make()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        starts = [0, 150_000, 299_500]
        answers = pool.starmap(answers_of, [(seen, start) for start in starts])
    assert answers == [answers_of(copy.copy(seen), start) for start in starts]


def test_one_seed_and_one_set_of_keys_give_the_same_bytes():
    """So that a pickle of another version of Python, or another machine, can be compared: these are the file's bytes."""
    import hashlib

    text = Filter.from_keys([f"key {number}" for number in range(1_000)], rate=1e-3)
    shuffled = [f"key {number}" for number in range(1_000)]
    random.Random(1).shuffle(shuffled)
    again = Filter.from_keys(shuffled, rate=1e-3)
    assert hashlib.sha256(text.to_bytes()).digest() == hashlib.sha256(again.to_bytes()).digest()
