"""The differences of docs/differences.md that two servers on one machine can show, and how each is recognised.

A difference is either that only one of the servers answers a request (the script goes on), or that answers are not the same (it
ends there, since what follows differs, too).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from protocol.error_codes import ErrorCode
from tests.differential.wire import Sent
from tests.support.oracle import Value

# Of the first member of a consumer group.
_FIRST_EPOCHS: Final = (1, 2)


_NO_CONVERSION: Final = {ErrorCode.GROUP_MAX_SIZE_REACHED, ErrorCode.UNKNOWN_SERVER_ERROR}


class Unlike(NamedTuple):
    """One field of an answer, or of a group's state."""

    path: str
    ours: Any
    kafka: Any


class Step(NamedTuple):
    """What there is to judge by: a request on both sides, the request of the step, and the fields that are unlike."""

    line: str
    ours: Sent
    kafka: Sent
    asked: Sent
    kafka_said: Value | None
    unlike: list[Unlike]
    before: list[str]

    @property
    def has_refused_metadata(self) -> bool:
        return any("/long" in line for line in self.before)


def _never(step: Step) -> bool:
    return False


def _shows_undecided_counts(step: Step) -> bool:
    return step.asked.api == "streamers" and all(each.path.endswith(".partitions") and each.kafka == 0 for each in step.unlike)


def _orders_subtopologies_by_table(step: Step) -> bool:
    return step.asked.api == "stream" and all("Tasks[" in each.path for each in step.unlike) and "11:" in step.before[0]


def _counts_a_member_without_topics(step: Step) -> bool:
    """Row 87: it joins, and computes the target: on Kafka's side it gets partitions, or others lose theirs."""
    client = step.line.split()[0]
    # One that joins names the topics that it named last. Its epoch is 0 as well if it has left or has not come in before.
    named = [word for line in step.before if line.split()[0] == client for word in line.split() if word.startswith("topics=")]
    may_join = "epoch=" not in step.line or "epoch=0" in step.line
    members = [each for each in step.unlike if isinstance(each.ours, dict) and isinstance(each.kafka, dict)]
    has_targets_apart = any(("target" in each.ours) != ("target" in each.kafka) for each in members)
    return step.asked.api == "beat" and may_join and named[-1:] == ["topics="] and has_targets_apart


def _gives_tasks_again(step: Step) -> bool:
    """Row 122: a member has lost an answer, or says so."""
    names = {each.path.rpartition(".")[2] for each in step.unlike}
    said = step.kafka_said or {}
    return step.asked.api == "stream" and names == {"activeTasks", "standbyTasks", "warmupTasks"} and said["activeTasks"] is None


class Known(NamedTuple):
    """One row of the table of docs/differences.md; ``when`` are its words."""

    when: str
    is_parked_apart: Callable[[Step], bool] = _never
    ends_parked_apart: bool = False
    """The client that has an answer does something else than the one that has none, so that the script ends."""
    is_told_apart: Callable[[Step], bool] = _never
    is_told_more: Callable[[Step], bool] = _never
    """Ours says more than Kafka, and nothing else differs: the script goes on."""


def _is_only_ours(step: Step, apis: set[str], error: ErrorCode) -> bool:
    answer = step.ours.answer
    return step.kafka.answer is None and step.ours.api in apis and answer is not None and answer["errorCode"] == error


def _asks_again(step: Step) -> bool:
    """Row 1: the member of a parked request asks again."""
    return (
        _is_only_ours(step, {"join", "sync"}, ErrorCode.REBALANCE_IN_PROGRESS)
        and step.asked.ordinal != step.ours.ordinal
        and step.asked.member_id == step.ours.member_id
        and step.asked.api in {"join", "sync"}
    )


def _ends_joins_for_nothing(step: Step) -> bool:
    """Row 127: Kafka answers the parked joins for a conversion that is refused then."""
    said, answer = step.kafka_said or {}, step.kafka.answer or {}
    is_refused = step.asked.api == "beat" and said.get("errorCode") in _NO_CONVERSION
    return is_refused and step.ours.answer is None and answer.get("errorCode") == ErrorCode.REBALANCE_IN_PROGRESS


def _leaves_its_sync(step: Step) -> bool:
    """Row 2: the member of a parked SyncGroup leaves."""
    return _is_only_ours(step, {"sync"}, ErrorCode.UNKNOWN_MEMBER_ID) and step.asked.api == "leave"


def _is_known_in_memory_alone(step: Step) -> bool:
    """Row 6: Kafka has an empty group in memory after a refused commit; it is not told of,
    and the join that follows does not write it.
    """
    states = [each for each in step.unlike if each.path.endswith("groupState")]
    return step.asked.api == "join" and step.has_refused_metadata and [each.kafka for each in states] == ["Dead"]


