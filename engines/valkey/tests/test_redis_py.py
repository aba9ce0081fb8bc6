"""redis-py's own tests of BF.*, from its source distribution: sync and asyncio, each protocol, each kind of replies."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import servers

VERSION = "8.1.0"
FILES = ["tests/test_bloom.py", "tests/test_asyncio/test_bloom.py"]

# The suite's test of BF.RESERVE is one of CF.RESERVE, CMS.* and TOPK.*, too: test_commands.py has its lines of BF.RESERVE.
SELECTED = "bf_ and not bf_reserve"


@pytest.fixture(scope="module")
def suite():
    directory = servers.TARGET / f"redis-{VERSION}"
    if not directory.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, f"redis=={VERSION}", "--dest", servers.TARGET], check=True)
        with tarfile.open(servers.TARGET / f"redis-{VERSION}.tar.gz") as archive:
            archive.extractall(servers.TARGET, filter="data")
    return directory


# Valkey with everything, Redis with one of each.
RUNS = [("valkey", nodes, protocol, legacy) for nodes in (1, 3) for protocol in "23" for legacy in ("true", "false")]
RUNS += [("redis", 1, "2", "true"), ("redis", 1, "3", "false")]


@pytest.fixture(scope="module", params=sorted({run[:2] for run in RUNS}), ids=lambda run: f"{run[0]}-{run[1]}")
def running(request):
    kind, nodes = request.param
    binary = servers.BINARIES[kind]
    started = servers.cluster(binary) if nodes > 1 else [servers.Server(binary)]
    yield kind, nodes, started[0].url
    for server in started:
        server.remove()


@pytest.mark.parametrize("protocol", ["2", "3"])
@pytest.mark.parametrize("legacy", ["true", "false"])
def test_the_clients_own_suite_passes(suite, running, protocol, legacy):
    kind, nodes, address = running
    if (kind, nodes, protocol, legacy) not in RUNS:
        pytest.skip("run with Valkey")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *FILES, "-k", SELECTED]
    command += ["--redis-url", address, "--redis-mod-url", address]
    command += ["--protocol", protocol, "--legacy-responses", legacy]
    if nodes > 1:
        command += ["--redis-cluster-nodes", str(nodes)]
    command += ["-p", "redis_py_module"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    result = subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=300, env=environment)
    print(result.stdout[-4000:], result.stderr[-2000:])
    assert result.returncode == 0
    summary = result.stdout.strip().splitlines()[-1]
    print(summary)
    # In a cluster the asyncio suite itself skips one of its two ways to connect.
    assert f"{15 if nodes == 1 else 10} passed" in summary, summary
    assert ("skipped" in summary) == (nodes > 1), summary
