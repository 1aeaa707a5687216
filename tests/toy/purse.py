"""Purses: a toy state machine that pays into purses of other shards, and has a child add up what its own contain.

A transfer is an intent, and its message comes at least once:

    payer's shard                                payee's shard
    debit, intent ──────── CREDIT ─────────────► credit, and the id
    the intent is credited ◄── done, or refused (then the payer has it back, and that is all)
         └──────────────── FORGET ─────────────► the id goes
    the intent is closed ◄── done

Money is never lost or made by that: what all shards have, and what is on its way, stays the same.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct

from coordinator_server.machine.block import EncodedRecord, EncodedRecords
from coordinator_server.machine.digest import StateDigest, digest_text, item_digest
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.executor import CoordinatorExecutor, Failed, Task
from coordinator_server.machine.outbox import Effect, Outbox, Refused
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorShard, Reply, RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict, TimelineValue
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from tests.toy.purse_records import (
    CreditKey,
    CreditValue,
    PurseKey,
    PurseSerde,
    PurseValue,
    SumKey,
    SumValue,
    TransferKey,
    TransferValue,
)

TOPIC: Final = "__toy_purses"
SERDE: Final = PurseSerde()
# Nobody may pay into purses whose name begins so.
SEALED: Final = "sealed"


class Fill(Struct, frozen=True):
    """Put money into a purse, from nowhere."""

    name: str
    amount: int


class Transfer(Struct, frozen=True):
    """Pay into a purse of any shard. The id is of this transfer alone."""

    id: str
    payer: str
    payee: str
    amount: int


class Credit(Struct, frozen=True):
    """A transfer arrives."""

    id: str
    payee: str
    amount: int


class Forget(Struct, frozen=True):
    """A transfer is over."""

    id: str


class Nothing(Struct, frozen=True):
    """Done."""


class Contents(Struct, frozen=True):
    """What the purses of a shard have, after the record at ``as_of``."""

    as_of: int
    amounts: list[int]


class Summed(Struct, frozen=True):
    """The record that says what they have together."""

    records: list[EncodedRecord]


CREDIT: Final = Effect(TOPIC, "credit", Credit, Nothing)
FORGET: Final = Effect(TOPIC, "forget", Forget, Nothing)


def add_up(contents: Contents) -> Summed:
    """In the child."""
    record = CoordinatorRecord(SumKey(), SumValue(contents.as_of, sum(contents.amounts)))
    return Summed([(SERDE.encode_key(record), SERDE.encode_value(record))])


ADD_UP: Final = Task("tests.toy.purse:ADD_UP", Contents, Summed, add_up)


class PurseShard(CoordinatorShard):
    """Hard state: purses, transfers that are open, ids of transfers that have arrived, the last sum."""

    def __init__(self, *, registry: SnapshotRegistry, outbox: Outbox, executor: CoordinatorExecutor) -> None:
        self._outbox = outbox
        self._executor = executor
        self._purses: TimelineDict[str, int] = TimelineDict(registry)
        self._open: TimelineDict[str, TransferValue] = TimelineDict(registry)
        self._arrived: TimelineDict[str, CreditValue] = TimelineDict(registry)
        self._changed_at: TimelineValue[int] = TimelineValue(registry, -1)
        # As it stands in the log, until somebody asks.
        self._sum: TimelineValue[bytes | None] = TimelineValue(registry, None)

    # Write operations

    def fill(self, context: RequestContext, request: Fill, reply: Reply[int]) -> CoordinatorResult[int]:
        """What is in it then."""
        amount = self._purses.get(request.name, 0) + request.amount
        return CoordinatorResult(amount, [_purse(request.name, amount)], self._sum_anew)

    def transfer(self, context: RequestContext, request: Transfer, reply: Reply[Nothing]) -> CoordinatorResult[Nothing]:
        """Answered when the money has left. Raises INVALID_REQUEST where there is too little."""
        left = self._left_after(request)
        value = TransferValue(request.payer, request.payee, request.amount)
        records = [_purse(request.payer, left), CoordinatorRecord(TransferKey(request.id), value)]
        return CoordinatorResult(Nothing(), records, partial(self._send_open, request.id))

    def credit(self, context: RequestContext, request: Credit, reply: Reply[Nothing]) -> CoordinatorResult[Nothing]:
        """The money arrives, once. Raises POLICY_VIOLATION for a sealed purse."""
        if request.payee.startswith(SEALED):
            raise CoordinatorError(ErrorCode.POLICY_VIOLATION, "it is sealed")
        if self._has_arrived(request.id):
            return CoordinatorResult(Nothing())
        amount = self._purses.get(request.payee, 0) + request.amount
        records = [_purse(request.payee, amount), CoordinatorRecord(CreditKey(request.id), CreditValue(request.payee))]
        return CoordinatorResult(Nothing(), records, self._sum_anew)

    def forget(self, context: RequestContext, request: Forget, reply: Reply[Nothing]) -> CoordinatorResult[Nothing]:
        """The transfer will not arrive again."""
        return CoordinatorResult(Nothing(), [_forgotten(request.id)] if request.id in self._arrived else ())

    def _left_after(self, request: Transfer) -> int:
        left = self._purses.get(request.payer, 0) - request.amount
        if left < 0:
            raise CoordinatorError(ErrorCode.INVALID_REQUEST, "there is too little in it")
        return left

    def _has_arrived(self, id: str) -> bool:
        return id in self._arrived

    # Read operations

    def purses(self, committed_offset: int) -> dict[str, int]:
        """What each has."""
        return dict(self._purses.items_at(committed_offset))

    def under_way(self, committed_offset: int) -> dict[str, TransferValue]:
        """The transfers that have left here and are not over."""
        return dict(self._open.items_at(committed_offset))

    def arrived(self, committed_offset: int) -> set[str]:
        """The transfers that have come here and are not over."""
        return {transfer_id for transfer_id, _ in self._arrived.items_at(committed_offset)}

    def summed(self, committed_offset: int) -> SumValue | None:
        """What a child has added up last."""
        value = self._sum.get_at(committed_offset)
        if value is None:
            return None
        record = SERDE.decode(SERDE.encode_key(CoordinatorRecord(SumKey(), None)), value)
        assert record is not None
        assert isinstance(record.value, SumValue)
        return record.value

    def changed_at(self, committed_offset: int) -> int:
        """The offset of the last record of a purse."""
        return self._changed_at.get_at(committed_offset)

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """The sum over the purses, the transfers and the ids."""
        items = {name: b"%d" % amount for name, amount in self._purses.items_at(committed_offset)}
        items |= {f"transfer {each}": b"" for each, _ in self._open.items_at(committed_offset)}
        items |= {f"credit {each}": b"" for each, _ in self._arrived.items_at(committed_offset)}
        hashes = {name: item_digest(name.encode(), value) for name, value in items.items()}
        parts = {name: digest_text(hash_) for name, hash_ in hashes.items()} if with_parts else {}
        return StateDigest(committed_offset, digest_text(sum(hashes.values())), parts)

    # Transfers that are open

    def _send_open(self, id: str, error: ErrorCode | None = None) -> None:
        value = None if error is not None else self._open.get(id)
        if value is None:
            return
        if value.is_credited:
            self._outbox.send((id, FORGET.name), FORGET, value.payee, Forget(id), partial(self._forgotten, id))
        else:
            credit = Credit(id, value.payee, value.amount)
            self._outbox.send((id, CREDIT.name), CREDIT, value.payee, credit, partial(self._credited, id))
        self._sum_anew()

    def _credited(self, id: str, outcome: Nothing | Refused) -> CoordinatorResult[None]:
        value = self._open[id]
        if isinstance(outcome, Refused):
            amount = self._purses.get(value.payer, 0) + value.amount
            return CoordinatorResult(None, [_purse(value.payer, amount), _closed(id)], self._sum_anew)
        credited = TransferValue(value.payer, value.payee, value.amount, is_credited=True)
        return CoordinatorResult(None, [CoordinatorRecord(TransferKey(id), credited)], partial(self._send_open, id))

    def _forgotten(self, id: str, outcome: Nothing | Refused) -> CoordinatorResult[None]:
        assert not isinstance(outcome, Refused)
        return CoordinatorResult(None, [_closed(id)])

    # The sum

    def _sum_anew(self, error: ErrorCode | None = None) -> None:
        if error is None:
            contents = Contents(self._changed_at.value, list(self._purses.values()))
            self._executor.schedule("sum", ADD_UP, contents, partial(self._take_sum, contents.as_of))

    def _take_sum(self, as_of: int, summed: Summed | Failed) -> CoordinatorResult[None]:
        assert not isinstance(summed, Failed)
        if as_of != self._changed_at.value:
            # Money has moved meanwhile.
            self._sum_anew()
            return CoordinatorResult(None)
        return CoordinatorResult(None, EncodedRecords(summed.records, SERDE.decode, partial(self._keep_sum, summed.records)))

    def _keep_sum(self, records: list[EncodedRecord], offset: int) -> None:
        for _, value in records:
            self._sum.set(value)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key, record.value:
            case PurseKey(name=name), PurseValue(amount=amount):
                self._purses[name] = amount
                self._changed_at.set(offset)
            case TransferKey(id=id), TransferValue() as value:
                self._open[id] = value
            case TransferKey(id=id), None:
                self._open.pop(id, None)
            case CreditKey(id=id), CreditValue() as credit:
                self._arrived[id] = credit
            case CreditKey(id=id), None:
                self._arrived.pop(id, None)
            case SumKey(), SumValue():
                self._sum.set(SERDE.encode_value(record))

    def plain_records(self) -> None:
        """No shortcut."""

    def on_loaded(self) -> None:
        """What is open is sent once more, and the sum may be one of before the last change."""
        for transfer_id in list(self._open):
            self._send_open(transfer_id)
        self._sum_anew()

    def on_unloaded(self) -> None:
        """Outbox and executor go with the shard."""


def _purse(name: str, amount: int) -> CoordinatorRecord:
    return CoordinatorRecord(PurseKey(name), PurseValue(amount))


def _closed(id: str) -> CoordinatorRecord:
    return CoordinatorRecord(TransferKey(id), None)


def _forgotten(id: str) -> CoordinatorRecord:
    return CoordinatorRecord(CreditKey(id), None)