def _reads_subscriptions(step: Step) -> bool:
    """Row 7: a join of consumers whose metadata is no subscription."""
    return _is_told(step, ErrorCode.UNKNOWN_SERVER_ERROR) and any(":!" in line for line in step.before)


def _names_a_protocol_twice(step: Step) -> bool:
    """Row 14: a member names one protocol twice."""
    return _is_told(step, ErrorCode.INCONSISTENT_GROUP_PROTOCOL) and any("=range:b,range:c" in line for line in step.before)


def _is_told(step: Step, error: ErrorCode) -> bool:
    """The join that would complete the phase is refused by Kafka; who waits goes on waiting."""
    said = step.kafka_said or {}
    return step.asked.api == "join" and said.get("errorCode") == error


def _makes_topics(step: Step) -> bool:
    """Row 8: Metadata for a topic that is made by it."""
    errors = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("errorCode")]
    return step.asked.api == "topics" and errors == [(ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]


def _has_only_aborted_offsets(step: Step) -> bool:
    """Row 49: a group after the end of its only transaction."""
    states = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("groupState")]
    has_ended = any(line.startswith(("end ", "init ", "mark ")) for line in step.before)
    return has_ended and set(states) == {("Dead", "Empty")}


def _has_a_newer_marker(step: Step) -> bool:
    """Row 50: an administrator's marker before the end of the transaction has a newer epoch than that end has."""
    states = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("transactionState")]
    is_marked = any(line.startswith("mark ") and " epoch=+1" in line for line in step.before)
    return step.asked.api == "described" and is_marked and states == [("CompleteCommit", "PrepareCommit")]


def _needs_no_rebalance(step: Step) -> bool:
    """Row 5: time has passed after a static member was replaced before it had synced."""
    states = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("groupState")]
    return step.line.startswith("pause ") and states == [("Stable", "PreparingRebalance")]


def _never_expires(step: Step) -> bool:
    """Row 12: a retention time past the end of int64."""
    states = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("groupState")]
    return step.line.startswith("pause ") and states == [("Empty", "Dead")] and step.asked.api == "commit"


def _blames_the_client(step: Step) -> bool:
    """Row 27: IncrementalAlterConfigs with an unknown operation."""
    errors = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("errorCode")]
    return step.asked.api == "alter" and errors == [(ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR)]


def _takes_another_instance(step: Step) -> bool:
    """Row 58: a member of a consumer group joins for the instance that another one had before."""
    errors = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("errorCode")]
    return step.asked.api == "beat" and errors == [(ErrorCode.NONE, ErrorCode.UNRELEASED_INSTANCE_ID)]


def _bounds_an_expression(step: Step) -> bool:
    """Row 63: a regular expression that costs too much."""
    return _refuses_an_expression(step) == (ErrorCode.INVALID_REGULAR_EXPRESSION, ErrorCode.NONE)


def _reads_more_expressions(step: Step) -> bool:
    """Row 64: what only one of two libraries accepts."""
    return _refuses_an_expression(step) == (ErrorCode.NONE, ErrorCode.INVALID_REGULAR_EXPRESSION)


def _refuses_an_expression(step: Step) -> tuple[int, int] | None:
    errors = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("errorCode")]
    return errors[0] if step.asked.api == "beat" and " regex=" in step.line and errors else None


def _forgets_an_empty_group(step: Step) -> bool:
    """Row 65: a classic member with an id has asked to join an empty consumer group,
    and the next record has made Kafka's group a new one.
    """
    has_joined = any(" join " in line for line in step.before)
    gone = [
        each
        for each in step.unlike
        if isinstance(each.ours, dict)
        and each.ours.get("groupState") == "Empty"
        and "epoch" in each.ours.keys() - each.kafka.keys()
    ]
    gone += [
        each for each in step.unlike if (each.ours, each.kafka) == (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)
    ]
    anew = [each for each in step.unlike if each.path.endswith("memberEpoch") and each.ours > each.kafka in _FIRST_EPOCHS]
    return has_joined and bool(gone or anew) and not _takes_part_in_no_rebalance(step)


def _counts_targets_as_owned(step: Step) -> bool:
    """Row 68: a group becomes a consumer group again, and a classic member has other partitions on each side."""
    if step.asked.api != "beat":
        return False
    members = [each for each in step.unlike if isinstance(each.ours, dict) and each.ours.get("protocol") == "classic"]
    return any(each.ours.get("has") != each.kafka.get("has") for each in members if isinstance(each.kafka, dict)) or any(
        each.path.startswith("state.") and each.path.endswith(".has") for each in step.unlike
    )


def _lets_all_join_again(step: Step) -> bool:
    """Row 66: a classic member has taken the place of a static one, and the group is a classic one."""
    states = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("groupState")]
    has_left = any(" epoch=-2" in line for line in step.before)
    return step.asked.api == "join" and has_left and states == [("PreparingRebalance", "Stable")]


