"""A state machine with a clock and timers: a lease by name, with a token that grows with each owner.

A renewal says its new end and nothing else.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from coordinator_server.machine.digest import StateDigest, digest_text, item_digest
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorShard, CoordinatorTimer, Reply, RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from tests.leases.records import LeaseKey, LeaseValue, RenewalKey, RenewalValue

NOBODY: Final = ""
RETRY_MS: Final = 1000


class Lease(NamedTuple):
    owner: str
    token: int
    expires_ms: int


class Acquire(NamedTuple):
    """Take a lease, or renew one's own; no time at all: forget that it was ever there."""

    name: str
    owner: str
    for_ms: int | None


class LeaseShard(CoordinatorShard):
    """Hard state: the leases. Soft state: a timer for each that somebody has."""

    def __init__(self, *, registry: SnapshotRegistry, clock: Clock, timer: CoordinatorTimer) -> None:
        self._clock = clock
        self._timer = timer
        self._leases: TimelineDict[str, Lease] = TimelineDict(registry)

    # Write operations

    def acquire(self, context: RequestContext, request: Acquire, reply: Reply[Lease | None]) -> CoordinatorResult[Lease | None]:
        """The lease as it is then. Raises CoordinatorError while somebody else has it."""
        name, owner, for_ms = request
        now_ms, known = self._clock.wall_ms(), self._leases.get(name, Lease(NOBODY, 0, 0))
        is_held = known.owner != NOBODY and known.expires_ms > now_ms
        if is_held and known.owner != owner:
            raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
        if for_ms is None:
            return CoordinatorResult(None, [CoordinatorRecord(LeaseKey(name), None)], self._arm_if_written(name))
        if is_held:
            lease = known._replace(expires_ms=max(known.expires_ms, now_ms + for_ms))
            record = CoordinatorRecord(RenewalKey(name), RenewalValue(lease.expires_ms))
        else:
            lease = Lease(owner, known.token + 1, now_ms + for_ms)
            record = lease_record(name, lease)
        return CoordinatorResult(lease, [record], self._arm_if_written(name))

    def _expire(self, name: str) -> CoordinatorResult[None]:
        """Nobody has it any more, if its time is over."""
        lease = self._leases.get(name)
        if lease is None or lease.owner == NOBODY:
            return CoordinatorResult(None)
        if lease.expires_ms > self._clock.wall_ms():
            self._arm(name)
            return CoordinatorResult(None)
        return CoordinatorResult(None, [lease_record(name, lease._replace(owner=NOBODY))])

    # Read operations

    def lease(self, committed_offset: int, name: str) -> Lease | None:
        """One lease, also when nobody has it."""
        return self._leases.get_at(name, committed_offset)

    def leases(self, committed_offset: int) -> dict[str, Lease]:
        """All by name, sorted."""
        return dict(sorted(self._leases.items_at(committed_offset)))

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """The sum over the names."""
        items = {
            name: item_digest(name.encode(), repr(tuple(lease)).encode()) for name, lease in self.leases(committed_offset).items()
        }
        parts = {name: digest_text(item) for name, item in items.items()} if with_parts else {}
        return StateDigest(committed_offset, digest_text(sum(items.values())), parts)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key, record.value:
            case LeaseKey(name=name), LeaseValue(owner=owner, token=token, expires_ms=expires_ms):
                self._leases[name] = Lease(owner, token, expires_ms)
            case LeaseKey(name=name), None:
                self._leases.pop(name, None)
            case RenewalKey(name=name), RenewalValue(expires_ms=expires_ms):
                self._leases[name] = self._leases[name]._replace(expires_ms=expires_ms)

    def on_loaded(self) -> None:
        """What ran out meanwhile expires at once."""
        for name in self.leases(LATEST):
            self._arm(name)

    def plain_records(self) -> None:
        """Too few records for a shortcut."""

    def on_unloaded(self) -> None:
        """The runtime drops the timers."""

    def _arm_if_written(self, name: str) -> partial[None]:
        return partial(self._after_append, name)

    def _after_append(self, name: str, error: ErrorCode | None) -> None:
        if error is None:
            self._arm(name)

    def _arm(self, name: str) -> None:
        lease = self._leases.get(name)
        if lease is None or lease.owner == NOBODY:
            self._timer.cancel(name)
        else:
            self._timer.schedule(name, max(0, lease.expires_ms - self._clock.wall_ms()), partial(self._expire, name), RETRY_MS)


def lease_record(name: str, lease: Lease) -> CoordinatorRecord:
    """All of a lease."""
    return CoordinatorRecord(LeaseKey(name), LeaseValue(*lease))
