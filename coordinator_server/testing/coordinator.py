"""``Coordinator``: a server for tests, as the test sees it. It works under pytest, under unittest, and without either.

    with Coordinator(topics={"orders": 6}) as coordinator:
        consumer = Consumer({"bootstrap.servers": coordinator.bootstrap_servers, "group.id": "readers"})
        coordinator.advance(45)

The server is a process of its own: a test that freezes its clock, blocks its event loop or patches modules does not reach it. Here
nothing but the standard library is imported. All methods return when what they say has happened, within milliseconds, and may be
called from any thread and from coroutines.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Self

from coordinator_server.testing.errors import FixtureError, ServerEnded
from coordinator_server.testing.forks import template
from coordinator_server.testing.ports import ADDRESS, reserve_port

ANSWER_WITHIN_S: Final = 60.0
LOG_LINES: Final = 30


class TopicPartition(NamedTuple):
    """A partition of a topic. It equals the tuple ``(topic, partition)``."""

    topic: str
    partition: int


class Member(NamedTuple):
    """A member of a group. ``assignment`` has the partitions of a consumer by topic."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    assignment: dict[str, list[int]]


class Group(NamedTuple):
    """A group. ``state`` is Kafka's name: Empty, PreparingRebalance, CompletingRebalance, Stable.

    Of a group of the consumer protocol it is Empty, Assigning, Reconciling or Stable; ``generation_id`` is the group's epoch, and
    ``protocol_name`` its assignor.
    """

    group_id: str
    state: str
    generation_id: int
    protocol_type: str
    protocol_name: str
    members: list[Member]


