"""The metrics of a cluster that is followed, with the names that users of lag exporters have in their dashboards and alerts.

    kminion_kafka_consumer_group_…      those of kminion, with its labels
    kafka_consumergroup_group_…,
    kafka_partition_latest_offset       those of kafka-lag-exporter, with its labels
    coordinator_observed_…              what neither has: verdicts, rebalances, and how old all of this is

All are of one moment of the index. Their number is bounded: partitions are there of the groups that are furthest behind, up to a
number of them, as many topics with members, and all else of MOST_GROUPS groups.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Final, NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from coordinator_server.pipeline.index.tables.activity import Totals, totals
from coordinator_server.pipeline.index.tables.end_offsets import last_sample_ms
from coordinator_server.pipeline.index.tables.lags import indexed_group_lags, lags_now
from coordinator_server.pipeline.index.tables.memberships import Assigned, GroupNow, groups_now
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.lag.lags import GroupLag, Lag
from coordinator_server.pipeline.lag.verdicts import Verdict
from coordinator_server.pipeline.states.shown_group import NamesOfTopics

MOST_GROUPS: Final = 10_000
_KMINION: Final = "kminion_kafka_"
_LAG_EXPORTER: Final = "kafka_consumergroup_group_"
_OURS: Final = "coordinator_observed_"
_MEMBER: Final = ("", "", "")
"""The labels member_host, consumer_id and client_id of kafka-lag-exporter: no commit in Kafka's log says who made it."""
_LagsOfTopics = Sequence[tuple[tuple[str, str], int]]
"""The lag of a group in a topic."""
_VERDICTS: Final = (Verdict.OK, Verdict.WARN, Verdict.ERR)


class Observed(NamedTuple):
    """What the metrics are made of."""

    cluster_id: str
    sampled_ms: int
    groups: Sequence[GroupNow]
    totals: Sequence[tuple[str, Totals]]
    lags: Sequence[GroupLag]
    partitions: Sequence[Lag]
    assigned: Sequence[tuple[str, str, Assigned]]
    left_out: int


def observed(database: sqlite3.Connection, cluster_id: str, most_partitions: int, names: NamesOfTopics = NO_NAMES) -> Observed:
    """Read an index. The partitions are those of the groups that are furthest behind, as many groups as have no more of them.

    Topics of consumer groups and share groups are named by ``names``.
    """
    lags = indexed_group_lags(database)
    chosen: list[str] = []
    left = most_partitions
    ordered = sorted(lags, key=lambda each: (-(each.lag or 0), each.group))
    furthest = [each.group for each in ordered]
    for each in ordered:
        if each.partitions > left:
            break
        left -= each.partitions
        chosen.append(each.group)
    partitions = _partitions(database, chosen)
    groups = list(islice(groups_now(database, names), MOST_GROUPS))
    known = {each.group for each in lags[:MOST_GROUPS]} | {each.group for each in groups}
    done = [(group, found) for group, found in totals(database) if group in known]
    assigned = list(islice(_assigned(groups, furthest), most_partitions))
    left_out = len(lags) - len(chosen)
    return Observed(cluster_id, last_sample_ms(database), groups, done, lags[:MOST_GROUPS], partitions, assigned, left_out)


def _assigned(groups: Sequence[GroupNow], furthest: Sequence[str]) -> Iterator[tuple[str, str, Assigned]]:
    """Yield what groups have of topics: those that are furthest behind first, then those whose lag is unknown."""
    by_name = {each.group: each for each in groups}
    for group in dict.fromkeys([*furthest, *by_name]):
        for topic, each in by_name[group].topics.items() if group in by_name else ():
            yield group, topic, each


def _partitions(database: sqlite3.Connection, groups: Sequence[str]) -> list[Lag]:
    """Return the lags of groups, some hundreds at a time: a statement takes no more names."""
    found: list[Lag] = []
    for first in range(0, len(groups), 500):
        found += lags_now(database, groups[first : first + 500])
    return sorted(found, key=lambda each: (each.group, each.topic, each.partition))


def metrics(found: Observed, now_ms: int) -> Iterator[Metric]:
    """Yield all metrics."""
    by_topic = list(_lags_of_topics(found))
    yield from _of_kminion(found, by_topic)
    yield from _of_lag_exporter(found, by_topic)
    yield from _ours(found, now_ms)


