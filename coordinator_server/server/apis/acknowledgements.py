"""The acknowledgements of ShareFetch and ShareAcknowledge: valid or not, they are about records that were delivered to no member.

The checks are Kafka's (``KafkaApis.validateAcknowledgementBatches``, ``SharePartition.acknowledge``), in Kafka's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from coordinator_server.security.authorizer import Verdicts
from coordinator_server.server.apis.lists import UNITS_PER_STEP, StepBudget
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.share_sessions import ShareSession
from protocol.error_codes import ErrorCode

FIRST_WITH_RENEWAL: Final = 2
RENEW: Final = 4
_LAST_TYPE: Final = {1: 3, FIRST_WITH_RENEWAL: RENEW}
_TYPES_PER_UNIT: Final = 64
_TYPES_PER_STEP: Final = UNITS_PER_STEP * _TYPES_PER_UNIT


class Batch(Protocol):
    """The acknowledgement of a range of offsets: one type for all of them, or one for each."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


class Partition(Protocol):
    """A partition of a request, with its acknowledgements."""

    @property
    def partition_index(self) -> int: ...

    @property
    def acknowledgement_batches(self) -> Sequence[Batch]: ...


class Topic(Protocol):
    """A topic of a request."""

    @property
    def topic_id(self) -> bytes: ...

    @property
    def partitions(self) -> Sequence[Partition]: ...


class Rules(NamedTuple):
    """What a request may acknowledge: the version of its API, and whether it says that it renews."""

    version: int
    is_renewal: bool


class Outcome(NamedTuple):
    """The answer to the acknowledgements of one partition."""

    error: ErrorCode
    message: str | None = None


Outcomes: TypeAlias = dict[bytes, dict[int, Outcome]]
"""The answers by topic id and partition."""

DONE: Final = Outcome(ErrorCode.NONE)
_NOT_FETCHED: Final = Outcome(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
_NOT_ACQUIRED: Final = Outcome(
    ErrorCode.INVALID_RECORD_STATE, "Batch record not found. The request batch offsets are not found in the cache."
)


def have_acknowledgements(topics: Iterable[Topic]) -> Work[bool]:
    """Return whether a request acknowledges anything. In steps."""
    budget = StepBudget()
    for topic in topics:
        for start in range(0, len(topic.partitions), UNITS_PER_STEP):
            portion = topic.partitions[start : start + UNITS_PER_STEP]
            if any(each.acknowledgement_batches for each in portion):
                return True
            if budget.spend(len(portion) // 4):
                yield
        if budget.spend(1):
            yield
    return False


def acknowledge(
    node: Node, session: ShareSession, topics: Iterable[Topic], rules: Rules, readable: Verdicts | None
) -> Work[Outcomes]:
    """Answer the acknowledgements of a request. In steps. ``readable`` says of which topics there may be some; None: of all.

    If no partition has any that are valid, those without acknowledgements get no answer, as in Kafka.
    """
    outcomes: Outcomes = {}
    has_valid = False
    budget = StepBudget()
    for topic in topics:
        known = node.image.topic_by_id(topic.topic_id)
        count = known.partitions if known is not None else 0
        of_topic = outcomes.setdefault(topic.topic_id, {}) if topic.partitions else {}
        for each in topic.partitions:
            index, batches = each.partition_index, each.acknowledgement_batches
            if known is None:
                outcome = Outcome(ErrorCode.UNKNOWN_TOPIC_ID)
            elif not (yield from _are_valid(batches, rules, budget)):
                outcome = Outcome(ErrorCode.INVALID_REQUEST)
            elif readable is not None and not readable[known.name]:
                outcome = Outcome(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            elif not 0 <= index < count:
                outcome = Outcome(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            elif not batches:
                outcome = DONE
            else:
                has_valid = True
                outcome = _outcome(batches) if session.has_fetched(topic.topic_id, index) else _NOT_FETCHED
            of_topic[index] = outcome
            if budget.spend(1):
                yield
        if budget.spend(1):
            yield
    if not has_valid:
        yield from _drop_done(outcomes, budget)
    return outcomes


def _are_valid(batches: Sequence[Batch], rules: Rules, budget: StepBudget) -> Work[bool]:
    last_type = _LAST_TYPE[rules.version]
    end = -1
    for each in batches:
        types = each.acknowledge_types
        span = each.last_offset - each.first_offset
        if span < 0 or each.first_offset < end or not types or (len(types) > 1 and span != len(types) - 1):
            return False
        for start in range(0, len(types), _TYPES_PER_STEP):
            some = types if len(types) <= _TYPES_PER_STEP else types[start : start + _TYPES_PER_STEP]
            if min(some) < 0 or max(some) > last_type or (RENEW in some and not rules.is_renewal):
                return False
            if budget.spend(1 + len(some) // _TYPES_PER_UNIT):
                yield
        end = each.last_offset
    return True


def _outcome(batches: Sequence[Batch]) -> Outcome:
    """Return the answer for valid batches. All partitions begin and end at offset 0, so only what is before it is done."""
    return DONE if batches[-1].last_offset < 0 else _NOT_ACQUIRED


def _drop_done(outcomes: Outcomes, budget: StepBudget) -> Work[None]:
    for topic_id, of_topic in list(outcomes.items()):
        left = {index: outcome for index, outcome in of_topic.items() if outcome is not DONE}
        outcomes[topic_id] = left
        if not left:
            del outcomes[topic_id]
        if budget.spend(1 + len(of_topic)):
            yield
