"""A data directory: through the server that runs, or under its lock."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.pipeline.errors import CannotRun, NotReady, ServerRefused
from coordinator_server.pipeline.input.data_dir import ask_server_if_any, check_data_dir, durable, is_served
from coordinator_server.pipeline.input.retries import Retries
from tests.support.control_answers import answering
from tests.support.inputs import segment_bases
from tests.support.segments import coordinator_log, write_meta, write_segments

SHARD = "__consumer_offsets-7"


@pytest.mark.parametrize(
    ("answer", "says"),
    [(b'{"ok":false,"error":"the disk is full"}\n', "the disk is full"), (b"", "did not answer"), (b"what?\n", "did not answer")],
)
def test_a_server_that_refuses(tmp_path: Path, answer: bytes, says: str) -> None:
    """Its reason, or that it gave none, in one line."""
    with answering(tmp_path, answer), pytest.raises(ServerRefused, match=says) as caught:
        durable(tmp_path)

    assert "\n" not in str(caught.value)


def test_a_reader_has_nothing_sealed(tmp_path: Path) -> None:
    """It hears how far it can read: of a server in one line, and without one under the lock."""
    with answering(tmp_path, b'{"ok":true,"shards":{"__consumer_offsets-7":1234}}\n') as asked:
        assert durable(tmp_path) == {SHARD: 1234}
    assert [json.loads(line) for line in asked] == [{"op": "write-out"}]
    (tmp_path / "control.sock").unlink()
    end = write_segments(tmp_path / SHARD, coordinator_log(1, 9), 3, sealed=False)
    write_meta(tmp_path)

    assert durable(tmp_path) == {SHARD: end}
    assert len(segment_bases(tmp_path / SHARD)) == 3


def test_a_dead_server_s_socket_is_nobody(tmp_path: Path) -> None:
    """kill -9 leaves the file behind."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "control.sock"))

    assert not is_served(tmp_path)


def test_a_server_that_is_only_starting(tmp_path: Path) -> None:
    """It holds the lock and does not listen yet: try again."""
    write_meta(tmp_path)
    store = LocalLogStore.open(tmp_path, post=lambda call: None, node_id=1)

    with pytest.raises(ServerRefused, match="starting or stopping"):
        durable(tmp_path)

    store.close()


DURABLE = b'{"ok":true,"shards":{"__consumer_offsets-7":1234}}\n'
LOADING = b'{"ok":false,"error":"7 shards are still being loaded","temporary":true}\n'


@pytest.mark.parametrize(("first", "says"), [(LOADING, "still being loaded"), (b"", "did not answer")])
def test_a_server_that_loads_or_stops_is_asked_again(tmp_path: Path, first: bytes, says: str) -> None:
    """The reason to wait is told once."""
    told: list[NotReady] = []
    with answering(tmp_path, first, first, DURABLE) as asked:
        assert durable(tmp_path, Retries(30, told.append)) == {SHARD: 1234}

    assert (len(asked), [says in str(each) for each in told]) == (3, [True])


def test_a_refusal_that_does_not_pass_is_final(tmp_path: Path) -> None:
    with (
        answering(tmp_path, b'{"ok":false,"error":"the disk is full"}\n'),
        pytest.raises(ServerRefused, match="the disk is full"),
    ):
        durable(tmp_path, Retries(30, lambda error: pytest.fail(str(error))))


@pytest.mark.parametrize("job", ["", "replay"])
def test_a_log_in_use_is_waited_for(tmp_path: Path, job: str) -> None:
    """By a server that starts or stops, and by a different job."""
    write_meta(tmp_path)
    store = LocalLogStore.open(tmp_path, post=lambda call: None, node_id=1, options=LogOptions(job=job))
    told: list[NotReady] = []

    def end(error: NotReady) -> None:
        told.append(error)
        store.close()

    assert durable(tmp_path, Retries(30, end)) == {}
    wanted = "is in use by process {}, a job (replay)" if job else "(process {}) is starting or stopping"
    assert wanted.format(os.getpid()) in str(told[0])


def test_waiting_for_a_locked_log_ends_with_its_error(tmp_path: Path) -> None:
    """With the error of the last attempt."""
    write_meta(tmp_path)
    store = LocalLogStore.open(tmp_path, post=lambda call: None, node_id=1)

    with pytest.raises(NotReady, match="starting or stopping"):
        durable(tmp_path, Retries(0.1, lambda _error: None))

    store.close()


@pytest.mark.parametrize("job", ["", "replay"])
def test_the_answer_of_a_server_that_starts(tmp_path: Path, job: str) -> None:
    """It is waited for. A job that has the log has no answer."""
    write_meta(tmp_path)
    store = LocalLogStore.open(tmp_path, post=lambda call: None, node_id=1, options=LogOptions(job=job))
    told: list[NotReady] = []

    def end(error: NotReady) -> None:
        told.append(error)
        store.close()

    assert ask_server_if_any(tmp_path, {"op": "digest"}, Retries(30, end)) is None

    assert len(told) == (0 if job else 1)
    store.close()


def test_a_deep_directory(tmp_path: Path) -> None:
    """The path of a Unix socket has 107 bytes; data directories may be deeper."""
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)

    assert not is_served(deep)


def test_a_wrong_directory_stays_as_it_is(tmp_path: Path) -> None:
    """Nothing is made there."""
    with pytest.raises(CannotRun, match=r"meta\.properties"):
        check_data_dir(tmp_path)

    assert list(tmp_path.iterdir()) == []
