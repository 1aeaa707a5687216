"""What ``doctor`` says of a data directory, of the server that has it, and of its own answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.diagnosis import directory
from coordinator_server.cli.diagnosis.directory import INCIDENTS, check_directory, own_listeners
from coordinator_server.log.file_locks import LocalLock
from coordinator_server.log.file_names import LOCK
from coordinator_server.log.jobs import Holder
from coordinator_server.pipeline.errors import ServerRefused
from coordinator_server.server.wire.incidents import NAMES
from protocol.record_batch import Record
from tests.support.segments import START_MS, Batch, offset_key, offset_value, write_meta, write_segments

SHARD = "__consumer_offsets-7"
STATUS: dict[str, Any] = {
    "node_id": 1,
    "pid": 1,
    "log_failure": None,
    "is_loaded": True,
    "shards": {"active": 51},
    "groups": {"classic": 2},
    "connections": 3,
    "uptime_ms": 5000,
    "incidents": {},
    "certificates": [],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    write_meta(data)
    write_segments(data / SHARD, [Batch((Record(0, START_MS, offset_key("g", "t", 0), offset_value(5)),))])
    return data


def examined(data: Path, *, is_full: bool = False) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for each in check_directory(data, is_full=is_full, progress=lambda _done, _all: None):
        found.setdefault(each.check, []).append((each.severity, each.what))
    return found


def test_a_directory_in_order(data: Path) -> None:
    found = examined(data)

    assert [severity for severity, _ in found["directory"]] == ["ok"]
    assert found["server"] == [("note", f"no server runs on {data}")]
    assert found["damage"][0][0] == "ok"


def test_what_others_can_read_is_a_warning(data: Path) -> None:
    data.chmod(0o755)

    assert examined(data)["directory"] == [("warning", "others than its owner can open it (mode 755)")]


def test_damage_is_a_problem(data: Path) -> None:
    """A log that is large is read on demand only."""
    [segment, *_] = sorted((data / SHARD).glob("*.log"))
    read = bytearray(segment.read_bytes())
    read[-1] ^= 1
    segment.write_bytes(read)

    [(severity, what), *_] = examined(data)["damage"]

    assert severity == "problem"
    assert segment.name in what


def test_a_large_log_is_read_on_demand(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "QUICK_BYTES", 10)

    assert examined(data)["damage"][0][0] == "note"
    assert examined(data, is_full=True)["damage"][0][0] == "ok"


@pytest.mark.parametrize(
    ("status", "findings"),
    [
        ({}, [("server", "ok")]),
        ({"log_failure": "no space left"}, [("server", "problem")]),
        ({"is_loaded": False, "shards": {"loading": 7}}, [("server", "warning")]),
        ({"incidents": {"request-shed": 4, "connection-idle": 9}}, [("server", "ok"), ("clients", "warning")]),
        ({"certificates": [{"listener": "SSL", "days_left": -1}]}, [("server", "ok"), ("certificates", "problem")]),
        ({"certificates": [{"listener": "SSL", "days_left": 3}]}, [("server", "ok"), ("certificates", "warning")]),
        ({"certificates": [{"listener": "SSL", "days_left": 90}]}, [("server", "ok"), ("certificates", "ok")]),
    ],
)
def test_doctor_reports_health_and_status_of_a_running_server(
    data: Path, status: dict[str, Any], findings: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "holder_of", lambda _path: Holder(1))
    answers = {"health": {"health": [{"loop": 0, "stage": "serving"}]}, "status": {"status": [{**STATUS, **status}]}}
    monkeypatch.setattr(directory, "ask_server", lambda _dir, request: answers[request["op"]])
    monkeypatch.setattr(directory, "check_process", lambda _pid: iter(()))
    found = examined(data)

    assert [
        (check, severity) for check in ("server", "clients", "certificates") for severity, _ in found.get(check, ())
    ] == findings


def test_a_loop_that_does_not_serve_is_a_problem(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked anything else: it would not answer."""
    answer = {"health": [{"loop": 0, "stage": "serving"}, {"loop": 1, "stage": "starting"}]}
    monkeypatch.setattr(directory, "holder_of", lambda _path: Holder(1))
    monkeypatch.setattr(directory, "ask_server", lambda _dir, request: {"health": answer}[request["op"]])

    assert examined(data)["server"] == [("problem", "loop 1 does not serve: starting")]


