"""Request-time quotas: the answer comes at once and says how long to wait, and the connection is not read for as long (KIP-219)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.exchange.api_row import ApiRow, observed, serve_row
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES, Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.request_log import RequestLine
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.guard.metering import NS_PER_BYTE, Metering
from coordinator_server.server.guard.quota_limits import QuotaLimits
from coordinator_server.server.guard.request_quotas import Meter, MeteredDispatcher, RequestQuotas
from coordinator_server.server.wire.connection import Limits
from coordinator_server.server.wire.sampled_rate import MOST_RATES, Windows
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.cluster_metadata import ClientQuotaRecord, EntityData
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.schema import fields_of
from tests.support.api_requests import request_of
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop

HEARTBEAT, WRITE_TXN_MARKERS = 12, 27
ROW_OF = {row.request.kafka.key: row for row in ROWS}
MS = 1_000_000
# Of ten seconds, the whole windows that are assumed at the start.
PERCENT_MS = 100


class Loop:
    """A loop with quotas, and a handler that takes ``work_ms`` of it and answers, unless it is ``parking``."""

    def __init__(self, *quotas: tuple[dict[str, str | None], float], key: int = HEARTBEAT, logs_requests: bool = False) -> None:
        self.clock = ManualClock()
        self.queue = TimerQueue()
        self.loop = ManualLoop()
        self.quotas = RequestQuotas(Windows(11, 1000), self.clock.now_ms)
        records = [ClientQuotaRecord([EntityData(*each) for each in entity.items()], "q", limit) for entity, limit in quotas]
        self.quotas.limits = QuotaLimits(records, "q")
        timers = ShardTimers(self.queue, self.clock, self._fire)
        meter = Meter(self.quotas, timers, lambda: self.ns)
        self.ns = 0
        self.work_ms = 0.0
        # Of the thread: to decode a large request, and to encode its answer.
        self.decode_ms = self.encode_ms = 0.0
        self.key = key
        self.version = APIS[key].versions[-1]
        self.handled = 0
        self.parked: list[Exchange[Any]] = []
        self.is_parking = False
        self.steps = Steps(self.loop.turns)
        metering = Metering(meter, self.loop.background)
        rows = metering.observed([self._in_thread(serve_row(ROW_OF[key], self._handle))])
        rows = observed(rows, RequestLine) if logs_requests else rows
        dispatcher = Dispatcher(rows, self.loop.background, run_large=metering.run_large)
        self.dispatch = MeteredDispatcher(dispatcher, meter)
        self.connection, self.transport = self.loop.connect(self.dispatch, Limits(1 << 24, 100))

    def _in_thread(self, api: ApiRow[Any, Any]) -> ApiRow[Any, Any]:
        """Return an API whose codecs take time of the thread."""

        def decode(version: int, buf: bytes, pos: int) -> Any:
            self.loop.thread_ns += int(self.decode_ms * MS)
            return api.decode[version](buf, pos)

        def encode(version: int, response: Any, out: bytearray) -> None:
            self.loop.thread_ns += int(self.encode_ms * MS)
            api.encode[version](response, out)

        versions = range(len(api.decode))
        return replace(
            api, decode=[partial(decode, each) for each in versions], encode=[partial(encode, each) for each in versions]
        )

    def _fire(self, timer: Timer) -> None:
        timer.operation()

    def _handle(self, context: RequestContext, request: Message, reply: Exchange[Any]) -> None:
        self.handled += 1
        self.ns += int(self.work_ms * MS)
        if self.is_parking:
            self.parked.append(reply)
        else:
            reply.fail(ErrorCode.REBALANCE_IN_PROGRESS)

    def send(self, work_ms: float, times: int = 1, client_id: str = "c", request: Message | None = None) -> None:
        self.work_ms = work_ms
        frame = encode_request(self.key, self.version, 7, client_id, request or request_of(APIS[self.key].name, self.version))
        self.connection.data_received(frame * times)

    def answers(self) -> list[Any]:
        """The answers that have come."""
        self.loop.work()
        frames = FrameSplitter(1 << 20).feed(b"".join(self.transport.writes))
        self.transport.writes.clear()
        return [decode_response(self.key, self.version, frame)[1] for frame in frames]

    def throttled(self, work_ms: float) -> int:
        """Send a request, and return what its answer says."""
        self.send(work_ms)
        [answer] = self.answers()
        throttle_ms: int = answer.throttle_time_ms
        return throttle_ms

    def advance(self, ms: int) -> None:
        self.clock.advance(ms)
        self.queue.run(self.clock.now_ms())


EVERYBODY: dict[str, str | None] = {"client-id": None}


def test_within_the_quota_nobody_waits() -> None:
    loop = Loop((EVERYBODY, 10.0))

    assert loop.throttled(10 * PERCENT_MS) == 0
    assert loop.connection.is_reading


def test_above_it_the_answer_comes_at_once_and_the_next_request_later() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.send(10.2 * PERCENT_MS, times=3)

    [answer] = loop.answers()
    assert (answer.throttle_time_ms, answer.error_code) == (200, ErrorCode.REBALANCE_IN_PROGRESS)
    assert (loop.handled, loop.connection.is_reading) == (1, False)
    loop.work_ms = 0
    loop.advance(199)
    assert (loop.handled, loop.connection.is_reading) == (1, False)
    loop.clock.advance(10_000)  # the time is no longer above the quota
    loop.advance(1)
    assert (loop.handled, loop.connection.is_reading) == (3, True)
    assert [answer.throttle_time_ms for answer in loop.answers()] == [0, 0]


def test_nobody_waits_for_longer_than_a_window() -> None:
    assert Loop((EVERYBODY, 10.0)).throttled(100 * PERCENT_MS) == 1000


def test_a_client_without_a_quota_does_not_wait() -> None:
    assert Loop(({"client-id": "other"}, 10.0)).throttled(100 * PERCENT_MS) == 0


def test_a_user_is_the_name_of_the_principal() -> None:
    loop = Loop(({"user": "CN=ann:x"}, 10.0))
    loop.connection.principal = "User:CN=ann:x"

    assert loop.throttled(11 * PERCENT_MS) == 1000


def test_clients_of_one_id_share_a_quota_and_others_have_their_own() -> None:
    loop = Loop((EVERYBODY, 10.0))
    for client_id, times in (("a", 1), ("b", 1), ("a", 1)):
        loop.send(9 * PERCENT_MS, times, client_id)

    assert [answer.throttle_time_ms for answer in loop.answers()] == [0, 0, 1000]


def test_the_work_of_a_request_that_waits_counts_when_it_is_answered() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.is_parking = True
    loop.send(11 * PERCENT_MS)
    assert loop.connection.is_reading
    loop.parked[0].complete(HeartbeatResponse())

    assert [answer.throttle_time_ms for answer in loop.answers()] == [1000]


def test_what_is_done_after_the_answer_counts_for_the_next_one() -> None:
    loop = Loop((EVERYBODY, 10.0))

    def answer_first(context: RequestContext, request: Message, reply: Exchange[Any]) -> None:
        reply.complete(HeartbeatResponse())
        loop.ns += 11 * PERCENT_MS * MS

    meter = loop.dispatch._meter
    metering = Metering(meter, loop.loop.background)
    dispatcher = Dispatcher(metering.observed([serve_row(ROW_OF[HEARTBEAT], answer_first)]), loop.loop.background)
    loop.connection.dispatch_with(MeteredDispatcher(dispatcher, meter), 1 << 24)

    assert [loop.throttled(0), loop.throttled(0)] == [0, 1000]


def test_steps_count_too() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.is_parking = True
    loop.send(0)
    [reply] = loop.parked
    reply.worked(11 * PERCENT_MS * MS)

    def work() -> Any:
        yield
        return HeartbeatResponse()

    loop.steps.run(reply, work())
    assert [answer.throttle_time_ms for answer in loop.answers()] == [1000]


def test_a_large_request_is_answered_with_the_time_of_its_handler() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.is_parking = True
    loop.send(0, request=LARGE)
    loop.loop.work()
    [reply] = loop.parked
    assert reply.is_large
    reply.worked(11 * PERCENT_MS * MS)
    reply.fail(ErrorCode.INVALID_GROUP_ID)

    assert [(answer.throttle_time_ms, answer.error_code) for answer in loop.answers()] == [(1000, ErrorCode.INVALID_GROUP_ID)]


LARGE = HeartbeatRequest("g" * 30_000, 1, "m" * (LARGE_FRAME_BYTES - 30_000))


def test_the_thread_that_decodes_a_large_request_counts() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.decode_ms = 11 * PERCENT_MS
    loop.send(0, request=LARGE)

    assert [answer.throttle_time_ms for answer in loop.answers()] == [1000]
    assert not loop.connection.is_reading


def test_the_thread_that_encodes_a_large_answer_counts_for_the_next_one() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.encode_ms = 11 * PERCENT_MS
    loop.send(0, request=LARGE)

    assert [answer.throttle_time_ms for answer in loop.answers()] == [0]
    assert loop.throttled(0) == 1000


def test_a_large_request_starts_when_its_client_is_within_its_quota() -> None:
    """Also on a connection that was not muted; others do not wait, and what is small starts at once."""
    loop = Loop((EVERYBODY, 10.0))
    loop.send(20 * PERCENT_MS)
    assert [answer.throttle_time_ms for answer in loop.answers()] == [1000]
    loop.connection, loop.transport = loop.loop.connect(loop.dispatch, Limits(1 << 24, 100))
    loop.send(0, request=LARGE)
    assert loop.answers() == []
    loop.connection, loop.transport = loop.loop.connect(loop.dispatch, Limits(1 << 24, 100))
    loop.send(0, client_id="other", request=LARGE)
    assert len(loop.answers()) == 1
    handled = loop.handled
    for _ in range(9):
        loop.advance(1000)
        loop.loop.work()
    assert loop.handled == handled
    for _ in range(3):
        loop.advance(1000)
        loop.loop.work()

    assert loop.handled == handled + 1


def test_connections_of_a_client_start_no_more_large_requests_together_than_its_quota_has_room_for() -> None:
    size = len(encode_request(HEARTBEAT, 4, 7, "c", LARGE))
    room_for_two = 1.5 * size * NS_PER_BYTE / (PERCENT_MS * MS)
    loop = Loop((EVERYBODY, room_for_two))
    for _ in range(10):
        loop.connection, loop.transport = loop.loop.connect(loop.dispatch, Limits(1 << 24, 100))
        loop.send(0, request=LARGE)

    assert len(loop.loop.jobs) == 2


def test_the_estimate_of_a_large_request_is_replaced_by_what_it_took() -> None:
    size = len(encode_request(HEARTBEAT, 4, 7, "c", LARGE))
    loop = Loop((EVERYBODY, 1.5 * size * NS_PER_BYTE / (PERCENT_MS * MS)))
    waits = []
    for _ in range(10):
        loop.send(0, request=LARGE)
        waits += [answer.throttle_time_ms for answer in loop.answers()]

    assert waits == [0] * 10


@pytest.mark.parametrize("ending", ["closed", "malformed"])
def test_the_thread_counts_for_a_large_request_that_gets_no_answer(ending: str) -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.decode_ms = 11 * PERCENT_MS
    frame = encode_request(loop.key, loop.version, 7, "c", LARGE)
    if ending == "malformed":
        frame = frame[:-2] + b"\xff\xff"
    loop.connection.data_received(frame)
    if ending == "closed":
        loop.connection.connection_lost(None)
    assert loop.answers() == []
    loop.connection, loop.transport = loop.loop.connect(loop.dispatch, Limits(1 << 24, 100))

    assert loop.throttled(0) == 1000


def test_requests_of_brokers_are_not_throttled() -> None:
    loop = Loop((EVERYBODY, 0.001), key=WRITE_TXN_MARKERS)
    loop.send(100 * PERCENT_MS)

    assert len(loop.answers()) == 1
    assert loop.connection.is_reading


def test_a_connection_that_ends_while_it_waits_is_forgotten() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.send(11 * PERCENT_MS, times=2)
    loop.connection.connection_lost(None)
    loop.advance(1000)

    assert loop.handled == 1


def test_a_connection_that_closes_while_it_waits_runs_nothing_more() -> None:
    loop = Loop((EVERYBODY, 10.0))
    loop.send(11 * PERCENT_MS, times=2)
    loop.connection.close()
    loop.advance(1000)

    assert loop.handled == 1


def test_requests_are_logged_as_without_quotas() -> None:
    loop = Loop((EVERYBODY, 10.0), logs_requests=True)
    with capture_logs() as lines:
        loop.throttled(11 * PERCENT_MS)

    assert [(line["event"], line["api"], line["error"]) for line in lines] == [("request", "Heartbeat", "REBALANCE_IN_PROGRESS")]


def test_the_rates_that_are_remembered_are_limited() -> None:
    quotas = RequestQuotas(Windows(11, 1000), ManualClock().now_ms)
    quotas.limits = QuotaLimits([ClientQuotaRecord([EntityData("client-id", None)], "q", 10.0)], "q")
    for number in range(MOST_RATES + 5):
        quotas.record(RequestContext(f"c{number}", "", HEARTBEAT, 4), 11 * PERCENT_MS * MS)

    assert len(quotas._rates) == MOST_RATES
    assert quotas.record(RequestContext("c0", "", HEARTBEAT, 4), 1) == 0
    assert quotas.record(RequestContext(f"c{MOST_RATES}", "", HEARTBEAT, 4), 1) == 1000


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.request.__name__.removesuffix("Request"))
def test_every_answer_that_has_the_field_says_it_and_nothing_else_changes(row: ApiRow[Any, Any]) -> None:
    key = row.request.kafka.key
    api = APIS[key]
    if api.name == "WriteTxnMarkers":
        return
    for version in api.versions:
        found = []
        for work_ms in (0, 100 * PERCENT_MS):
            loop = Loop((EVERYBODY, 10.0), key=key)
            loop.version = version
            loop.send(work_ms)
            found += loop.answers()
        plain, throttled = found
        if hasattr(plain, "throttle_time_ms") and version in _versions(row.response):
            assert throttled.throttle_time_ms == 1000
            throttled.throttle_time_ms = 0
        assert throttled == plain


def _versions(response: type[Message]) -> Any:
    [field] = [each for each in fields_of(response) if each.name == "throttle_time_ms"]
    return field.versions
