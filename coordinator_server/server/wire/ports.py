"""Listening sockets: of one loop, or of several on consecutive ports, bound before any loop starts."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import chain

from coordinator_server.config.config import LAST_PORT
from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.server.errors import StartError


def bind_listeners(
    listeners: Sequence[ListenerSpec], loops: int, inherited: Sequence[socket.socket] = ()
) -> list[list[list[socket.socket]]]:
    """Bind the ports of all listeners: by listener, by loop. Raises StartError; no socket is bound then.

    ``inherited`` are sockets of a service manager. A listener whose ports they have takes them as they are.
    """
    by_port: dict[int, list[socket.socket]] = {}
    for passed in inherited:
        by_port.setdefault(passed.getsockname()[1], []).append(passed)
    with ExitStack() as undo:
        bound = []
        for each in listeners:
            sockets = _inherited_ports(each, loops, by_port) or bind_ports(each.host, each.port, loops)
            undo.callback(close_sockets, sockets)
            bound.append(sockets)
        if by_port:
            known = ", ".join(map(str, listeners))
            raise StartError(f"the service manager passes a socket of port {min(by_port)}, which no listener has ({known})")
        undo.pop_all()
    return bound


def _inherited_ports(
    listener: ListenerSpec, loops: int, by_port: dict[int, list[socket.socket]]
) -> list[list[socket.socket]] | None:
    """Take the sockets of a listener's ports out of ``by_port``; None if it has none of them. Raises StartError if it lacks one."""
    ports = range(listener.port, listener.port + loops) if listener.port else range(0)
    missing = [port for port in ports if port not in by_port]
    if len(missing) == len(ports):
        return None
    if missing:
        raise StartError(f"{listener}: the service manager passes no socket of port {missing[0]}: each loop needs its own")
    return [by_port.pop(port) for port in ports]


def close_sockets(sockets: Iterable[Iterable[socket.socket]]) -> None:
    """Close the sockets of a listener, or of a loop."""
    for each in chain.from_iterable(sockets):
        each.close()


def bind_ports(host: str, port: int, loops: int) -> list[list[socket.socket]]:
    """Bind ``port`` for loop 0, the next port for loop 1, and so on, on each address of ``host``.

    Port 0 selects a free port for each loop. The sockets do not listen yet. Raises StartError; no socket is bound then.
    """
    last = port + loops - 1
    if last > LAST_PORT:
        raise StartError(f"{loops} loops on ports {port} to {last}: {LAST_PORT} is the last one; --listen takes another")
    bound: list[list[socket.socket]] = []
    try:
        for loop in range(loops):
            bound.append([])
            _bind(host, port + loop if port else 0, bound[loop])
    except OSError as refused:
        close_sockets(bound)
        need = f"loop {len(bound) - 1} of {loops} needs it; " if loops > 1 else ""
        raise StartError(
            f"{listen_problem(host, port and port + len(bound) - 1, refused)} ({need}{_remedy(port, last)})"
        ) from None
    return bound


def listen_problem(host: str, port: int, refused: OSError) -> str:
    """Return why nothing can listen there."""
    at = f"{host}:{port}" if port else host
    hint = ": is another server there?" if refused.errno == errno.EADDRINUSE else ""
    return f"cannot listen on {at}: {refused.strerror or refused}{hint}"


def bind_port(host: str, port: int) -> list[socket.socket]:
    """Bind a port on each address of ``host``; port 0 selects a free one. The sockets do not listen yet. Raises OSError."""
    bound: list[socket.socket] = []
    try:
        _bind(host, port, bound)
    except OSError:
        for each in bound:
            each.close()
        raise
    return bound


def _remedy(port: int, last: int) -> str:
    if not port or port == last:
        return "--listen takes another address of this machine"
    return f"free the ports {port} to {last}, or begin elsewhere with --listen"


def _bind(host: str, port: int, bound: list[socket.socket]) -> None:
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in dict.fromkeys(found):
        each = socket.socket(family, kind, protocol)
        bound.append(each)
        each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        # All addresses of a host use the port that the first one got.
        each.bind((address[0], bound[0].getsockname()[1] if port == 0 and len(bound) > 1 else port, *address[2:]))
