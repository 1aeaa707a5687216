"""CoordinatorRuntime: runs operations on shards one at a time, and sends each response when the records behind it are durable.

The steps of a write operation, all on one loop and without a task, future or timer:

1. ``write`` finds the ACTIVE shard and calls the operation. If the shard is not ACTIVE it refuses the request: with
   COORDINATOR_LOAD_IN_PROGRESS while LOADING (a client of a node waits first, arrivals.py), otherwise with NOT_COORDINATOR.
2. The runtime replays the result's records into the shard and adds them to the shard's open batch. The response waits for
   their end offset. A refusal (CoordinatorError) waits for the records before it.
3. At the end of the turn the Flusher submits the batches of all shards together.
4. When they are durable, the high watermark advances and the waiting responses up to it are sent.

After Kafka's ``CoordinatorRuntime``. There is no append queue or event thread: the loop is both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar, TypeVarTuple

import structlog
from msgspec.structs import replace

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import TIMER_ORIGIN, Origin, operation_headers
from coordinator_server.machine.shard import (
    Answered,
    CoordinatorResult,
    CoordinatorShard,
    Deferred,
    Producer,
    Reply,
    RequestContext,
)
from coordinator_server.runtime.arrivals import NO_ARRIVALS
from coordinator_server.runtime.clock_alarm import ClockAlarm
from coordinator_server.runtime.context import Progress, ShardContext, ShardState
from coordinator_server.runtime.deferred import DeferredEvent, refusing
from coordinator_server.runtime.errors import TooLarge, error_for
from coordinator_server.runtime.flush import ADAPTIVE, answer_events
from coordinator_server.runtime.gather import Gather, Refused
from coordinator_server.runtime.loader import ShardLoader
from coordinator_server.runtime.outbox import OnOutcome, report_both
from coordinator_server.runtime.producers import (
    KAFKAS_TIMES,
    ActiveProducer,
    Claim,
    EndOfTransaction,
    ProducerTimes,
    ProducerWatch,
)
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.services import BuildShard, LoopServices, shard_services
from coordinator_server.runtime.timers import ShardTimers, Timer
from protocol.coordinator_records import RecordSerde
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError

log = structlog.get_logger(__name__)

S = TypeVar("S", bound=CoordinatorShard)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Q = TypeVar("Q")
Q_contra = TypeVar("Q_contra", contravariant=True)
Ts = TypeVarTuple("Ts")


class WriteOperation(NamedTuple, Generic[S, Q_contra, R_co]):
    """A method of a shard, with its stable name in logs and metrics."""

    name: str
    call: Callable[[S, RequestContext, Q_contra, Reply[R_co]], CoordinatorResult[R_co]]


class CoordinatorRuntime(Generic[S]):
    """All shards of one kind (one internal topic) that this loop hosts."""

    def __init__(  # noqa: PLR0913 - settings with names
        self,
        topic: str,
        serde: RecordSerde,
        build: BuildShard[S],
        services: LoopServices,
        *,
        max_batch_bytes: int,
        append_linger_ms: int = ADAPTIVE,
        coalesces: bool = False,
        producer_times: ProducerTimes = KAFKAS_TIMES,
        has_deadlines: bool = True,
    ) -> None:
        self.topic = topic
        self._has_deadlines, self._arrivals = has_deadlines, services.arrivals if has_deadlines else NO_ARRIVALS
        self._producer_watch = ProducerWatch(producer_times, services.clock.wall_ms)
        self._serde = serde
        self._build = build
        self._services = services
        self._max_batch_bytes = max_batch_bytes
        self._coalesces = coalesces
        self._append_linger_ms = append_linger_ms
        self._is_closed = self._is_suspended = False
        self._clock_alarm = ClockAlarm()
        self._contexts: dict[int, ShardContext[S]] = {}

    # Operations

    def write(
        self,
        partition: int,
        operation: WriteOperation[S, Q, R],
        context: RequestContext,
        request: Q,
        reply: Reply[R],
        claim: Claim | None = None,
    ) -> Repeat | None:
        """Run a write operation. ``reply`` is answered when the outcome is durable, possibly before this returns.

        With a claim, the records form a separate batch of its producer's open transaction. Returns what answers the same request
        of the same client once more, if the operation has a short way to that.
        """
        shard = self._contexts.get(partition)
        if shard is None or shard.state is not ShardState.ACTIVE:
            again = None if claim is not None else partial(self.write, partition, operation, context, request, reply)
            self._arrivals.receive(ShardId(self.topic, partition), shard, context, again, reply)
            return None
        try:
            result = operation.call(shard.shard, context, request, reply)
        except CoordinatorError as refused:
            self._take_result(operation.name, shard, CoordinatorResult(None), refusing(reply, refused), context)
        except Exception:
            log.exception("operation-failed", operation=operation.name, shard=str(shard.id))
            reply.fail(ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            self._take_result(operation.name, shard, result, reply, context, claim)
            if result.again is not None:
                return Repeat(shard, result.again, result.response)
        return None

    def write_all(
        self,
        operation: WriteOperation[S, Q, R],
        context: RequestContext,
        request: Q,
        gathered: Callable[[list[R | Refused]], None],
    ) -> None:
        """Run a write operation on every shard, and call ``gathered`` with the answers, by partition, after the last one.

        A refusal or failure of one shard does not affect the others. ``gathered`` may be called before this returns.
        """
        partitions = sorted(self._contexts)
        gather = Gather(len(partitions), gathered)
        for place, partition in enumerate(partitions):
            self.write(partition, operation, context, request, gather.reply(place))

    def claim(self, partition: int, producer: Producer, *, bumps_epoch: bool) -> Claim:
        """Return a claim for ``write``. Unless it is open, the caller then has the transaction coordinator verify the transaction.

        ``bumps_epoch`` is whether the producer gets an epoch with each end of a transaction. Raises CoordinatorError.
        """
        return self._active(partition).producers.claim(producer, bumps_epoch=bumps_epoch)

    def complete_transaction(self, partition: int, end: EndOfTransaction, reply: Reply[bool], has_deadline: bool = False) -> None:
        """End a producer's transaction in one shard. A client's marker has a deadline.

        ``reply`` is answered when the marker is durable, with whether the producer had written anything in the transaction.
        """
        try:
            shard = self._active(partition)
            had_records = shard.producers.has_open(end.producer.id)
            shard.end_transaction(end, self._services.clock.wall_ms())
        except CoordinatorError as refused:
            reply.fail(refused.error, refused.message)
        except Exception:
            log.exception("replay-failed", operation="complete-transaction", shard=f"{self.topic}-{partition}")
            reply.fail(ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            self._producer_watch.watch(shard.producers, shard.timers)
            shard.deferred.add(DeferredEvent(shard.next_offset, reply, had_records, None, has_deadline))
            self._services.flusher.mark(shard, self._append_linger_ms)

    def read(self, partition: int, operation: Callable[[S, int, *Ts], R], /, *args: *Ts) -> R:
        """Run a read operation on the state at the high watermark and return its result. Raises CoordinatorError."""
        shard = self._active(partition)
        return operation(shard.shard, shard.high_watermark, *args)

    def state(self, partition: int) -> tuple[S, int] | None:
        """Return a shard and its high watermark, also while the lease is over; None if it is not loaded."""
        shard = self._contexts.get(partition)
        return (shard.shard, shard.high_watermark) if shard is not None and shard.is_loaded else None

    def read_repeatable(
        self, partition: int, operation: Callable[[S, int, Q], Answered[R] | None], request: Q
    ) -> tuple[R, Repeat | None] | None:
        """Do the same as ``read``. Return the result, and what answers the same request once more. Raises CoordinatorError."""
        shard = self._active(partition)
        found = operation(shard.shard, shard.high_watermark, request)
        if found is None:
            return None
        response, again = found
        return response, None if again is None else Repeat(shard, again, response)

    def last_stable_offset(self, partition: int) -> int:
        """Return the last stable offset: no open transaction can abort a record before it. Raises CoordinatorError."""
        shard = self._active(partition)
        return shard.producers.last_stable_offset(shard.high_watermark)

    def active_producers(self, partition: int) -> list[ActiveProducer]:
        """Return the transactional producers that a partition's log knows. Raises CoordinatorError."""
        shard = self._active(partition)
        return list(shard.producers.active_at(shard.high_watermark))

    def read_all(self, name: str, operation: Callable[[S, int, *Ts], R], /, *args: *Ts) -> list[R | Refused]:
        """Run a read operation on every shard. A refusal or failure of one shard does not affect the others."""
        answers: list[R | Refused] = []
        for partition in sorted(self._contexts):
            try:
                answers.append(self.read(partition, operation, *args))
            except CoordinatorError as refused:
                answers.append(Refused(refused.error))
            except Exception:
                log.exception("operation-failed", operation=name, shard=str(self._contexts[partition].id))
                answers.append(Refused(ErrorCode.UNKNOWN_SERVER_ERROR))
        return answers

    def _take_result(
        self,
        name: str,
        shard: ShardContext[S],
        result: CoordinatorResult[Any],
        reply: Reply[Any] | None,
        context: RequestContext,
        claim: Claim | None = None,
    ) -> None:
        response, records = result.response, result.records
        has_deadline = self._has_deadlines and context.api_key >= 0
        if isinstance(records, RecordBlock) or records:
            event = DeferredEvent(0, reply, response, result.on_append, has_deadline, result.on_overdue)
            if self._append(name, shard, result, event, context.origin, claim):
                event.offset = shard.next_offset
                shard.deferred.add(event)
            elif result.is_atomic:
                return
            self._services.flusher.mark(shard, self._append_linger_ms)
            return
        needs = shard.next_offset if result.depends_on is None else result.depends_on
        if needs <= shard.high_watermark:
            if result.on_append is not None:
                result.on_append(None)
            if reply is not None and not isinstance(response, Deferred):
                reply.complete(response)
        elif result.on_append is not None or not isinstance(response, Deferred):
            shard.deferred.add(DeferredEvent(needs, reply, response, result.on_append, has_deadline, result.on_overdue))

    def _append(
        self,
        name: str,
        shard: ShardContext[S],
        result: CoordinatorResult[Any],
        event: DeferredEvent,
        origin: Origin | None,
        claim: Claim | None,
    ) -> bool:
        try:
            headers = operation_headers(origin, result.attribution)
            wall_ms = self._services.clock.wall_ms
            if claim is not None:
                shard.append_in_transaction(claim, result.records, wall_ms, self._max_batch_bytes, headers)
                self._producer_watch.watch(shard.producers, shard.timers)
            elif result.is_atomic:
                shard.append(result.records, wall_ms, self._max_batch_bytes, headers)
            else:
                shard.append_each(result.records, wall_ms, self._max_batch_bytes, headers)
        except CoordinatorError as refused:
            answer_events([event], refused.error)
        except TooLarge as refused:
            log.warning("records-refused", operation=name, shard=str(shard.id), why=str(refused))
            answer_events([event], error_for(refused))
        except ProtocolError as refused:
            log.warning("records-refused", operation=name, shard=str(shard.id), why=str(refused))
            answer_events([event], ErrorCode.UNKNOWN_SERVER_ERROR)
        except Exception:
            log.exception("replay-failed", operation=name, shard=str(shard.id))
            # A partial replay can be reverted only together with the whole open batch, whose start has the last snapshot.
            answer_events([*shard.revert_open_batch(), event], ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            return True
        return False

    def _expire(self, shard: ShardContext[S], timer: Timer) -> None:
        if shard.state is ShardState.SUSPENDED or self._services.timers.is_held:
            # Nobody could send a request meanwhile.
            shard.timers.begin_again(timer)
            return
        on_outcome = partial(shard.timers.fired, timer) if timer.retry_ms else None
        self._run_own(shard, TIMER_ORIGIN, "timer", timer.operation, on_outcome)

    def _run_own(
        self,
        shard: ShardContext[S],
        origin: Origin,
        name: str,
        operation: Callable[[], CoordinatorResult[Any]],
        on_outcome: OnOutcome | None,
    ) -> None:
        """Run an operation that no request caused. Catch every error, so that other due operations still run."""
        if shard.state is not ShardState.ACTIVE:
            error = shard.refusal()
        else:
            try:
                result = operation()
                if on_outcome is not None:
                    result = replace(result, on_append=partial(report_both, on_outcome, result.on_append))
                own = RequestContext("", "", -1, 0, origin=origin if self._services.has_provenance else None)
                self._take_result(name, shard, result, None, own)
            except CoordinatorError as refused:
                log.info(
                    "own-operation-refused", operation=name, shard=str(shard.id), error=refused.error.name, why=refused.message
                )
                error = refused.error
            except Exception:
                log.exception("own-operation-failed", operation=name, shard=str(shard.id))
                error = ErrorCode.UNKNOWN_SERVER_ERROR
            else:
                return
        if on_outcome is not None:
            on_outcome(error)

    def _active(self, partition: int) -> ShardContext[S]:
        shard = self._contexts.get(partition)
        if shard is None or shard.state is not ShardState.ACTIVE:
            raise CoordinatorError(shard.refusal() if shard is not None else ErrorCode.NOT_COORDINATOR)
        return shard

    def ownership(self, partition: int) -> Ownership | None:
        """Return a partition with the epoch at which it is loaded here or loading, or None."""
        shard = self._contexts.get(partition)
        return None if shard is None else shard.ownership

    # Life of a shard

    def load(
        self,
        partition: int,
        epoch: int,
        when_loaded: Callable[[ErrorCode], None] | None = None,
        *,
        ours_since: int | None = None,
        when_here: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        """Become the owner of a partition at ``epoch``, and queue the load of its log; if it is not here yet, ``when_here`` does.

        The call is ignored if ``epoch`` is not newer than the known one. Otherwise the shard is unloaded, if it is known, and
        loaded again: another owner may have written to its log. ``ours_since`` is the store's word that from that epoch on
        nobody else has owned the shard: one that is LOADING or ACTIVE since then only takes the newer epoch. ``when_loaded`` is
        called with the outcome of the load, or of the one that replaces it: NOT_COORDINATOR if the shard is unloaded before.
        """
        known = self._contexts.get(partition)
        if self._is_closed or (known is not None and epoch <= known.epoch):
            return
        waiting = [when_loaded] if when_loaded is not None else []
        if known is not None and known.state is not ShardState.FAILED and ours_since is not None and known.epoch >= ours_since:
            known.ownership = Ownership(known.id, epoch)
            known.when_loaded += waiting
            if known.is_loaded:
                known.report_load()
            return
        if known is not None:
            log.info("shard-reloads", shard=str(known.id), epoch=epoch, known_epoch=known.epoch)
            waiting, known.when_loaded = known.when_loaded + waiting, []
            self.unload(partition)
        shard: ShardContext[S] = ShardContext(ShardId(self.topic, partition), epoch, self._serde, coalesces=self._coalesces)
        services = self._services
        shard.timers = ShardTimers(services.timers, services.clock, partial(self._expire, shard), services.silences(shard.id))
        given = shard_services(services, shard, partial(self._run_own, shard))
        shard.shard = self._build(partition=partition, registry=shard.registry, services=given)
        shard.on_fenced = partial(self._fenced, shard)
        shard.when_behind = partial(self._clock_alarm.behind, shard.id)
        self._contexts[partition] = shard
        shard.when_loaded, shard.state = waiting, ShardState.LOADING
        loader = ShardLoader(services.store, shard)
        # A previous context of this partition may have a submit in progress. Its outcome must be known before the log is read.
        (when_here or services.flusher.after_submit)(lambda: services.loads.add(partial(self._load_step, shard, loader)))

    def after_loads(self, call: Callable[[], None]) -> None:
        """Call ``call`` when every load that was queued is over: now, if none is; or when the last of their shards is unloaded."""
        loading = [shard for shard in self._contexts.values() if shard.state is ShardState.LOADING]
        if loading:
            # Loads run in their order.
            loading[-1].when_loaded.append(lambda _: call())
        else:
            call()

    def suspend(self, is_over: bool) -> None:
        """Refuse all operations while the lease of the shards is over. A lease that is won back gives timers their whole time."""
        self._is_suspended = is_over
        for shard in self._contexts.values():
            shard.suspend(is_over)
        if not is_over:
            self._services.timers.grant_fresh_start(self._services.clock.now_ms())

    def unload(self, partition: int, epoch: int | None = None) -> None:
        """Unload a partition and refuse its waiting requests. An ``epoch`` that is not newer than the known one is ignored."""
        known = self._contexts.get(partition)
        if known is not None and (epoch is None or epoch > known.epoch):
            del self._contexts[partition]
            self._close(known)
            known.report_load()

    def close(self) -> None:
        """Unload all partitions and accept no more. Idempotent."""
        self._is_closed = True
        for partition in list(self._contexts):
            self._close(self._contexts.pop(partition))

    @property
    def progress(self) -> list[Progress]:
        """The state and the load progress of each known shard."""
        return [Progress(shard.id, shard.state, shard.records_loaded) for shard in self._contexts.values()]

    @property
    def records_loaded(self) -> int:
        """The number of records that the loads of all known shards have read so far."""
        return sum(shard.records_loaded for shard in self._contexts.values())

    def _load_step(self, shard: ShardContext[S], loader: ShardLoader) -> bool:
        """Run one step of a load. Return whether the load is over."""
        if shard.state is not ShardState.LOADING:
            return True
        try:
            if not loader.step():
                return False
            shard.has_soft_state = True
            shard.shard.on_loaded()
        except Exception as failure:
            is_ours = not isinstance(failure, LogError | ProtocolError)
            log.error("shard-load-failed", shard=str(shard.id), epoch=shard.epoch, why=str(failure), exc_info=is_ours)
            shard.state = ShardState.FAILED
            self._release(shard)
        else:
            shard.state = ShardState.ACTIVE
            shard.suspend(self._is_suspended)
            self._producer_watch.watch(shard.producers, shard.timers)
            shard.when_behind(shard.last_ms, self._services.clock.wall_ms())
            log.debug(
                "shard-loaded", shard=str(shard.id), epoch=shard.epoch, records=shard.records_loaded, offset=shard.next_offset
            )
        shard.report_load()
        return True

    def _fenced(self, shard: ShardContext[S]) -> None:
        """Unload a shard that a different process owns: all its state, reads and heartbeats included, is stale."""
        if self._contexts.get(shard.id.partition) is shard:
            log.error("shard-fenced", shard=str(shard.id), epoch=shard.epoch, action="the shard is given up")
            self.unload(shard.id.partition)

    def _close(self, shard: ShardContext[S]) -> None:
        shard.state = ShardState.CLOSED
        self._release(shard)

    def _release(self, shard: ShardContext[S]) -> None:
        """Stop everything of a shard. Timers come last: an operation that is refused may begin to wait for another attempt."""
        for effects in shard.effects:
            effects.close()
        self._services.flusher.forget(shard)
        answer_events(shard.deferred.take_after(-1), ErrorCode.NOT_COORDINATOR)
        if shard.has_soft_state:
            shard.has_soft_state = False
            try:
                shard.shard.on_unloaded()
            except Exception:
                log.exception("unload-failed", shard=str(shard.id))
        shard.timers.cancel_all()
