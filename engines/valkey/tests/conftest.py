"""Every test of a server runs with Redis and with Valkey."""

import pytest
import servers


@pytest.fixture(params=sorted(servers.BINARIES))
def binary(request):
    return servers.BINARIES[request.param]


@pytest.fixture(scope="module", params=sorted(servers.BINARIES))
def shared_server(request):
    """A server for the tests of a file; each begins with an empty one."""
    server = servers.Server(servers.BINARIES[request.param])
    yield server
    server.remove()


@pytest.fixture
def report(capsys):
    """Prints a line, also where a test passes: what was counted."""

    def line(text):
        with capsys.disabled():
            print(f"\n{text}")

    return line


@pytest.fixture
def client(shared_server):
    with shared_server.client() as client:
        client.flushall()
        yield client
    assert not shared_server.has_crashed(), shared_server.log.read_text()[-4000:]
