"""The broker's side of a script, as a transcript has it: it is asked nothing, and says what it said then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.differential.awaiting import Server
from tests.differential.side import Side
from tests.differential.transcripts import COMMAND, Told, Transcript
from tests.differential.wire import Sent
from tests.scenarios.player import Words


class OtherRequest(AssertionError):
    """The script asks something else than it did when the broker answered: ask it again."""


class RecordedSide:
    """Stands in for ``Side``. It sends what ``ours`` sends, and gets its answers at the steps at which the broker gave them."""

    name = "Kafka, as recorded,"

    def __init__(self, transcript: Transcript, ours: Side) -> None:
        self.sent: list[Sent] = []
        self._ours = ours
        self._steps = iter(transcript.steps)
        self._log = transcript.log
        self._step = Told("", "", {}, {})

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left of the transcript. Ask it once, at the end."""
        return next(self._steps, None) is None

    def ask(self, first: str, plain: list[str], words: Words) -> None:
        asked = self._ours.sent[len(self.sent)]
        self.sent.append(Sent(asked.ordinal, asked.client, asked.api, asked.version, asked.group_id))

    def settle(self, line: str, groups: Iterable[str]) -> None:
        """Take the next step of the transcript."""
        step = next(self._steps, None)
        if step is None or step.line != line:
            raise OtherRequest(f"the transcript goes on with {step and step.line!r}, not with {line!r}: {COMMAND}")
        if step.request != self._ours.request_digest:
            raise OtherRequest(f"{line!r} asks something else than in the transcript: {COMMAND}")
        for ordinal, answer in step.answers.items():
            self.sent[ordinal].answer = answer
        self._step = step

    def named_answers(self, ordinals: Iterable[int]) -> dict[int, Any]:
        """The answers to these requests, which all came with this step."""
        return {ordinal: self._step.answers[ordinal] for ordinal in sorted(ordinals)}

    def named_states(self) -> Any:
        return self._step.states

    def named_log(self) -> Mapping[str, Sequence[Any]]:
        return self._log

    def forget_nameless(self) -> None:
        """It was forgotten when the transcript began."""

    # --- what takes time on a real one

    def await_state(self, name: str, state: str) -> None:
        """The next step has it."""

    def await_offset(self, name: str, position: str, offset: int) -> None:
        """The next step has it."""

    def await_client(self, name: str) -> None:
        """The next step has the answers."""

    def exhaust(self, name: str) -> None:
        """It was exhausted then."""

    def flood(self, plain: list[str]) -> None:
        """It was flooded then."""

    def await_answer(self, sent: Sent, within_s: float = 0.0) -> None:
        raise TimeoutError(f"{sent} is not answered in the transcript")

    def remember(self) -> None:
        """Its clients are ours."""

    def move_to(self, server: Server) -> None:
        """The transcript goes on."""

    def close(self) -> None:
        """Nothing is open."""
