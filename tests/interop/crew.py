"""The members of one group as processes, seen from the test."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import Any, Self

from tests.support.eventually import eventually
from tests.support.server import ROOT


class MemberProcess:
    """One consumer, of one library, in a process of its own."""

    def __init__(self, library: str, bootstrap: str, group: str, topic: str) -> None:
        self.owned: list[int] = []
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.interop.member", library, bootstrap, group, topic],
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

    def commit(self, offsets: dict[int, int], within_s: float = 30) -> None:
        """Until it is acknowledged: an error is tried again, as an application would."""
        self._until_answered("commit", offsets, within_s)

    def committed(self, partitions: Iterable[int]) -> dict[int, int | None]:
        return {int(one): offset for one, offset in self._until_answered("committed", list(partitions), 30).items()}

    def leave(self) -> None:
        """Close the consumer, and wait until it is gone."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(30) == 0, self.errors()

    def die(self) -> None:
        """SIGKILL: the sockets close, nobody leaves the group."""
        self._process.kill()
        self._process.wait()

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
                pipe.close()

    def _until_answered(self, call: str, argument: object, within_s: float) -> Any:
        last: dict[str, Any] = {}

        def answered() -> bool:
            nonlocal last
            last = self._ask({"call": call, "argument": argument}, within_s)
            return "result" in last

        eventually(answered, within_s, lambda: last)
        return last["result"]

    def _ask(self, command: dict[str, Any], within_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._answers.get(timeout=within_s)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "owned" in said:
                self.owned = said["owned"]
            else:
                self._answers.put(said)

    def _keep_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line)


class Crew:
    """The members of a group. A context manager: leaving it kills those that are left."""

    def __init__(self, library: str, bootstrap: str, group: str, topic: str, partitions: int) -> None:
        self.group, self.topic, self.partitions = group, topic, partitions
        self.members: list[MemberProcess] = []
        self._arguments = (library, bootstrap, group, topic)
        self._started: list[MemberProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self._started:
            member.clean_up()

    def join(self, count: int) -> Self:
        members = [MemberProcess(*self._arguments) for _ in range(count)]
        self.members += members
        self._started += members
        return self

    def leave(self, member: MemberProcess) -> None:
        self.members.remove(member)
        member.leave()

    def die(self, member: MemberProcess) -> None:
        self.members.remove(member)
        member.die()

    def settle(self, within_s: float = 30) -> dict[int, MemberProcess]:
        """Wait until every member has something and every partition exactly one owner; the owners by partition."""
        eventually(self._is_settled, within_s, self._describe)
        return {partition: member for member in self.members for partition in member.owned}

    def _is_settled(self) -> bool:
        assert all(member.is_alive() for member in self.members), self._describe()
        owned = sorted(partition for member in self.members for partition in member.owned)
        return owned == list(range(self.partitions)) and all(member.owned for member in self.members)

    def _describe(self) -> str:
        return "\n".join(f"{member.owned}{'' if member.is_alive() else ' dead'} {member.errors()}" for member in self.members)
