"""Plays the input lines of a transcript on a TransactionShard. Their words are those of ``tests/differential/producing.py``.

Producers: init, add (with check=1 it adds nothing), offsets, end, described, and abort by an administrator. A producer has the
id and the epoch that it got last: id=Q, epoch=7 and epoch=+1 stand for others. Markers wait until the transcript delivers them,
with ``until transaction:P CompleteCommit``, or ``deliver`` and the error that the partitions answer. ``exhaust P`` gives P the last
epoch of its producer id, and restarts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from coordinator_server.machine.outbox import Refused
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import LAST_EPOCH, NO_EPOCH, NO_PRODUCER_ID, NO_TIME, Transaction, transaction_of
from protocol.error_codes import ErrorCode
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from tests.scenarios.player import Words, words_of
from tests.support.transactions import OFFSETS, TransactionLog, exhaust

NOBODYS_ID: Final = 9_999
FIRST_OF_BROKERS: Final = 4
"""The first version of AddPartitionsToTxn whose transactions have version 2."""
GROUPS: Final = {"g": 7, "h": 8}
"""The partitions of groups."""
_NO_ONE: Final = (NOBODYS_ID, 0)


class ProducerScript:
    """One shard of transactional ids, its producers, and the lines that came of the last input."""

    def __init__(self) -> None:
        self._log = TransactionLog()
        self._producers: dict[str, tuple[int, int]] = {}
        self._lines: list[str] = []
        # Answers to what is not durable: the producer, the request and the answer.
        self._waiting: list[tuple[str, str, Any]] = []
        self._told = 0
        self._sent: set[object] = set()

    def play(self, line: str) -> list[str]:
        """Do what the line says; the lines that tell what came of it."""
        self._lines = []
        first, plain, words = words_of(line)
        VERBS[first](self, ["" if word == "''" else word for word in plain], words)
        self._log.advance(0)
        self._tell_records()
        self._tell_markers()
        return self._lines

    # Producers

    def init(self, plain: list[str], words: Words) -> None:
        name, _, epoch = words.get("own", "").partition(":")
        own = (self._producer_id(name), int(epoch)) if name else (NO_PRODUCER_ID, NO_EPOCH)
        self._ask("init", plain[0], lambda: self._log.init(plain[0], own, int(words.get("timeout", 60_000))))

    def add(self, plain: list[str], words: Words) -> None:
        partitions = [(topic, int(index)) for topic, _, index in (text.partition(":") for text in plain[1:])]
        producer = self._producer(plain[0], words)
        if "check" in words:
            self._ask("add", plain[0], lambda: self._log.missing(plain[0], producer, *partitions))
            return
        version = 2 if int(words.get("v", 3)) >= FIRST_OF_BROKERS else 0
        self._ask("add", plain[0], lambda: self._log.add(plain[0], producer, *partitions, version=version))

    def add_offsets(self, plain: list[str], words: Words) -> None:
        producer = self._producer(plain[0], words)
        self._ask("offsets", plain[0], lambda: self._log.add(plain[0], producer, (OFFSETS, GROUPS[plain[1]])))

    def end(self, plain: list[str], words: Words) -> None:
        producer, version = self._producer(plain[0], words), int(words.get("v", 5))
        is_commit = plain[1] == "commit"
        self._ask("end", plain[0], lambda: self._log.end(plain[0], producer, is_commit=is_commit, version=version))

    def abort(self, plain: list[str], words: Words) -> None:
        self._ask("abort", plain[0], lambda: self._log.abort(plain[0]))

    def describe(self, plain: list[str], words: Words) -> None:
        for name in plain:
            known = self._log.state(name)
            self._lines.append(f"{name} described {'no such id' if known is None else self._text_of(known)}")

    # What else happens

    def until(self, plain: list[str], words: Words) -> None:
        """Deliver the markers, as often as it takes."""
        name = plain[0].removeprefix("transaction:")
        self.deliver([], words)
        known = self._log.state(name)
        assert known is not None
        assert known.state.label == plain[1], f"{name} is {known.state.label}"

    def deliver(self, plain: list[str], words: Words) -> None:
        self._log.deliver(Refused(ErrorCode[plain[0]]) if plain else True)

    def wait(self, plain: list[str], words: Words) -> None:
        self._log.advance(int(plain[0]))

    def jump(self, plain: list[str], words: Words) -> None:
        self._log.clock.jump_wall(int(plain[0]))

    def hold(self, plain: list[str], words: Words) -> None:
        self._log.is_holding = True

    def flush(self, plain: list[str], words: Words) -> None:
        self._settle(None)

    def release(self, plain: list[str], words: Words) -> None:
        self._log.is_holding = False
        self._settle(None)

    def fail(self, plain: list[str], words: Words) -> None:
        self._settle(ErrorCode[plain[0]] if plain else ErrorCode.NOT_COORDINATOR)

    def restart(self, plain: list[str], words: Words) -> None:
        """What is not durable is lost, and so is every answer to it."""
        self._waiting = []
        self._settle(ErrorCode.NOT_COORDINATOR)
        self._log.is_holding = False
        self._log.load()
        self._sent.clear()

    def exhaust(self, plain: list[str], words: Words) -> None:
        exhaust(self._log, plain[0])
        self._producers[plain[0]] = self._producers[plain[0]][0], LAST_EPOCH
        self._sent.clear()

    # Words

    def _ask(self, verb: str, name: str, operation: Callable[[], Any]) -> None:
        answer = operation()
        is_written = len(self._log.records) > self._told
        self._tell_records()
        if self._log.is_holding and is_written:
            self._waiting.append((name, verb, answer))
        else:
            self._answer(name, verb, answer)

    def _settle(self, error: ErrorCode | None) -> None:
        self._log.settle(error)
        self._told = min(self._told, len(self._log.records))
        waiting, self._waiting = self._waiting, []
        for name, verb, answer in waiting:
            self._answer(name, verb, answer if error is None else error)

    def _answer(self, name: str, verb: str, answer: Any) -> None:
        if verb in ("init", "end") and isinstance(answer, tuple) and answer[0] != NO_PRODUCER_ID:
            self._producers[name] = answer
        self._lines.append(f"{name} {verb} {_text_of_answer(answer)}".lstrip())

    def _tell_records(self) -> None:
        for offset, record in enumerate(self._log.records[self._told :], self._told):
            assert isinstance(record.key, TransactionLogKey)
            value = record.value
            text = self._text_of(transaction_of(value)) if isinstance(value, TransactionLogValue) else "tombstone"
            self._lines.append(f"log @{offset} {record.key.transactional_id} {text}")
        self._told = len(self._log.records)

    def _tell_markers(self) -> None:
        """Say which markers were sent."""
        messages = self._log.outbox.messages
        for intent, message in messages.items():
            if intent not in self._sent:
                marker = message.marker
                text = (
                    f"{'commit' if marker.is_commit else 'abort'} {marker.producer_id}:{marker.producer_epoch} v{marker.version}"
                )
                self._lines.append(f"marker {marker.transactional_id} {OFFSETS}:{message.partition} {text}")
        self._sent = set(messages)

    def _text_of(self, known: Transaction) -> str:
        text = (
            f"{known.state.label} {known.producer_id}:{known.producer_epoch} timeout={known.timeout_ms} v{known.client_version}"
        )
        if known.previous_producer_id not in (NO_PRODUCER_ID, known.producer_id):
            text += f" previous={known.previous_producer_id}"
        if known.next_producer_id != NO_PRODUCER_ID:
            text += f" next={known.next_producer_id}"
        if known.state is not TransactionState.EMPTY:
            text += f" [{' '.join(f'{topic}:{index}' for topic, index in sorted(known.partitions))}]"
        return text if known.start_ms == NO_TIME else f"{text} began={known.start_ms - known.update_ms}"

    def _producer(self, name: str, words: Words) -> tuple[int, int]:
        producer_id, epoch = self._producers.get(name, _NO_ONE)
        if "id" in words:
            producer_id = self._producer_id(words["id"])
        text = words.get("epoch", "+0")
        return producer_id, epoch + int(text) if text[0] in "+-" else int(text)

    def _producer_id(self, name: str) -> int:
        if name.isdigit():
            return int(name)
        return NO_PRODUCER_ID if name == "none" else self._producers.get(name, _NO_ONE)[0]


def _text_of_answer(answer: Any) -> str:
    match answer:
        case ErrorCode():
            return answer.name
        case frozenset():
            return "missing " + " ".join(f"{topic}:{index}" for topic, index in sorted(answer)) if answer else "NONE"
        case (producer_id, epoch):
            return "NONE" if producer_id == NO_PRODUCER_ID else f"NONE {producer_id}:{epoch}"
    raise AssertionError(answer)


VERBS: Final[Mapping[str, Callable[[ProducerScript, list[str], Words], None]]] = {
    "init": ProducerScript.init,
    "add": ProducerScript.add,
    "offsets": ProducerScript.add_offsets,
    "end": ProducerScript.end,
    "abort": ProducerScript.abort,
    "described": ProducerScript.describe,
    "until": ProducerScript.until,
    "deliver": ProducerScript.deliver,
    "exhaust": ProducerScript.exhaust,
    "wait": ProducerScript.wait,
    "jump": ProducerScript.jump,
    "hold": ProducerScript.hold,
    "flush": ProducerScript.flush,
    "release": ProducerScript.release,
    "fail": ProducerScript.fail,
    "restart": ProducerScript.restart,
}
REQUESTS: Final = frozenset({"init", "add", "offsets", "end", "abort", "described"})
"""A transcript that begins with one of these is about producers."""
