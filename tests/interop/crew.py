"""The members of one group, and an admin, as processes, seen from the test."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, Self

from tests.interop.clients import MemberOptions
from tests.interop.programs import command_of
from tests.support.eventually import eventually
from tests.support.server import ROOT

ENDED: dict[str, Any] = {"error": "the process has ended"}


class ClientProcess:
    """A program in a process of its own that speaks the lines of ``member.py``."""

    def __init__(self, command: Sequence[str]) -> None:
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._keep_errors)]
        self._errors: list[str] = []
        for thread in self._threads:
            thread.start()

    def call(self, name: str, argument: object, within_s: float = 60) -> Any:
        """The result; raises Refused, also when the process has ended."""
        answer = self._ask(name, argument, within_s)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def call_until_done(self, name: str, argument: object, within_s: float = 60) -> Any:
        """The result; an error is tried again, as an application would."""
        last: dict[str, Any] = {}

        def answered() -> bool:
            nonlocal last
            last = self._ask(name, argument, within_s)
            return "result" in last

        eventually(answered, within_s, lambda: last)
        return last["result"]

    def end(self) -> None:
        """End of stdin: a member leaves its group, unless it is a static one; wait until it is gone."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0, self.errors()

    def die(self) -> None:
        """SIGKILL: the sockets close, nobody leaves the group."""
        self._process.kill()
        self._process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Nothing happens to a process that has ended."""
        self._process.send_signal(number)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def errors(self) -> str:
        return "".join(self._errors)[-2000:]

    def clean_up(self) -> None:
        self.die()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                # What it has not read is still to be written.
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def on_owned(self, owned: list[int]) -> None:
        """A member says what it owns."""

    def _ask(self, name: str, argument: object, within_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            # One that has ended has an answer to everything.
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps({"call": name, "argument": argument}) + "\n")
                self._process.stdin.flush()
            answer = self._answers.get(timeout=within_s)
            if answer is ENDED:
                self._answers.put(ENDED)
            return answer
        except queue.Empty:
            raise AssertionError(f"{name} is not answered within {within_s} s; {self.errors()}") from None

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.startswith("{"):
                # Kafka's client logs its errors here.
                self._errors.append(line)
                continue
            said = json.loads(line)
            if "owned" in said:
                self.on_owned(said["owned"])
            else:
                self._answers.put(said)
        self._answers.put(ENDED)

    def _keep_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line)


class Refused(Exception):
    """The client's call raised; the message is the client's."""


class MemberProcess(ClientProcess):
    """A consumer. ``history`` is everything it said it owned, ``times`` when, ``owned`` the last of it."""

    def __init__(self, client: str, bootstrap: str, group: str, topic: str, options: MemberOptions) -> None:
        self.history: list[list[int]] = []
        # When it said so, by the clock of the test.
        self.times: list[float] = []
        self.owned: list[int] = []
        super().__init__([*command_of(client), "member", bootstrap, group, topic, json.dumps(options._asdict())])

    def on_owned(self, owned: list[int]) -> None:
        self.history.append(owned)
        self.times.append(time.monotonic())
        self.owned = owned

    def commit(self, offsets: dict[int, int], within_s: float = 60) -> None:
        """Until it is acknowledged."""
        self.call_until_done("commit", offsets, within_s)

    def committed(self, partitions: Iterable[int]) -> dict[int, int | None]:
        return {int(one): offset for one, offset in self.call_until_done("committed", list(partitions)).items()}


class Crew:
    """The members of a group. A context manager: leaving it kills those that are left."""

    def __init__(self, client: str, bootstrap: str, group: str, topic: str, partitions: int) -> None:
        self.group, self.topic, self.partitions = group, topic, partitions
        self.members: list[MemberProcess] = []
        self._arguments = (client, bootstrap, group, topic)
        self._started: list[MemberProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self._started:
            member.clean_up()

    def join(self, count: int, options: MemberOptions | None = None) -> Self:
        members = [MemberProcess(*self._arguments, options or MemberOptions()) for _ in range(count)]
        self.members += members
        self._started += members
        return self

    def leave(self, member: MemberProcess) -> None:
        self.members.remove(member)
        member.end()

    def die(self, member: MemberProcess) -> None:
        self.members.remove(member)
        member.die()

    def settle(self, within_s: float = 60) -> dict[int, MemberProcess]:
        """Wait until every member has something and every partition exactly one owner; the owners by partition."""
        eventually(self._is_settled, within_s, self._describe)
        return {partition: member for member in self.members for partition in member.owned}

    def _is_settled(self) -> bool:
        assert all(member.is_alive() for member in self.members), self._describe()
        owned = sorted(partition for member in self.members for partition in member.owned)
        return owned == list(range(self.partitions)) and all(member.owned for member in self.members)

    def _describe(self) -> str:
        return "\n".join(f"{member.owned}{'' if member.is_alive() else ' dead'} {member.errors()}" for member in self.members)
