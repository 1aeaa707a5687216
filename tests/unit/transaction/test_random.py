"""Random requests of producers that fail, repeat and fence each other, on a log that refuses now and then."""

from __future__ import annotations

from random import Random

import pytest

from coordinator_server.transaction.state import PREVIOUS, TransactionState
from protocol.error_codes import ErrorCode
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from tests.support.transactions import OFFSETS, TransactionLog

IDS = ("t", "u")


class Producers:
    """What the clients of a log have been given."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.log = TransactionLog()
        self.known: dict[str, list[tuple[int, int]]] = {each: [(7, 7)] for each in IDS}
        self.given: list[tuple[int, int]] = []

    def step(self) -> None:
        rng, log = self.rng, self.log
        transactional_id = rng.choice(IDS)
        producer = self.known[transactional_id][-1] if rng.random() < 0.8 else rng.choice(self.known[transactional_id])
        match rng.randrange(9):
            case 0:
                answer = log.init(transactional_id, producer if rng.random() < 0.5 else (-1, -1))
                if isinstance(answer, tuple):
                    self.known[transactional_id].append(answer)
            case 1 | 2:
                log.add(transactional_id, producer, (OFFSETS, rng.randrange(3)), version=2)
            case 3 | 4:
                answer = log.end(transactional_id, producer, is_commit=rng.random() < 0.5, version=rng.choice((3, 5, 5)))
                if isinstance(answer, tuple) and answer != (-1, -1):
                    self.known[transactional_id].append(answer)
            case 5:
                log.deliver()
            case 6:
                log.advance(rng.choice((10, 70_000)))
            case 7:
                log.is_holding = not log.is_holding
                log.settle(ErrorCode.NOT_COORDINATOR if rng.random() < 0.3 else None)
            case 8 if rng.random() < 0.2:
                log.settle(ErrorCode.NOT_COORDINATOR)
                log.load()


@pytest.mark.parametrize("seed", range(30))
def test_every_state_follows_the_one_before_and_a_load_finds_the_same(seed: int) -> None:
    """Epochs of a producer id only grow, and an outcome that is decided is the one that is completed."""
    producers = Producers(seed)
    for _ in range(200):
        producers.step()
    log = producers.log
    log.is_holding = False
    log.settle()
    before = log.all()
    log.load()

    last: dict[str, TransactionLogValue] = {}
    for record in log.records:
        assert isinstance(record.key, TransactionLogKey)
        assert isinstance(record.value, TransactionLogValue)
        transactional_id, value = record.key.transactional_id, record.value
        previous = last.get(transactional_id)
        if previous is not None:
            assert TransactionState(previous.transaction_status) in PREVIOUS[TransactionState(value.transaction_status)]
            assert (value.producer_id, value.producer_epoch) >= (previous.producer_id, previous.producer_epoch)
        last[transactional_id] = value
    assert log.all() == before
    assert {TransactionState(record.value.transaction_status) for record in log.records} >= {  # type: ignore[union-attr]
        TransactionState.PREPARE_ABORT,
        TransactionState.COMPLETE_ABORT,
    }
