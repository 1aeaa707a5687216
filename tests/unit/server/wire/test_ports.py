"""Listening sockets: what is said of an address that cannot be had."""

from __future__ import annotations

import re
import socket

import pytest

from coordinator_server.config.listeners import ListenerSpec, SecurityProtocol
from coordinator_server.server.errors import StartError
from coordinator_server.server.wire import ports
from coordinator_server.server.wire.ports import bind_listeners, bind_port, bind_ports, close_sockets


def test_a_port_that_is_taken_has_a_hint() -> None:
    """With several loops the message names the loop, and all ports."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError) as alone:
            bind_ports("127.0.0.1", port, 1)
        with pytest.raises(StartError) as among:
            bind_ports("127.0.0.1", port, 2)

    assert re.fullmatch(
        rf"cannot listen on 127\.0\.0\.1:{port}: .*: is another server there\? \(--listen takes another address of this machine\)",
        str(alone.value),
    )
    assert f"(loop 0 of 2 needs it; free the ports {port} to {port + 1}, or begin elsewhere with --listen)" in str(among.value)


def test_a_host_that_is_none_of_ours_has_no_hint_of_another_server() -> None:
    for host in ("nohost.invalid", "203.0.113.1"):
        with pytest.raises(StartError) as refused:
            bind_ports(host, 9092, 1)

        assert f"cannot listen on {host}:9092: " in str(refused.value)
        assert "another server" not in str(refused.value)


def listener(port: int, name: str = "PLAINTEXT") -> ListenerSpec:
    return ListenerSpec(name, "127.0.0.1", port, SecurityProtocol.PLAINTEXT)


def test_sockets_of_a_service_manager_are_taken_as_they_are() -> None:
    """By their ports, whatever their order; another listener binds its own."""
    one, other = (bind_ports("127.0.0.1", 0, 1)[0][0] for _ in range(2))
    for each in (one, other):
        each.listen()
    numbers = [each.getsockname()[1] for each in (other, one)]

    bound = bind_listeners([listener(numbers[0]), listener(0, "SSL"), listener(numbers[1], "INNER")], 1, [one, other])

    assert bound[0] == [[other]]
    assert bound[2] == [[one]]
    [[own]] = bound[1]
    assert own.getsockname()[1] not in (0, *numbers)
    for sockets in bound:
        close_sockets(sockets)


def test_each_loop_needs_its_own_socket() -> None:
    """A part of the ports is a mistake, and so is a port of no listener."""
    [passed] = bind_ports("127.0.0.1", 0, 1)[0]
    with passed:
        port = passed.getsockname()[1]
        with pytest.raises(StartError, match=f"passes no socket of port {port + 1}: each loop needs its own"):
            bind_listeners([listener(port)], 2, [passed])
        with pytest.raises(StartError, match=f"passes a socket of port {port}, which no listener has"):
            bind_listeners([listener(0)], 1, [passed])


def test_a_listener_that_cannot_be_bound_leaves_no_other_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[socket.socket] = []

    def bind(host: str, port: int, loops: int) -> list[list[socket.socket]]:
        sockets = bind_ports(host, port, loops)
        bound.extend(each for of_loop in sockets for each in of_loop)
        return sockets

    monkeypatch.setattr(ports, "bind_ports", bind)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(StartError):
        bind_listeners([listener(0), listener(taken.getsockname()[1], "SSL")], 1)

    assert [each.fileno() for each in bound] == [-1]


def test_an_address_that_cannot_be_bound_raises() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        bind_port("127.0.0.1", taken.getsockname()[1])