class Coordinator:
    """A server on a free port of the loopback address, until ``close``.

    ``properties`` are Kafka's, in addition to the defaults for tests (``settings.py``); ``topics`` has partition counts by name.
    The log is in memory. With ``durable`` it is in files that survive ``kill``.
    """

    def __init__(
        self,
        properties: Mapping[str, object] | None = None,
        topics: Mapping[str, int] | None = None,
        *,
        durable: bool = False,
    ) -> None:
        self._properties = _as_text(properties or {}, topics or {})
        self._lock = threading.RLock()
        self._is_closed = False
        self._ahead_ms = 0
        self._log: IO[bytes] = tempfile.TemporaryFile(prefix="coordinator-server-")  # noqa: SIM115 - closed by ``close``
        self._last_log = ""
        self._data_dir = Path(tempfile.mkdtemp(prefix="coordinator-server-")) if durable else None
        self._reserved = reserve_port(ADDRESS)
        self._template = template()
        self._channel: socket.socket | None = None
        self._answers: IO[bytes] | None = None
        self.host = ADDRESS
        self.port: int = self._reserved.getsockname()[1]
        self.pid = 0
        self.cluster_id = ""
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "running" if self._channel is not None else "killed"
        return f"<Coordinator {self.bootstrap_servers} {state}>"

    @property
    def bootstrap_servers(self) -> str:
        """The address for clients. It stays the same."""
        return f"{self.host}:{self.port}"

    def close(self) -> None:
        """End the server, whatever its clients do. Return when it is gone."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            if self._channel is not None:
                self._end_channel({"op": "end"})
                # If the template is gone, no process can wait for the server, which ends all the same.
                with contextlib.suppress(FixtureError):
                    self._template.end(self.pid)
            self._last_log = self._read_log()
            self._log.close()
            self._reserved.close()
            if self._data_dir is not None:
                shutil.rmtree(self._data_dir, ignore_errors=True)

    # What it knows.

    def groups(self) -> list[Group]:
        """Return all groups, by id."""
        return [_group(each) for each in self._ask("groups")["groups"]]

    def group(self, group_id: str) -> Group:
        """Return a group. Raises FixtureError if it does not exist."""
        groups = {each.group_id: each for each in self.groups()}
        if group_id not in groups:
            raise FixtureError(f"there is no group {group_id!r}; there are: {', '.join(groups) or 'none'}")
        return groups[group_id]

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """Return the committed offsets of a group; none if it does not exist."""
        offsets = self._ask("committed", group=group)["offsets"]
        return {TopicPartition(each["topic"], each["partition"]): each["offset"] for each in offsets}

    def log(self) -> str:
        """Return what the server has logged so far, also after ``close``."""
        with self._lock:
            return self._last_log if self._is_closed else self._read_log()

    def create_topic(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        self._ask("create-topic", topic=topic, partitions=partitions)

    # Time.

    def advance(self, seconds: float) -> None:
        """Let time pass in the server, at once. Everything has happened then that is due by then.

        It is as if no client had sent anything meanwhile: sessions that are shorter expire, offsets that are old enough are
        removed. While the server is killed, its clock goes on.
        """
        with self._lock:
            self._check_open()
            ahead_ms = self._ahead_ms + round(_checked(seconds) * 1000)
            if self._channel is not None:
                self._ask("advance", seconds=seconds)
            self._ahead_ms = ahead_ms

    # Faults.

    def fail_next(self, api: str, error: str | int, *, times: int = 1, client_id: str | None = None) -> None:
        """Answer the next ``times`` requests for an API with an error of Kafka, by name or number.

        The request has no effect. With ``client_id`` only requests of that client count.
        """
        self._ask("fail-next", api=api, error=error, times=times, client_id=client_id)

    def delay(self, api: str, seconds: float) -> None:
        """Handle each request for an API that much later, until ``delay(api, 0)``. ``advance`` shortens the wait."""
        self._ask("delay", api=api, seconds=_checked(seconds))

    def clear_faults(self) -> None:
        """Forget what ``fail_next``, ``delay`` and ``fence`` have asked for."""
        self._ask("clear-faults")

    def disconnect(self, client_id: str) -> int:
        """Close all connections of a client, without an answer. Return how many there were."""
        connections: int = self._ask("disconnect", client_id=client_id)["connections"]
        return connections

    def fence(self, member: str | Member) -> None:
        """Remove a member from its group: a ``Member``, a member id, or a group instance id.

        Its next request is refused with UNKNOWN_MEMBER_ID, or with FENCED_INSTANCE_ID if the member is static.
        """
        self._ask("fence", member=member if isinstance(member, str) else member.member_id)

    def rebalance(self, group: str) -> None:
        """Make all members of a group join again."""
        self._ask("rebalance", group=group)

    def restart(self) -> None:
        """Stop the server and start it again, or start it after ``kill``: same port, same log. Faults are forgotten."""
        with self._lock:
            self._check_open()
            if self._channel is not None:
                self._ask("restart")
            elif self._data_dir is not None:
                self._start()
            else:
                raise ServerEnded(f"the server has ended, and its log was in its memory{self._log_end()}")

    def kill(self) -> None:
        """Send SIGKILL to the server. What it has acknowledged is there after ``restart``."""
        with self._lock:
            self._check_open()
            if self._data_dir is None:
                raise FixtureError(
                    "kill() ends the process, and the log is in its memory: ask for a log in files with "
                    "@pytest.mark.coordinator(durable=True), or Coordinator(durable=True); restart() needs no files"
                )
            if self._channel is None:
                raise FixtureError("the server is killed already; restart() starts it")
            self._template.kill(self.pid)
            self._end_channel()

    # Internal.

    def _start(self) -> None:
        settings = {
            "properties": self._properties,
            "port": self.port,
            "data_dir": str(self._data_dir) if self._data_dir is not None else None,
            "ahead_ms": self._ahead_ms,
        }
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._channel.settimeout(ANSWER_WITHIN_S)
            self._answers = self._channel.makefile("rb")
            self.pid = self._template.start(settings, theirs.fileno(), self._log.fileno())
        self.cluster_id = self._receive()["cluster_id"]

    def _read_log(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def _ask(self, op: str, **fields: object) -> dict[str, Any]:
        with self._lock:
            self._check_open()
            if self._channel is None:
                raise FixtureError(f"{op}: the server is killed; restart() starts it")
            try:
                self._channel.sendall(json.dumps({"op": op, **fields}).encode() + b"\n")
            except OSError:
                self._ended()
            return self._receive()

    def _receive(self) -> dict[str, Any]:
        assert self._answers is not None
        try:
            line = self._answers.readline()
        except TimeoutError:
            raise FixtureError(f"the server has not answered within {ANSWER_WITHIN_S:g} s{self._log_end()}") from None
        except OSError:
            line = b""
        if not line:
            self._ended()
        answer: dict[str, Any] = json.loads(line)
        if not answer.get("ok", True):
            raise FixtureError(answer["error"])
        return answer

    def _ended(self) -> None:
        self._end_channel()
        code = os.waitstatus_to_exitcode(self._template.end(self.pid))
        raise ServerEnded(f"the server has ended with exit code {code}{self._log_end()}")

    def _end_channel(self, last: Mapping[str, object] | None = None) -> None:
        channel, answers = self._channel, self._answers
        self._channel = self._answers = None
        if channel is not None and answers is not None:
            # A process that this one has forked may have the descriptor, too: the end of the channel would not show.
            with contextlib.suppress(OSError):
                channel.sendall(json.dumps(last).encode() + b"\n" if last else b"")
            answers.close()
            channel.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise FixtureError("the server is closed")

    def _log_end(self) -> str:
        return "; its log ends\n" + "\n".join(self.log().splitlines()[-LOG_LINES:])


def _checked(seconds: float) -> float:
    # JSON has no words for what is not finite.
    if not math.isfinite(seconds) or seconds < 0:
        raise FixtureError(f"seconds={seconds:g}: time does not go back")
    return seconds


def _as_text(properties: Mapping[str, object], topics: Mapping[str, int]) -> dict[str, str]:
    text = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in properties.items()}
    if topics:
        declared = ",".join(f"{name}:{count}" for name, count in topics.items())
        text["topics"] = f"{text['topics']},{declared}" if text.get("topics") else declared
    return text


def _group(found: Mapping[str, Any]) -> Group:
    return Group(**{**found, "members": [Member(**member) for member in found["members"]]})
