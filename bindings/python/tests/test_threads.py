"""Threads: no key is lost, no thread waits for another's column, and Ctrl-C ends long work."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from equibloom import Filter, GrowingFilter

WORKERS = 8


def in_threads(work):
    """Runs work(number) in threads that begin together; the first error is raised."""
    barrier, errors = threading.Barrier(WORKERS), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread waits for ever"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("make", [lambda: Filter(keys=160_000, rate=1e-3), lambda: GrowingFilter(rate=1e-3)])
def test_no_key_is_lost_while_threads_insert_and_look_up(make):
    seen = make()

    def work(number):
        keys = np.arange(number * 20_000, (number + 1) * 20_000)
        for part in np.split(keys, 10):
            if number % 2:
                seen.update(part, threads=2)
            else:
                for key in part.tolist():
                    seen.add(key)
                    assert key in seen
            assert seen.contains(part).all()

    in_threads(work)
    assert seen.contains(np.arange(160_000)).all()
    alone = make()
    alone.update(np.arange(160_000))
    if isinstance(seen, Filter):
        assert seen == alone


def test_everything_at_once_neither_waits_for_ever_nor_loses_a_key():
    one, two = Filter(keys=20_000, rate=1e-3), Filter(keys=20_000, rate=1e-3)
    column = np.arange(20_000)
    one.update(column[:10_000])
    two.update(column[10_000:])

    def work(number):
        for turn in range(10):
            (one if number % 2 else two).__ior__(two if number % 2 else one)
            assert (one == one.copy()) in (True, False)
            assert Filter.from_bytes(one.to_bytes()).contains(column[:10_000]).all()
            two.add(turn)
            assert len(one) > 0 and one.rate_now >= 0 and (one | two).contains(column).all()

    in_threads(work)
    assert one.contains(column).all() and two.contains(column).all()


def test_the_first_of_many_threads_decides_the_kind():
    for _ in range(20):
        seen, taken = Filter(keys=100, rate=1e-9), []

        def work(number):
            try:
                seen.add(number if number % 2 else str(number))
                taken.append(number)
            except TypeError:
                pass

        in_threads(work)
        assert len({number % 2 for number in taken}) == 1 and len(taken) == WORKERS // 2


def test_other_threads_run_while_a_column_is_looked_up():
    seen = Filter(keys=1_000_000, rate=1e-3)
    column = np.arange(5_000_000)
    turns = 0
    done = threading.Event()

    def look_up():
        seen.contains(column)
        done.set()

    threading.Thread(target=look_up).start()
    while not done.is_set():
        turns += 1
        time.sleep(0.001)
    # Held the whole time, the interpreter's lock would allow one turn or two.
    assert turns > 10


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "work",
    [
        "seen.contains(column)",
        "seen.update(column)",
        "seen.update(column, threads=2)",
        "seen.contains(column, threads=2)",
        "seen.update(chunks)",
        "seen.contains(chunks)",
        "seen.contains(iter(int, 1))",
        "seen.update(iter(int, 1))",
        "Filter.from_keys(iter(int, 1))",
    ],
)
def test_ctrl_c_ends_long_work(work):
    if "chunks" in work:
        pytest.importorskip("pyarrow")
    program = f"""
        import signal, time
        import numpy as np
        from equibloom import Filter

        seen = Filter(keys=1_000, rate=0.01)
        # 2^36 rows in eight bytes.
        column = np.lib.stride_tricks.as_strided(np.zeros(1, int), (1 << 36,), (0,))
        if "contains(column" in {work!r}:
            column = column[: 1 << 32]  # half a GiB of answers, that are never written

        # Small arrays without end, one after the other.
        class Chunks:
            def __arrow_c_stream__(self, requested_schema=None):
                import pyarrow as pa

                batch = pa.record_batch({{"a": [1, 2]}})
                return pa.RecordBatchReader.from_batches(batch.schema, (batch for _ in iter(int, 1))).__arrow_c_stream__()

        chunks = Chunks()
        # Ctrl-C comes after so much processor time, and is measured by it: other programs do not count.
        signal.signal(signal.SIGPROF, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_PROF, 0.5)
        start = time.process_time()
        try:
            {work}
        except KeyboardInterrupt:
            print(time.process_time() - start - 0.5)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True).stdout
    # A second of each of two threads.
    assert float(output) < (2 if "threads" in work else 1)
