"""How many connections a server accepts, how fast, and when it closes one by itself."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.metadata import MetadataRequest
from tests.support.client import Client, Closed
from tests.support.eventually import eventually
from tests.support.processes import cpu_s
from tests.support.server import Server

MIB = 1 << 20


@contextmanager
def serving(directory: Path, **overrides: object) -> Iterator[tuple[Server, Callable[..., Client]]]:
    """A server with these properties, and a way to connect to it."""
    properties = {name.replace("_", "."): value for name, value in overrides.items()}
    with Server(directory, properties) as server, ExitStack() as stack:
        yield server, lambda host="": stack.enter_context(Client(server.address, timeout_s=20, host=host))


def is_served(client: Client) -> bool:
    try:
        return client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse).error_code == ErrorCode.NONE
    except (Closed, ConnectionResetError, BrokenPipeError):
        return False


def lines(server: Server, event: str) -> int:
    return sum(event in line for line in server.log().splitlines())


def test_connections_beyond_the_limit_are_closed_with_one_line(tmp_path: Path) -> None:
    """And one that ends makes room for another."""
    with serving(tmp_path, max_connections=5) as (server, connect):
        clients = [connect() for _ in range(5)]
        assert all(map(is_served, clients))
        assert not any(is_served(connect()) for _ in range(50))
        assert all(map(is_served, clients))
        clients[0].close()

        eventually(lambda: is_served(connect()))
        assert lines(server, "connection-limit-reached") == 1


def test_each_loop_has_limits_of_its_own(tmp_path: Path) -> None:
    """Because it is a broker for its clients."""
    with Server(tmp_path, {"max.connections": 2}, loops=2) as server, ExitStack() as stack:
        for address in server.addresses:
            clients = [stack.enter_context(Client(address)) for _ in range(3)]
            assert [is_served(client) for client in clients] == [True, True, False]


def test_an_address_has_a_limit(tmp_path: Path) -> None:
    """Others are not concerned, and some have a limit of their own."""
    with serving(tmp_path, max_connections_per_ip=1, max_connections_per_ip_overrides="127.0.0.3:2") as (_, connect):
        assert [is_served(connect()) for _ in range(3)] == [True, False, False]
        for host, expected in (("127.0.0.2", [True, False]), ("127.0.0.3", [True, True, False])):
            assert [is_served(connect(host)) for _ in expected] == expected


def test_connections_over_the_rate_are_served_later(tmp_path: Path) -> None:
    """As in Kafka: ten seconds' worth at once, then one a second."""
    with serving(tmp_path, max_connection_creation_rate=1) as (server, connect):
        clients = [connect() for _ in range(11)]
        start = time.monotonic()
        assert all(map(is_served, clients[:10]))
        assert is_served(clients[10])

        assert 0.5 < time.monotonic() - start < 10
        assert lines(server, "connection-rate-reached") == 1


def test_a_connection_without_a_byte_is_closed(tmp_path: Path) -> None:
    """Also when it waits for an answer; not one that is used."""
    with serving(tmp_path, connections_max_idle_ms=1500) as (_, connect):
        idle, waiting, used = connect(), connect(), connect()
        join = JoinGroupRequest("idle", 60_000, 60_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")])
        waiting.call(join, 5)
        start = time.monotonic()
        while time.monotonic() - start < 3:
            assert is_served(used)
            time.sleep(0.1)

        assert idle.is_closed()
        assert waiting.is_closed()
        assert is_served(used)


def test_half_a_request_without_progress_is_closed(tmp_path: Path) -> None:
    with serving(tmp_path, socket_request_stalled_after_ms=1000) as (server, connect):
        stalled, idle = connect(), connect()
        frame = stalled.frame(ApiVersionsRequest(), 0)
        stalled.send_bytes(frame[:-1])

        assert stalled.is_closed()
        assert is_served(idle)
        assert lines(server, "request-stalled") == 1


def test_half_requests_are_bounded_in_all(tmp_path: Path) -> None:
    """The connection that holds the most is closed first, and one that sends a whole request is answered."""
    with serving(tmp_path, queued_max_request_bytes=MIB, socket_request_max_bytes=MIB) as (server, connect):
        half = MIB.to_bytes(4) + bytes(MIB // 2 - 1000)
        first, second, third = connect(), connect(), connect()
        for client, data in ((first, half[:-2000]), (second, half), (first, bytes(1)), (third, half)):
            client.send_bytes(data)
            time.sleep(0.3)
        assert second.is_closed()

        assert lines(server, "request-shed") == 1
        assert is_served(connect())


def test_large_requests_that_wait_behind_a_parked_one_are_bounded_in_all(tmp_path: Path) -> None:
    with serving(
        tmp_path, queued_max_request_bytes=MIB, socket_request_max_bytes=MIB, group_initial_rebalance_delay_ms=20_000
    ) as (server, connect):
        clients = [connect() for _ in range(3)]
        for place, client in enumerate(clients):
            protocols = [JoinGroupRequestProtocol("range", b"")]
            client.send(JoinGroupRequest(f"parked-{place}", 60_000, 60_000, "", None, "consumer", protocols), 3)
            large = client.frame(MetadataRequest(topics=[]), 1)[4:] + bytes(MIB * (3, 4, 3)[place] // 8)
            client.send_bytes(len(large).to_bytes(4) + large)
            time.sleep(0.3)

        assert clients[1].is_closed()
        assert is_served(connect())
        assert lines(server, "request-shed") == 1


def test_the_system_looks_for_peers_that_are_gone(tmp_path: Path) -> None:
    """SO_KEEPALIVE is set on accepted sockets."""
    with serving(tmp_path) as (server, connect):
        client = connect()
        assert is_served(client)
        ends = [f":{port:04X}" for port in (server.port, client.port)]
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        [timer] = [row[5][:2] for row in rows if [row[1][-5:], row[2][-5:]] == ends]

        assert timer == "02"


def test_the_log_keeps_descriptors_that_clients_would_use(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.run_by = ["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"]
    with server, ExitStack() as stack:
        clients = [stack.enter_context(Client(server.address)) for _ in range(150)]
        assert [is_served(client) for client in clients] == [True] * 100 + [False] * 50

        assert lines(server, "connection-limit-reached") == 1
        assert "the limit of open files" in server.log()


def test_without_a_free_descriptor_nothing_is_accepted_and_nothing_spins(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, connect):
        assert is_served(connect())
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        used = len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used, hard))
        before = cpu_s(server.pid)
        late = connect()
        late.send(ApiVersionsRequest(), 0)
        time.sleep(1.5)
        assert cpu_s(server.pid) - before < 0.5
        assert lines(server, "connections-not-accepted") == 1
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (hard, hard))

        assert isinstance(late.receive(), ApiVersionsResponse)
