"""Ports of servers that are stopped and started again."""

from __future__ import annotations

import socket
from typing import Final

ADDRESS: Final = "127.0.0.1"
"""Servers that tests of this machine start listen here."""


def reserve_port(host: str, port: int = 0) -> socket.socket:
    """Return a socket that keeps a port for the servers of this user, until it is closed. Port 0 selects a free one.

    It does not listen, so connections are refused while no server runs. Without it, the system may give the port to an outgoing
    connection: of a different program, or of a client that then connects to itself.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reserved = socket.socket(family, socket.SOCK_STREAM)
    try:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind((host, port))
    except OSError:
        reserved.close()
        raise
    return reserved