def _of_kminion(found: Observed, by_topic: _LagsOfTopics) -> Iterator[Metric]:
    prefix = f"{_KMINION}consumer_group_"
    yield _gauge(
        f"{prefix}info",
        "1 if the group is stable, otherwise 0.",
        ("group_id", "protocol", "protocol_type", "state", "coordinator_id"),
        ((each.group, each.protocol, each.protocol_type, each.state, "", int(each.state == "Stable")) for each in found.groups),
    )
    yield _gauge(
        f"{prefix}members", "Members of the group.", ("group_id",), ((each.group, each.members) for each in found.groups)
    )
    yield _gauge(
        f"{prefix}empty_members",
        "Members of the group without a partition. A group where each has one has no series.",
        ("group_id",),
        ((each.group, each.empty_members) for each in found.groups if each.empty_members),
    )
    for field, text in (("members", "Members of the group that have"), ("assigned_partitions", "Assigned")):
        yield _gauge(
            f"{prefix}topic_{field}",
            f"{text} partitions of the topic.",
            ("group_id", "topic_name"),
            ((group, topic, getattr(each, field.removeprefix("assigned_"))) for group, topic, each in found.assigned),
        )
    commits = CounterMetricFamily(f"{prefix}offset_commits", "Offsets that the group has committed.", labels=("group_id",))
    for group, each in found.totals:
        commits.add_metric((group,), each.commits)
    yield commits
    labels = ("group_id", "topic_name", "partition_id")
    known = [(each, (each.group, each.topic, str(each.partition))) for each in found.partitions]
    yield _gauge(
        f"{prefix}topic_partition_lag",
        "Records of the partition that the group has not read.",
        labels,
        ((*names, each.lag) for each, names in known if each.lag is not None),
    )
    yield _gauge(
        f"{prefix}topic_lag",
        "Records of the topic that the group has not read.",
        labels[:2],
        ((*key, lag) for key, lag in by_topic),
    )
    yield _gauge(
        f"{prefix}topic_offset_sum",
        "Committed offsets of the group, summed over the partitions of the topic.",
        labels[:2],
        ((*key, sum(each.offset for each in of)) for key, of in groupby(found.partitions, key=attrgetter("group", "topic"))),
    )


def _of_lag_exporter(found: Observed, by_topic: _LagsOfTopics) -> Iterator[Metric]:
    cluster = found.cluster_id
    labels = ("cluster_name", "group", "topic", "partition", "member_host", "consumer_id", "client_id")
    known = [(each, (cluster, each.group, each.topic, str(each.partition), *_MEMBER)) for each in found.partitions]
    texts = {
        "offset": "Committed offset.",
        "lag": "Records that were not read.",
        "lag_seconds": "Age of the first unread record.",
    }
    for name, field in (("offset", "offset"), ("lag", "lag"), ("lag_seconds", "lag_s")):
        samples = ((*names, value) for each, names in known if (value := getattr(each, field)) is not None)
        yield _gauge(_LAG_EXPORTER + name, texts[name], labels, samples)
    largest: dict[str, int] = {}
    for each in found.partitions:
        if each.lag is not None:
            largest[each.group] = max(largest.get(each.group, 0), each.lag)
    of_group = ("cluster_name", "group", "is_simple_consumer")
    members = {each.group for each in found.groups}
    simple = {each.group: str(each.group not in members).lower() for each in found.lags}
    yield _gauge(
        f"{_LAG_EXPORTER}max_lag",
        "Largest lag of a partition of the group.",
        of_group,
        ((cluster, group, simple.get(group, "true"), lag) for group, lag in largest.items()),
    )
    yield _gauge(
        f"{_LAG_EXPORTER}max_lag_seconds",
        "Age of the oldest record that the group has not read.",
        of_group,
        ((cluster, each.group, simple[each.group], each.lag_s) for each in found.lags if each.lag_s is not None),
    )
    yield _gauge(
        f"{_LAG_EXPORTER}sum_lag",
        "Records that the group has not read.",
        of_group[:2],
        ((cluster, each.group, each.lag) for each in found.lags if each.lag is not None),
    )
    yield _gauge(
        f"{_LAG_EXPORTER}topic_sum_lag",
        "Records of the topic that the group has not read.",
        (*of_group[:2], "topic"),
        ((cluster, *key, lag) for key, lag in by_topic),
    )
    ends = {(each.topic, str(each.partition)): each.end_offset for each in found.partitions if each.end_offset is not None}
    yield _gauge(
        "kafka_partition_latest_offset",
        "The end of a partition that a group has committed an offset of.",
        ("cluster_name", "topic", "partition"),
        ((cluster, *key, end) for key, end in ends.items()),
    )


def _lags_of_topics(found: Observed) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the lag of each group in each topic of which it is known."""
    for key, of in groupby(found.partitions, key=attrgetter("group", "topic")):
        if known := [each.lag for each in of if each.lag is not None]:
            yield key, sum(known)


def _ours(found: Observed, now_ms: int) -> Iterator[Metric]:
    yield _gauge(
        f"{_OURS}group_verdict",
        "1 for the verdict of the group (docs/observe.md), 0 for the others.",
        ("group", "verdict"),
        ((each.group, str(verdict), int(verdict is each.verdict)) for each in found.lags for verdict in _VERDICTS),
    )
    rebalances = CounterMetricFamily(
        f"{_OURS}group_rebalances", "Generations and epochs of the group since the history begins.", labels=("group",)
    )
    for group, each in found.totals:
        rebalances.add_metric((group,), each.rebalances)
    yield rebalances
    states = Counter((each.type, each.state) for each in found.groups)
    yield _gauge(f"{_OURS}groups", "Groups by type and state.", ("type", "state"), ((*key, n) for key, n in states.items()))
    age = [] if found.sampled_ms < 0 else [(max(0.0, (now_ms - found.sampled_ms) / 1000),)]
    yield _gauge(f"{_OURS}sample_age_seconds", "How long ago the ends of partitions were sampled: lags are of then.", (), age)
    yield _gauge(f"{_OURS}groups_without_partitions", "Groups that have sums only.", (), [(found.left_out,)])


def _gauge(name: str, text: str, labels: Sequence[str], samples: Iterable[Sequence[Any]]) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=labels)
    for *names, value in samples:
        gauge.add_metric(names, value)
    return gauge
