"""Listening sockets: what is said of an address that cannot be had."""

from __future__ import annotations

import re
import socket

import pytest

from coordinator_server.server.errors import StartError
from coordinator_server.server.ports import bind_ports


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
