"""A Spark of two executors on this machine, and what its tasks moved and cost."""

import glob
import json
import os
import sys

# Executors otherwise take the first Python in the path, which may have no pyarrow.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from pyspark.sql import SparkSession


def start(directory, executors=2, memory=1024, **settings) -> SparkSession:
    """Executors of one core each, in processes of their own, as in a cluster. Events are logged into the directory."""
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,{memory}]").appName("equibloom")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{directory}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.executor.memory": f"{memory}m",
        **settings,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    # Spark keeps the executors' directories and a catalogue where it is started.
    os.chdir(directory)
    session = builder.getOrCreate()
    session.range(2, numPartitions=2).mapInArrow(lambda batches: batches, "id long").count()
    return session


class Traffic:
    """What tasks moved between two moments: ``with Traffic(spark) as traffic: …``, then its fields."""

    def __init__(self, spark):
        self._spark = spark

    def _events(self):
        # Events are logged by another thread; the end of a job flushes them.
        self._spark.range(1).count()
        self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        directory = self._spark.conf.get("spark.eventLog.dir").removeprefix("file://")
        name = self._spark.sparkContext.applicationId
        (path,) = glob.glob(f"{directory}/*{name}*")
        with open(path) as log:
            return [json.loads(line) for line in log if line.startswith('{"Event":"SparkListenerTaskEnd"')]

    def __enter__(self):
        self._before = len(self._events())
        return self

    def __exit__(self, *_):
        tasks = self._events()[self._before :]
        metrics = [task["Task Metrics"] for task in tasks if "Task Metrics" in task]
        reads = [task["Shuffle Read Metrics"] for task in metrics]
        #: Bytes that shuffles wrote, by stage.
        self.stages = {}
        for task in tasks:
            written = task.get("Task Metrics", {}).get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
            self.stages[task["Stage ID"]] = self.stages.get(task["Stage ID"], 0) + written
        #: Bytes that all shuffles wrote.
        self.shuffled = sum(self.stages.values())
        #: Of those, bytes that were read from another executor, and from the same.
        self.remote = sum(read["Remote Bytes Read"] for read in reads)
        self.local = sum(read["Local Bytes Read"] for read in reads)
        #: Bytes that the driver received.
        self.results = sum(task["Result Size"] for task in metrics)
        #: Tasks that ended otherwise than well, and why.
        self.failures = [task["Task End Reason"]["Reason"] for task in tasks if task["Task End Reason"]["Reason"] != "Success"]


def cpu_seconds() -> float:
    """CPU time of this process and all its descendants: driver, executors and their Python workers."""
    parents, times = {}, {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(path.split("/")[2])
        parents[process] = int(fields[1])
        # With those of children that have ended.
        times[process] = sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(times[process] for process in ours if process in times) / os.sysconf("SC_CLK_TCK")
