"""An asyncio transport in memory: what the server wrote, whether it reads, whether it hung up."""

from __future__ import annotations

import asyncio


class MemoryTransport(asyncio.Transport):
    """Delivers nothing; remembers."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 50000), "sockname": ("127.0.0.1", 9092)})
        self.writes: list[bytes] = []
        self.is_reading_paused = False
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True
