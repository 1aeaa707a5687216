"""A pass over all share partitions of a shard, in steps between which the loop does other work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from coordinator_server.machine.provenance import Attribution
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer
from coordinator_server.share.partitions import SharePartitions
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

NAMES_PER_STEP: Final = 5_000
"""A step takes about 2 ms if it writes nothing."""
RECORDS_PER_STEP: Final = 500
STEP_INTERVAL_MS: Final = 10
RETRY_MS: Final = 1_000

Visit = Callable[[bytes], CoordinatorRecord | None]
"""Returns the record to write for the share partition of this name, or None. The share partition may not exist any more."""


class Pass:
    """A pass that can be started anew at any time. It is started anew after RETRY_MS if records could not be written.

    ``when_done`` is called at the end of a pass. A pass that is to begin later waits until ``may_begin`` returns true. A step
    leaves out its share partitions if ``may_skip`` returns true for their names.
    """

    def __init__(
        self,
        partitions: SharePartitions,
        timer: CoordinatorTimer,
        key: str,
        visit: Visit,
        when_done: Callable[[], None],
        why: Attribution | None = None,
    ) -> None:
        self._partitions = partitions
        self._timer = timer
        self._key = ("pass", key)
        self._visit = visit
        self._when_done = when_done
        self._why = why
        self.may_begin: Callable[[], bool] = lambda: True
        self.may_skip: Callable[[Sequence[bytes]], bool] = lambda _: False
        # The names of all share partitions, and how many of them are visited.
        self._names: list[bytes] = []
        self._visited = 0

    def begin(self) -> CoordinatorResult[None]:
        """Start the pass, and run its first step."""
        self._names = self._partitions.names()
        self._visited = 0
        return self._step()

    def begin_later(self, delay_ms: int) -> None:
        """Start the pass after a delay."""
        self._timer.schedule(self._key, delay_ms, self._begin_if_ready, RETRY_MS)

    def _begin_if_ready(self) -> CoordinatorResult[None]:
        if self.may_begin():
            return self.begin()
        self.begin_later(RETRY_MS)
        return CoordinatorResult(None)

    def _step(self) -> CoordinatorResult[None]:
        records: list[CoordinatorRecord] = []
        names = self._names[self._visited : self._visited + NAMES_PER_STEP]
        if self.may_skip(names):
            self._visited += len(names)
        else:
            for name in names:
                self._visited += 1
                record = self._visit(name)
                if record is not None:
                    records.append(record)
                    if len(records) == RECORDS_PER_STEP:
                        break
        if self._visited < len(self._names):
            self._timer.schedule(self._key, STEP_INTERVAL_MS, self._step, RETRY_MS)
        else:
            self._names = []
            self._timer.cancel(self._key)
            self._when_done()
        if not records:
            return CoordinatorResult(None)
        return CoordinatorResult(None, records, self._written, is_atomic=False, attribution=self._why)

    def _written(self, error: ErrorCode | None) -> None:
        if error is not None:
            self.begin_later(RETRY_MS)