def _takes_part_in_no_rebalance(step: Step) -> bool:
    """Row 67: a member takes the place of a static one, and its classic group, which rebalances, becomes a consumer group."""
    epochs = [(each.ours, each.kafka) for each in step.unlike if each.path.endswith("memberEpoch")]
    return step.asked.api == "beat" and " instance=" in step.line and any(ours > kafka for ours, kafka in epochs)


# The one that logs show, not answers.
OUTLIVING: Final = 25
FORGOTTEN: Final = 65

KNOWN: Final[dict[int, Known]] = {
    1: Known(
        "a JoinGroup or SyncGroup is parked, and the same member sends it again",
        is_parked_apart=_asks_again,
    ),
    2: Known(
        "a SyncGroup is parked, and its member leaves",
        is_parked_apart=_leaves_its_sync,
    ),
    5: Known(
        "a static member is replaced in a stable group before it has synced",
        is_told_apart=_needs_no_rebalance,
    ),
    6: Known(
        "a simple commit of which every partition is refused",
        is_told_apart=_is_known_in_memory_alone,
    ),
    7: Known(
        "members of protocol type `consumer` send metadata that is not a subscription",
        is_parked_apart=_reads_subscriptions,
        is_told_apart=_reads_subscriptions,
    ),
    8: Known(
        "Metadata names a topic that auto-creation creates",
        is_told_apart=_makes_topics,
    ),
    12: Known(
        "an OffsetCommit (versions 2-4) whose retention time runs past the end of int64",
        is_told_apart=_never_expires,
    ),
    14: Known(
        "a member names one protocol twice",
        is_parked_apart=_names_a_protocol_twice,
        is_told_apart=_names_a_protocol_twice,
    ),
    27: Known(
        "IncrementalAlterConfigs with an unknown operation",
        is_told_apart=_blames_the_client,
    ),
    49: Known(
        "the only offsets of a group are those of an aborted transaction",
        is_told_apart=_has_only_aborted_offsets,
    ),
    50: Known(
        "a partition refuses the coordinator's own marker: it has seen a newer epoch of the producer, as after a marker that an "
        "administrator wrote",
        is_told_apart=_has_a_newer_marker,
    ),
    58: Known(
        "a static member of a consumer group joins again under a different instance id, and a new member joins with the one that "
        "it had",
        is_told_apart=_takes_another_instance,
    ),
    63: Known(
        "a member subscribes with a regular expression of more than 1,000 characters, of more than 1,000 repetitions within each "
        "other, or that compiles to more than 1 MiB",
        is_told_apart=_bounds_an_expression,
    ),
    64: Known(
        "a member subscribes with a regular expression with `\\C`, with one name for two groups, with a repeated brace "
        "(`{*`), or with an escaped letter beyond ASCII",
        is_told_apart=_reads_more_expressions,
    ),
    FORGOTTEN: Known(
        "a classic member with an id of its own asks to join an empty consumer group",
        is_told_apart=_forgets_an_empty_group,
    ),
    66: Known(
        "a static member comes back as a classic one, the rest of its consumer group is classic, and one of the others has not "
        "reached its target",
        is_told_apart=_lets_all_join_again,
    ),
    67: Known(
        "a classic group rebalances, and a member of the consumer protocol joins it that changes no subscription, because it "
        "takes the place of a static one",
        is_told_apart=_takes_part_in_no_rebalance,
    ),
    68: Known(
        "a consumer group has become classic, and a member of the consumer protocol joins before the others have joined again",
        is_told_apart=_counts_targets_as_owned,
    ),
    87: Known(
        "a member that subscribes to nothing joins a consumer or share group whose target is not computed yet, and its join "
        "computes it",
        is_told_apart=_counts_a_member_without_topics,
    ),
    119: Known(
        "a streams group is described whose members have sent heartbeats since the start of the server, but "
        "none that wrote a record",
        is_told_apart=_shows_undecided_counts,
    ),
    120: Known(
        "two subtopologies of a member have ids with the same place in a hash table, as `0` and `11`",
        is_told_apart=_orders_subtopologies_by_table,
    ),
    122: Known(
        "a member of a streams group has the epoch before, because it has lost an answer, says that it has other tasks than it was "
        "given, or says what it has while it is to give up tasks",
        is_told_more=_gives_tasks_again,
    ),
    127: Known(
        "a member of the consumer protocol is refused by a classic group that rebalances, because the group is full, or an "
        "assignment in it cannot be read",
        is_parked_apart=_ends_joins_for_nothing,
        ends_parked_apart=True,
    ),
    OUTLIVING: Known("the last offset of a group without a record of its own is deleted"),
}
