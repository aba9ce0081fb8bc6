"""A server with the module, until it is interrupted: `cargo xtask valkey`."""

import servers

kind = "valkey" if "valkey" in servers.BINARIES else "redis"
server = servers.Server(servers.BINARIES[kind])
print(f"{kind} with the module equibloom listens on {server.url}")
print(f"    valkey-cli -p {server.port} BF.ADD visitors alice     (or redis-cli)")
print(f"    redis.Redis(port={server.port}).bf().add('visitors', 'alice')     in Python")
print("Ctrl-C stops it; its data is removed.")
try:
    server.process.wait()
except KeyboardInterrupt:
    print()