def test_a_loop_whose_log_refuses_is_a_problem(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a full disk: the loop serves, and each commit fails."""
    loops = [{"loop": 0, "stage": "serving", "refuses": None}, {"loop": 1, "stage": "serving", "refuses": "no room"}]
    answers = {"health": {"health": loops}, "status": {"status": [STATUS]}}
    monkeypatch.setattr(directory, "holder_of", lambda _path: Holder(1))
    monkeypatch.setattr(directory, "ask_server", lambda _dir, request: answers[request["op"]])
    monkeypatch.setattr(directory, "check_process", lambda _pid: iter(()))

    assert ("problem", "loop 1 refuses changes: no room") in examined(data)["server"]


def test_a_loop_that_was_restarted_is_a_warning(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It serves again, and why it died is worth a look."""
    loops = [{"loop": 0, "stage": "serving", "starts": 1}, {"loop": 1, "stage": "serving", "starts": 3}]
    answers = {"health": {"health": loops}, "status": {"status": [STATUS, {**STATUS, "node_id": 2}]}}
    monkeypatch.setattr(directory, "holder_of", lambda _path: Holder(1))
    monkeypatch.setattr(directory, "ask_server", lambda _dir, request: answers[request["op"]])
    monkeypatch.setattr(directory, "check_process", lambda _pid: iter(()))

    warnings = [what for severity, what in examined(data)["server"] if severity == "warning"]

    assert warnings == ["loop 1 has been restarted 2 times since the server's start"]


def test_where_the_server_of_a_directory_listens(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By protocol, as this machine reaches it; loops that are away come last."""

    def loop(stage: str, *listeners: tuple[str, str, int]) -> dict[str, Any]:
        return {
            "stage": stage,
            "listeners": [{"protocol": protocol, "host": host, "port": port} for protocol, host, port in listeners],
        }

    answer = {
        "loops": [
            loop("gone", ("PLAINTEXT", "0.0.0.0", 1), ("SASL_SSL", "::", 2)),
            loop("serving", ("PLAINTEXT", "0.0.0.0", 3), ("SASL_SSL", "::", 4)),
        ]
    }
    assert own_listeners(data) == own_listeners(data / "nothing") == {}
    monkeypatch.setattr(directory, "ask_server", lambda _dir, _request: answer)

    assert own_listeners(data) == {"PLAINTEXT": "127.0.0.1:3,127.0.0.1:1", "SASL_SSL": "[::1]:4,[::1]:2"}


def test_the_server_of_another_directory_is_not_asked(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --bootstrap: no server runs on this one, which is a note, and what runs at the usual port is not its business."""
    code, out = main(["doctor", "--data-dir", str(data)]), capsys.readouterr().out

    assert (code, "servers:" in out) == (0, False)


def test_a_server_without_a_listener_for_the_command(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is looked at without being asked, and the note says what is missing."""
    answer = {"loops": [{"stage": "serving", "listeners": [{"protocol": "SASL_SSL", "host": "127.0.0.1", "port": 1}]}]}
    monkeypatch.setattr(directory, "ask_server", lambda _dir, _request: answer)

    code, out = main(["doctor", "--data-dir", str(data)]), capsys.readouterr().out

    assert code == 0
    assert (
        "note: servers: it was not asked as a client: the server has no listener with the protocol PLAINTEXT, but SASL_SSL" in out
    )


def test_a_server_that_does_not_answer(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = LocalLock(f"{data}/{LOCK}")

    assert examined(data)["server"][0][0] == "warning"

    def refuse(_dir: Path, _request: object) -> None:
        raise ServerRefused("no permission")

    monkeypatch.setattr(directory, "ask_server", refuse)
    assert examined(data)["server"] == [("problem", "no permission")]
    lock.close()
    job = LocalLock(f"{data}/{LOCK}", "compact")
    assert examined(data)["server"][0][0] == "note"
    job.close()


def test_every_incident_that_is_told_of_is_one_of_the_server(data: Path) -> None:
    """Advice for a name that nobody counts would never be read."""
    sources = "".join(path.read_text() for path in (Path(directory.__file__).parents[2] / "server").rglob("*.py"))

    assert [name for name in INCIDENTS if f'"{name}"' not in sources] == []


def test_the_worst_comes_first_and_makes_the_exit_code(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = main(["doctor", "--offline", "--data-dir", str(data)])
    shown = capsys.readouterr().out.splitlines()
    wrong = main(["doctor", "--offline", "--data-dir", str(data / "nothing"), "-o", "json"])
    rows = json.loads(capsys.readouterr().out)
    everything = main(["doctor", "--offline", "--all", "--data-dir", str(data)])

    assert (good, wrong, everything) == (0, 1, 0)
    assert shown[-1].startswith("0 problems, ")
    assert [each["severity"] for each in rows] == ["problem"]
    assert "ok: damage: none" in capsys.readouterr().out


def test_what_to_do_is_said_of_cases_that_a_server_counts() -> None:
    """By their names."""
    assert INCIDENTS.keys() <= set(NAMES)
