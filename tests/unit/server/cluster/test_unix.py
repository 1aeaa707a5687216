"""The sockets of the data directory: who may connect, whatever the permissions of their files are."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from coordinator_server.log.jobs import CONTROL_SOCKET
from coordinator_server.server.cluster import unix
from coordinator_server.server.cluster.unix import Peer, UnixSockets, peer_of
from coordinator_server.server.control.control_socket import ControlSocket

STRANGER = 4242


class Talk(asyncio.Protocol):
    """Says who the peer is, as soon as it is admitted."""

    def __init__(self) -> None:
        self.peer: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.peer.set_result(peer_of(transport))


async def test_the_kernel_says_who_a_peer_is(tmp_path: Path) -> None:
    sockets = UnixSockets()
    protocols = [Talk(), Talk()]
    listening = await sockets.listen(tmp_path / "loop-0.sock", lambda: protocols[0])
    await sockets.connect(tmp_path / "loop-0.sock", lambda: protocols[1])
    peers = [await each.peer for each in protocols]
    listening.close()

    assert peers == [Peer(os.getpid(), os.geteuid())] * 2


@pytest.mark.parametrize(("uid", "is_trusted"), [(os.geteuid(), True), (0, True), (STRANGER, False)])
def test_the_servers_user_and_root_are_trusted(uid: int, is_trusted: bool) -> None:
    assert Peer(1, uid).is_trusted is is_trusted


async def test_a_stranger_gets_no_answer_and_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On control.sock, and on the sockets of the loops, at both ends."""
    made = []
    sockets = UnixSockets()
    control = ControlSocket(tmp_path, {})
    await control.start()
    listening = await sockets.listen(tmp_path / "loop-0.sock", lambda: made.append(0) or Talk())  # type: ignore[func-returns-value]
    monkeypatch.setattr(unix, "peer_of", lambda _transport: Peer(1, STRANGER))

    reader, writer = await asyncio.open_unix_connection(str(tmp_path / CONTROL_SOCKET))
    writer.write(b'{"op": "status"}\n')
    assert await _rest(reader) == b""
    writer.close()
    reader, writer = await asyncio.open_unix_connection(str(tmp_path / "loop-0.sock"))
    assert await _rest(reader) == b""
    writer.close()
    with pytest.raises(PermissionError, match="not a socket of this server"):
        await sockets.connect(tmp_path / "loop-0.sock", Talk)
    listening.close()
    await control.stop()

    assert made == []


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""
