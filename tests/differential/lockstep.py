"""Plays a script on both servers, step by step, and compares what each step brought:
answers, who is still parked, and the groups' state.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from protocol.error_codes import ErrorCode
from tests.differential.awaiting import Server
from tests.differential.known_differences import FORGOTTEN, KNOWN, OUTLIVING, Step, Unlike
from tests.differential.recorded import RecordedSide
from tests.differential.records import without_end_of_empty, without_outliving
from tests.differential.sharing import OF_ONE, OF_SEVERAL
from tests.differential.side import Side
from tests.differential.streaming import ASKED
from tests.differential.streaming import OF_SEVERAL as STREAMERS
from tests.differential.transcripts import Told, Transcript
from tests.differential.wire import Sent
from tests.scenarios.player import Words, words_of

# How long an answer that the other server has given may still be on its way before it counts as parked.
GRACE_S: Final = 10.0
# Between two looks at what comes a moment later.
_PAUSE_S: Final = 0.01
LEADER_CHOSEN: Final = "leader"
# Kafka has checked a TxnOffsetCommit together with one of another script:
# version 4 and those before it have not the same error for the same.
CHECKED_TOGETHER: Final = "checked together"
BY_CHANCE: Final = {LEADER_CHOSEN, CHECKED_TOGETHER}
# The last version of TxnOffsetCommit that is only checked, and the errors of that version and of those before it.
_LAST_CHECKED: Final = 4
_NOT_IN_TRANSACTION: Final = {ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE}
_DESCRIBING: Final = {"describe", "consumers"} | OF_SEVERAL | STREAMERS
# At the end of a line whose effect does not last.
SOON: Final = " ..."


class Difference(AssertionError):
    """The servers do not agree; ``lines`` is the script up to there."""

    def __init__(self, lines: list[str], what: str) -> None:
        super().__init__(what + "\n" + "\n".join(f"  > {line}" for line in lines))
        self.lines = lines
        self.what = what


class Outcome(NamedTuple):
    """``seen`` counts the listed differences by their number; ``ended`` says why a script was not played to its end."""

    steps: int
    seen: Counter[int]
    ended: str = ""


class Ended(Exception):
    """The servers are apart from here on, for a reason that is listed."""


class Lockstep:
    """One script on two servers, or on ours and a transcript of the other.

    ``prefix`` is in front of its group ids, so that many scripts share a server.
    """

    def __init__(
        self,
        ours: Server,
        kafka: Server | Transcript,
        prefix: str,
        *,
        has_consumers: bool = False,
        has_shares: bool = False,
        has_streams: bool = False,
    ) -> None:
        self.ours = Side(ours, prefix, has_consumers=has_consumers, has_shares=has_shares, has_streams=has_streams)
        self.kafka = (
            RecordedSide(kafka, self.ours)
            if isinstance(kafka, Transcript)
            else Side(kafka, prefix, has_consumers=has_consumers, has_shares=has_shares, has_streams=has_streams)
        )
        self._told: list[Told] = []
        self._noted: set[int] = set()
        self._log: dict[str, list[Any]] = {}
        self._seen: Counter[int] = Counter()
        self._played: list[str] = []
        self._compared: set[int] = set()
        self._leaders: dict[str, str] = {}
        # All that the script has been about so far.
        self._groups: list[str] = []

    def close(self) -> None:
        for side in self._sides:
            side.close()

    def forget_nameless(self) -> None:
        """Begin without what other scripts have left in the group without a name."""
        for side in self._sides:
            side.forget_nameless()

    def move_to(self, ours: Server, kafka: Server | None) -> None:
        """Both were started again; there is no other where a transcript stands for it."""
        self.ours.move_to(ours)
        if kafka is not None:
            self.kafka.move_to(kafka)

    def transcript(self, checksum: str) -> Transcript:
        """What the other server has said so far."""
        return Transcript(checksum, self._told, self._log)

    def play(self, lines: Iterable[str]) -> Outcome:
        """Raises Difference for one that is not listed."""
        ended = ""
        try:
            for line in lines:
                self._played.append(line)
                self._play(line)
        except Ended as why:
            ended = str(why)
        return Outcome(len(self._played), self._seen, ended)

    @property
    def is_recorded(self) -> bool:
        """Whether a transcript stands for the other server."""
        return isinstance(self.kafka, RecordedSide)

    def assert_all_told(self) -> None:
        """Nothing is left of a transcript: neither server has come further than the other. For scripts that are over."""
        assert isinstance(self.kafka, Side) or self.kafka.has_ended, "the transcript goes on"

    def compare_logs(self) -> None:
        """The log says the same of each group, too. For scripts that were played to their end."""
        kafka = self.kafka.named_log()
        ours = self._await_the_same(lambda: None, self.ours.named_log, kafka)
        self._log = {group: [*records] for group, records in kafka.items()}
        for group in sorted({*ours, *kafka}):
            here, there = ours.get(group, []), kafka.get(group, [])
            if here != there and without_outliving(here) != here:
                self._seen[OUTLIVING] += 1
                here = without_outliving(here)
            if here != there and without_end_of_empty(here) == there:
                self._seen[FORGOTTEN] += 1
                continue
            unlike = [
                f"{each.path}: ours {each.ours!r}, Kafka {each.kafka!r}" for each in _unlike(f"log of {group}", here, there)
            ]
            if unlike:
                raise self._difference("\n".join(unlike))

    def _play(self, line: str) -> None:
        is_compared = not line.endswith(SOON)
        first, plain, words = words_of(line.removesuffix(SOON))
        try:
            if first == "until":
                self._await(plain, words)
                self._compare(line, self._groups)
            elif first == "pause":
                time.sleep(int(plain[0]) / 1000)
                self._compare(line, self._groups)
            elif first == "exhaust":
                with ThreadPoolExecutor() as pool:
                    for done in [pool.submit(side.exhaust, plain[0]) for side in self._sides]:
                        done.result()
                self._compare(line, self._groups)
            elif first == "flood":
                for side in self._sides:
                    side.flood(plain)
                self._compare(line, self._groups)
            elif plain and plain[0] == "enter":
                before = self.ours.clients[first].member_id if first in self.ours.clients else ""
                self._play(line.replace(" enter ", " join ", 1))
                if self.ours.clients[first].member_id != before:
                    self._play(" ".join([first, "join", *plain[1:]]))
            else:
                for side in (self.ours, self.kafka):
                    side.ask(first, plain, words)
                groups = _groups_of(first, plain)
                self._groups += [name for name in groups if name not in self._groups]
                self._compare(line, groups if is_compared else [])
        except TimeoutError as late:
            raise self._difference(str(late)) from None

    def _await(self, plain: list[str], words: Words) -> None:
        for side in (self.ours, self.kafka):
            if words:
                [(position, offset)] = words.items()
                side.await_offset(plain[0], position, int(offset))
            elif len(plain) > 1:
                side.await_state(*plain)
            else:
                side.await_client(plain[0])

    def _compare(self, line: str, groups: list[str]) -> None:
        for side in self._sides:
            side.settle(line, groups)
        end = self._await_the_same_answers(line)
        if self.ours.server.is_late:
            # The request may have come to its node after the look.
            self.ours.settle(line, groups)
        for side in self._sides:
            side.remember()
        both = [{sent.ordinal for sent in side.sent if sent.answer is not None} for side in self._sides]
        new = (both[0] & both[1]) - self._compared
        self._compared |= new
        answers = [side.named_answers(new) for side in self._sides]
        kafka = self.kafka.named_states()
        states = [self._await_the_same(lambda: self.ours.settle(line, groups), self.ours.named_states, kafka), kafka]
        self._note(Told(line, self.ours.request_digest, answers[1], states[1]))
        unlike = [*_unlike("", answers[0], answers[1]), *_unlike("state", states[0], states[1])]
        if end:
            raise Ended(f"difference {end}")
        if unlike:
            self._explain(line, unlike, answers)
        for ordinal in new:
            self._note_leader(self.ours.sent[ordinal], answers[0][ordinal])

    def _note(self, step: Told) -> None:
        """For the transcript, with the errors of what only the other has answered."""
        answered = {sent.ordinal: sent.answer for sent in self.kafka.sent if sent.answer is not None}
        alone = {ordinal: {"errorCode": answered[ordinal].get("errorCode")} for ordinal in answered.keys() - self._noted}
        self._noted |= answered.keys()
        self._told.append(step._replace(answers=alone | step.answers))

    @property
    def _sides(self) -> tuple[Side, Side | RecordedSide]:
        return self.ours, self.kafka

    def _await_the_same_answers(self, line: str) -> int:
        """Whoever is answered by one is answered by the other, but for what is listed. Return what ends the script, or 0."""
        end = 0
        for ours, kafka in zip(self.ours.sent, self.kafka.sent, strict=True):
            if (ours.answer is None) == (kafka.answer is None) or ours.is_lost or kafka.is_lost:
                continue
            steps = [Step(line, ours, kafka, asked, said, [], self._played) for asked, said in self._asked_since(ours)]
            number = next((number for number, known in KNOWN.items() if any(map(known.is_parked_apart, steps))), None)
            if number is not None:
                self._seen[number] += 1
                (ours if ours.answer is None else kafka).is_lost = True
                if KNOWN[number].ends_parked_apart:
                    end = number
                continue
            late = self.ours if ours.answer is None else self.kafka
            try:
                late.await_answer(ours if ours.answer is None else kafka, GRACE_S)
            except TimeoutError:
                answered = kafka if ours.answer is None else ours
                raise self._difference(f"{late.name} leaves {ours} parked; the other answers {answered.answer}") from None
        return end

    def _asked_since(self, sent: Sent) -> list[tuple[Sent, Any]]:
        """Return the request of the step, with what the other server has said to it.

        An answer of a server that is late may be that of an earlier step: then all requests since this one are returned.
        """
        first = sent.ordinal + 1 if self.ours.server.is_late else len(self.ours.sent) - 1
        pairs = zip(self.ours.sent, self.kafka.sent, strict=True)
        return [(ours, kafka.answer) for ours, kafka in pairs if ours.ordinal >= min(first, len(self.ours.sent) - 1)]

    def _await_the_same(self, look: Callable[[], None], ours: Callable[[], Any], kafka: Any) -> Any:
        """Return what ours says. One that is late is looked at until it says what the other says, or does not in time.

        What was said is not asked for again: ids get their names when they are first seen, and names change the order.
        """
        said, deadline = ours(), time.monotonic() + GRACE_S * self.ours.server.is_late
        while said != kafka and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            look()
            said = ours()
        return said

    def _explain(self, line: str, unlike: list[Unlike], answers: list[dict[int, Any]]) -> None:
        """Raise Ended when the difference is listed, or is a choice that Kafka leaves to a hash map; else Difference.

        Return if ours only says more, as is listed.
        """
        step = Step(
            line, self.ours.sent[-1], self.kafka.sent[-1], self.ours.sent[-1], self.kafka.sent[-1].answer, unlike, self._played
        )
        for number, known in KNOWN.items():
            if known.is_told_more(step):
                self._seen[number] += 1
                return
            if known.is_told_apart(step):
                self._seen[number] += 1
                raise Ended(f"difference {number}")
        if self._is_another_leader(answers):
            raise Ended(LEADER_CHOSEN)
        if _is_checked_together(step):
            raise Ended(CHECKED_TOGETHER)
        raise self._difference("\n".join(f"{each.path}: ours {each.ours!r}, Kafka {each.kafka!r}" for each in unlike))

    def _is_another_leader(self, answers: list[dict[int, Any]]) -> bool:
        """Whether the generation is led by somebody else on each side, and neither is the leader of the one before."""
        for ordinal, ours in answers[0].items():
            kafka, sent = answers[1][ordinal], self.ours.sent[ordinal]
            if sent.api == "join" and ours["leader"] != kafka["leader"] and ours["generationId"] == kafka["generationId"]:
                before = self._leaders.get(sent.group_id, "")
                return before not in {ours["leader"], kafka["leader"]} and bool(ours["leader"]) and bool(kafka["leader"])
        return False

    def _note_leader(self, sent: Sent, answer: Any) -> None:
        if sent.api == "beat":
            # Once it is a classic group again, its leader is drawn anew.
            self._leaders.pop(sent.group_id, None)
        elif sent.api == "join" and answer["leader"]:
            self._leaders[sent.group_id] = answer["leader"]

    def _difference(self, what: str) -> Difference:
        return Difference(self._played, what)


def _is_checked_together(step: Step) -> bool:
    is_checked = step.asked.api == "txncommit" and step.asked.version <= _LAST_CHECKED
    return is_checked and all({each.ours, each.kafka} == _NOT_IN_TRANSACTION for each in step.unlike)


def _groups_of(first: str, plain: list[str]) -> list[str]:
    """The groups that a line is about."""
    if first in OF_ONE:
        return [name for name in plain[:1] if name != "''"]
    if first in ASKED and first not in _DESCRIBING:
        return []
    names = [name for name in plain if name != "ops"] if first in _DESCRIBING else plain[1:]
    if first in _DESCRIBING or plain[0] == "delete":
        return [name for name in names if name != "''"]
    return [name for name in names[:1] if name != "''"]


def _unlike(path: str, ours: Any, kafka: Any) -> Iterator[Unlike]:
    """The places where two values differ."""
    if isinstance(ours, dict) and isinstance(kafka, dict) and ours.keys() == kafka.keys():
        for name in ours:
            yield from _unlike(f"{path}.{name}", ours[name], kafka[name])
    elif isinstance(ours, list) and isinstance(kafka, list) and len(ours) == len(kafka):
        for place, (one, other) in enumerate(zip(ours, kafka, strict=True)):
            yield from _unlike(f"{path}[{place}]", one, other)
    elif ours != kafka:
        yield Unlike(re.sub(r"^\.", "", path), ours, kafka)
