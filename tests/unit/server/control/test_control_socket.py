"""control.sock: one JSON object a line, each way."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Unavailable
from coordinator_server.log.jobs import CONTROL_SOCKET
from coordinator_server.server.control.control_socket import MAX_LINE_BYTES, ControlSocket, run_operation


async def ask(data_dir: Path, *lines: bytes) -> list[Any]:
    reader, writer = await asyncio.open_unix_connection(str(data_dir / CONTROL_SOCKET))
    writer.writelines(line + b"\n" for line in lines)
    writer.write_eof()
    answers = (await reader.read()).splitlines()
    writer.close()
    return [json.loads(answer) for answer in answers]


async def seal(request: Mapping[str, Any]) -> Mapping[str, Any]:
    if request.get("fail"):
        raise OSError("the disk is full")
    return {"shards": {"__consumer_offsets-7": 12}}


async def test_an_operation_is_answered_on_its_line(tmp_path: Path) -> None:
    control = ControlSocket(tmp_path, {"seal": seal})
    await control.start()
    answers = await ask(tmp_path, b'{"op": "seal"}', b'{"op": "seal", "fail": true}', b'{"op": "sing"}', b"no json", b"[]")
    await control.stop()

    assert answers[0] == {"ok": True, "shards": {"__consumer_offsets-7": 12}}
    assert answers[1] == {"ok": False, "error": "the disk is full"}
    assert answers[2] == {"ok": False, "error": "unknown op; there are: seal"}
    assert [answer["ok"] for answer in answers[3:]] == [False, False]


async def test_a_log_that_cannot_write_refuses_without_a_traceback() -> None:
    """A full disk is no bug of the operation."""

    async def full(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Unavailable("no space left")

    with capture_logs() as lines:
        answer = await run_operation({"seal": full}, {"op": "seal"})

    assert (answer, lines) == ({"ok": False, "error": "no space left"}, [])


async def test_only_the_servers_user_may_speak_to_it(tmp_path: Path) -> None:
    control = ControlSocket(tmp_path, {"seal": seal})
    await control.start()
    mode = (tmp_path / CONTROL_SOCKET).stat().st_mode
    await control.stop()

    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600
    assert not (tmp_path / CONTROL_SOCKET).exists()


async def test_a_data_directory_too_deep_for_a_sockets_path_is_served_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    deep.mkdir(parents=True)
    control = ControlSocket(deep, {"seal": seal})
    await control.start()
    descriptor = os.open(deep, os.O_RDONLY)
    answers = await ask(Path(f"/proc/self/fd/{descriptor}"), b'{"op": "seal"}')
    os.close(descriptor)
    await control.stop()

    assert answers[0]["ok"]


async def test_a_line_without_end_is_cut_off(tmp_path: Path) -> None:
    control = ControlSocket(tmp_path, {"seal": seal})
    await control.start()
    answers: list[Any] = []
    # With most of it unread, hanging up is a reset.
    with contextlib.suppress(ConnectionError):
        answers = await ask(tmp_path, b"x" * (MAX_LINE_BYTES * 3))
    await control.stop()

    assert answers == []


async def test_a_dead_servers_socket_is_taken_over(tmp_path: Path) -> None:
    first = ControlSocket(tmp_path, {"seal": seal})
    await first.start()
    second = ControlSocket(tmp_path, {"seal": seal})
    await second.start()
    answers = await ask(tmp_path, b'{"op": "seal"}')
    await second.stop()
    await first.stop()

    assert answers[0]["ok"]


@pytest.mark.parametrize("key", ["changed", "checked"])
async def test_the_audit_line_of_an_operation_names_what_it_changed(tmp_path: Path, key: str) -> None:
    """Or would have changed, if it only checked."""

    async def restore(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: ["group:readers"]}

    control = ControlSocket(tmp_path, {"restore": restore})
    await control.start()
    with capture_logs() as lines:
        await ask(tmp_path, b'{"op": "restore", "group_id": "readers", "password": "secret"}')
    await control.stop()

    [line] = [each for each in lines if each["event"] == "administrative-operation"]
    assert (line["operation"], line["group_id"], line["resources"]) == ("restore", "readers", ["group:readers"])
    assert line.get("validate_only", False) is (key == "checked")
    assert "secret" not in str(line)
