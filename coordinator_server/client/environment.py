"""What the client takes from outside: time, randomness and the network. Simulations and tests replace them."""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from coordinator_server.client.settings import Address

Connect = Callable[
    [Callable[[], asyncio.BaseProtocol], Address, ssl.SSLContext | None], Coroutine[Any, Any, asyncio.BaseTransport]
]
_CLOCK: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", None)


def steady_time() -> float:
    """Return seconds since an arbitrary start. Where the system can, time counts in which the computer slept."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


async def connect_tcp(
    protocol: Callable[[], asyncio.BaseProtocol], address: Address, tls: ssl.SSLContext | None
) -> asyncio.BaseTransport:
    """Open a TCP connection, with TLS if there is a context."""
    transport, _ = await asyncio.get_running_loop().create_connection(protocol, address.host, address.port, ssl=tls)
    return transport


@dataclass(frozen=True)
class Environment:
    """Time, randomness and the network. Waits use the running loop's own time."""

    now_s: Callable[[], float] = steady_time
    """Seconds since an arbitrary start; never goes back."""
    wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    """Milliseconds since the Unix epoch."""
    random: Callable[[], float] = random.random
    """A number from 0 to 1, for back-offs and for the choice of a server."""
    connect: Connect = connect_tcp


SYSTEM = Environment()


class Backoff:
    """Waits between attempts: each is twice as long as the last one, up to a maximum, and varies by 20 %."""

    __slots__ = ("_attempts", "_first_s", "_free", "_most_s", "_random")

    def __init__(self, first_s: float, most_s: float, environment: Environment) -> None:
        self._first_s = first_s
        self._most_s = most_s
        self._random = environment.random
        self._attempts = 0
        self._free = 3

    def next_s(self, *, may_be_at_once: bool = False) -> float:
        """Return the next wait. The first few may be at once: a server that refuses for ever must not be asked all the time."""
        if may_be_at_once and self._free:
            self._free -= 1
            return 0
        wait: float = min(self._most_s, self._first_s * 2.0 ** min(self._attempts, 30))
        self._attempts += 1
        return wait * (0.8 + 0.4 * self._random())

    def reset(self) -> None:
        """Begin again with the shortest wait: something succeeded."""
        self._attempts = 0
