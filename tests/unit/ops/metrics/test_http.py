"""The HTTP server of metrics: names that requests may give it, and peers that keep others from an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

from coordinator_server.ops.hosts import Hosts
from coordinator_server.ops.metrics import http
from coordinator_server.ops.metrics.http import MetricsServer
from coordinator_server.ops.metrics.readiness import Verdict


class Asked:
    """A server that lives, and has no metric."""

    def scrape(self) -> Callable[[float], Iterable[Metric]]:
        return lambda _: ()

    def liveness(self) -> Verdict:
        return Verdict(is_good=True)

    def readiness(self) -> Verdict:
        return Verdict(is_good=True, loops=[{"loop": 0, "pid": 4711, "stage": "serving"}])


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    bound = socket.create_server(("127.0.0.1", 0), backlog=200)
    server = MetricsServer(bound, Asked(), ["metrics.example"])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield bound.getsockname()
    server.shutdown()
    thread.join()
    server.server_close()


def ask(address: tuple[str, int], path: str = "/livez", headers: str = "") -> str:
    with socket.create_connection(address, timeout=20) as client:
        client.sendall(f"GET {path} HTTP/1.0\r\n{headers}\r\n".encode())
        return client.makefile("rb").read().decode()


@pytest.mark.parametrize(
    ("address", "allowed", "answered", "refused"),
    [
        ("127.0.0.1", [], ["localhost", "127.0.0.1:9404", "[::1]:9404", "LOCALHOST:1", None], ["evil.example", "10.0.0.1", ""]),
        ("::1", [], ["localhost:9404", "[::1]"], ["evil.example:9404", "[fe80::1]"]),
        ("127.0.0.1", ["metrics.example"], ["Metrics.Example:9404", "localhost"], ["example", "xmetrics.example"]),
        ("0.0.0.0", [], ["anything", "10.0.0.1:9404"], []),
        ("0.0.0.0", ["metrics.example"], ["metrics.example"], ["localhost", "10.0.0.1:9404"]),
    ],
)
def test_host_headers_that_are_answered(address: str, allowed: list[str], answered: list[str | None], refused: list[str]) -> None:
    """On loopback those of this machine; elsewhere all, or those that are named."""
    hosts = Hosts(address, allowed)

    assert [hosts.allow(each) for each in answered] == [True] * len(answered)
    assert [hosts.allow(each) for each in refused] == [False] * len(refused)


def test_a_request_to_a_foreign_name_is_refused(address: tuple[str, int]) -> None:
    assert ask(address, headers="Host: evil.example\r\n").startswith("HTTP/1.0 403 ")
    assert ask(address, headers="Host: metrics.example\r\n").startswith("HTTP/1.0 200 ")


def test_metrics_show_no_pid(address: tuple[str, int]) -> None:
    answer = ask(address, "/readyz")

    assert '"stage":"serving"' in answer
    assert "pid" not in answer


def test_peers_that_send_little_make_room(address: tuple[str, int]) -> None:
    """As many as there may be connections: the oldest of them is closed for one that asks."""
    slow = [socket.create_connection(address) for _ in range(http.MAX_CONNECTIONS)]
    for each in slow:
        each.sendall(b"G")

    assert [ask(address).startswith("HTTP/1.0 200 ") for _ in range(3)] == [True] * 3
    slow[0].settimeout(20)
    assert slow[0].recv(1) == b""
    for each in slow:
        each.close()


def test_a_request_has_a_deadline_as_a_whole(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then does not extend it."""
    monkeypatch.setattr(http, "DEADLINE_S", 0.3)
    with socket.create_connection(address) as client:
        client.settimeout(0.1)
        received = None
        for _ in range(100):
            try:
                client.sendall(b"G")
                received = client.recv(1)
                break
            except TimeoutError:
                continue
            except ConnectionError:
                received = b""
                break

    assert received == b""


def test_peers_that_do_not_read_their_answers_make_room(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there may be connections: the one that has been answered for longest is closed."""
    begun = threading.Semaphore(0)

    def scrape(_server: MetricsServer, _accept: str) -> tuple[str, bytes]:
        begun.release()
        return "text/plain", bytes(1 << 24)

    monkeypatch.setattr(http, "MAX_CONNECTIONS", 8)
    monkeypatch.setattr(MetricsServer, "scrape", scrape)
    unread = [socket.create_connection(address) for _ in range(http.MAX_CONNECTIONS)]
    for each in unread:
        each.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
    assert all(begun.acquire(timeout=20) for _ in unread)

    assert [ask(address).startswith("HTTP/1.0 200 ") for _ in range(3)] == [True] * 3
    for each in unread:
        each.close()


def test_scrapes_that_wait_for_each_other_share_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first began before the others asked, so they get one that begins later."""
    has_begun, may_end, have_asked = threading.Event(), threading.Event(), threading.Semaphore(0)
    found = 0

    class Slow(Asked):
        def scrape(self) -> Callable[[float], Iterable[Metric]]:
            nonlocal found
            found += 1
            has_begun.set()
            assert may_end.wait(20)
            number = found
            return lambda _: [GaugeMetricFamily("number", "of the scrape", value=number)]

    def noted(accept: str) -> Any:
        have_asked.release()
        return choose_encoder(accept)

    monkeypatch.setattr(http, "choose_encoder", noted)
    server = MetricsServer(socket.create_server(("127.0.0.1", 0)), Slow())
    with ThreadPoolExecutor(10) as clients:
        scrapes = [clients.submit(server.scrape, "")]
        assert has_begun.wait(20)
        scrapes += [clients.submit(server.scrape, "") for _ in range(9)]
        assert all(have_asked.acquire(timeout=20) for _ in scrapes)
        may_end.set()
        bodies = {each.result() for each in scrapes}
    server.server_close()

    assert (found, len(bodies)) == (2, 2)
