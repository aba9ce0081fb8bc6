"""A killed executor or worker changes nothing and loses no row."""


import pytest
from equibloom.spark import build_filter, contains
from spark_events import Traffic

KEYS = 200_000


def killing(marker, victim):
    """Passes rows on; the first attempt of the sixth task kills its worker, or the executor that has run tasks before."""

    def rows(batches):
        import os
        import signal

        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            yield batch
            if number == 1 and TaskContext.get().partitionId() == 5 and not os.path.exists(marker):
                open(marker, "w").close()
                process = os.getpid()
                while victim == "executor":
                    with open(f"/proc/{process}/cmdline") as command:
                        if "CoarseGrainedExecutorBackend" in command.read():
                            break
                    with open(f"/proc/{process}/stat") as stat:
                        process = int(stat.read().rpartition(")")[2].split()[1])
                os.kill(process, signal.SIGKILL)

    return rows


@pytest.mark.parametrize("most", [128 << 20, 1 << 16], ids=["one", "shards"])
@pytest.mark.parametrize("victim", ["executor", "worker"])
def test_nothing_is_lost_if_one_is_killed_during_the_build(spark, tmp_path, victim, most):
    marker = tmp_path / "killed"
    frame = spark.range(0, KEYS, numPartitions=8)
    expected = build_filter(frame, "id", rate=0.001, keys=KEYS, max_driver_bytes=most)
    with Traffic(spark) as traffic:
        dangerous = frame.mapInArrow(killing(str(marker), victim), "id long")
        members = build_filter(dangerous, "id", rate=0.001, keys=KEYS, max_driver_bytes=most)
    assert marker.exists() and traffic.failures
    if most == 1 << 16:
        assert members.shards > 1
        for number in range(members.shards):
            assert members.shard(number).to_bytes() == expected.shard(number).to_bytes()
    else:
        assert members.to_bytes() == expected.to_bytes()
    asked = spark.range(KEYS // 2, 2 * KEYS, numPartitions=4)
    kept = asked.where(contains(members, "id"))
    joined = asked.join(frame, "id", "left_semi")
    lost, rows = joined.join(kept, "id", "left_anti").count(), joined.count()
    added = kept.join(frame, "id", "left_anti").count()
    print(f"{victim} killed, {traffic.failures}: {lost} of {rows} rows lost, {added} of {KEYS} absent keys found")
    assert lost == 0 and rows == KEYS // 2
    assert added <= 0.001 * KEYS + 4 * (0.001 * KEYS) ** 0.5


