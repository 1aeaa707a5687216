"""The names under which an HTTP server answers, so that no page in a browser of this machine reads it under a name of its own.

(DNS rebinding: a name of the page's author that resolves to this machine.)
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection


class Hosts:
    """The names under which a server answers."""

    def __init__(self, address: str, allowed: Collection[str]) -> None:
        self._is_local = ipaddress.ip_address(address).is_loopback
        self._allowed = frozenset(each.lower() for each in allowed)

    def allow(self, header: str | None) -> bool:
        """Return whether a request with this Host is answered. One without it comes from no browser."""
        if header is None or not (self._is_local or self._allowed):
            return True
        host = header.rpartition("]")[0].lstrip("[") if header.startswith("[") else header.partition(":")[0]
        return host.lower() in self._allowed or (self._is_local and _is_local_name(host.lower()))


def _is_local_name(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
