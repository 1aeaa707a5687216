"""Show the share partitions of a share group: where each starts, what is in flight, and why.

Consumers of a share group (KIP-932) take records of the same partitions in turns. A record is in flight
from its first delivery until it is acknowledged or rejected. If a consumer fails or releases it, it comes
back, and is delivered again. A record that comes back over and over is stuck: "describe" says which it
is, how often it was delivered, and since when; "why" with --offset says what happened to it.

Answers come from the log in --data-dir. The server may run or not. They go back as far as segments are kept:
log.history.retention.ms. Without --data-dir, "describe" asks a running server, or a Kafka cluster, where each partition starts;
it says nothing of deliveries.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from coordinator_server.cli.actions import add_action, add_actions, add_common
from coordinator_server.cli.answers import Answer
from coordinator_server.cli.cluster_command import add_cluster_arguments, refuse_both, run_cluster_action
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.log_actions import print_answer, run_action
from coordinator_server.cli.observed_directory import say_what_is_missing
from coordinator_server.cli.output import note
from coordinator_server.cli.share_words import event_line, partitions_text
from coordinator_server.cli.times import MOMENT, past_ms
from coordinator_server.client.errors import Refused
from coordinator_server.kinds import SHARE_STATE
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, TopicNames
from coordinator_server.pipeline.replay.share_timeline import Chosen, ShareLog

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server share describe workers --bootstrap 127.0.0.1:9092              # where each partition starts
  coordinator-server share describe workers --data-dir ./data                       # where each partition is, what is stuck
  coordinator-server share describe workers --topic jobs -o json --data-dir ./data
  coordinator-server share at workers 2026-11-20T10:00Z --data-dir ./data           # the same at a moment
  coordinator-server share why workers --topic jobs --partition 3 --data-dir ./data # every change, and who made it
  coordinator-server share why workers --topic jobs --partition 3 --offset 1042 --data-dir ./data    # one record's deliveries
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    describe = _action(actions, "describe", "where each share partition starts, what is in flight, and which batch is stuck")
    at = _action(actions, "at", "the same at a moment")
    at.add_argument("time", type=past_ms, metavar="TIME", help=MOMENT)
    why = _action(actions, "why", "every change of the share partitions: deliveries, acknowledgements, and who made it")
    for each in (describe, at, why):
        each.add_argument("--topic", metavar="NAME", help="only this topic, by name or id")
        each.add_argument("--partition", type=int, metavar="N", help="only this partition of the topic")
    why.add_argument("--offset", type=int, metavar="OFFSET", help="only what was said of the record at this offset")
    add_common(describe, required=False)
    add_cluster_arguments(describe)
    add_common(at, why)


def _action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser = add_action(actions, name, summary, EPILOG)
    parser.add_argument("group", metavar="GROUP", help="the share group's id")
    return parser


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises ConfigError."""
    if options.data_dir is None:
        options.output = "json" if options.json else options.output
        return run_cluster_action(options, _ask)
    if options.action == "describe":
        refuse_both(options)
    return run_action(options, _ACTIONS, ())


async def _ask(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.groups import SHARE, describe_group
    from coordinator_server.client.admin.share_offsets import share_offsets

    group = await describe_group(cluster, options.group)
    if group.type != SHARE:
        raise Refused(f"group {options.group} is no share group: it is {group.type}")
    rows = [
        {"group": options.group, "topic": at.topic, "partition": at.partition, "start_offset": each.offset, "lag": each.lag}
        for at, each in (await share_offsets(cluster, options.group)).items()
        if options.topic in {None, at.topic} and options.partition in {None, at.partition}
    ]
    return Answer(rows, empty=f"share group {options.group} has no share partitions")


def _describe(options: argparse.Namespace) -> None:
    _show_partitions(options, None)


def _at(options: argparse.Namespace) -> None:
    _show_partitions(options, options.time)


def _show_partitions(options: argparse.Namespace, at_ms: int | None) -> None:
    log = _log(options)
    found = log.partitions_at(_chosen(options), at_ms)
    _tell_lost(options, log)
    print_answer(options, found, partitions_text(options.group, found))


def _why(options: argparse.Namespace) -> None:
    log = _log(options)
    found = log.events(_chosen(options), options.offset)
    _tell_lost(options, log)
    print_answer(options, found, map(event_line, found))


def _tell_lost(options: argparse.Namespace, log: ShareLog) -> None:
    say_what_is_missing(options.data_dir, SHARE_STATE.topic)
    for shard, offset in log.lost.items():
        note(f"records of {shard} before offset {offset} were not salvaged: what they changed is not in this answer")


_ACTIONS = {"describe": _describe, "at": _at, "why": _why}


def _chosen(options: argparse.Namespace) -> Chosen:
    return Chosen(options.group, options.topic, options.partition)


def _log(options: argparse.Namespace) -> ShareLog:
    ends = durable(options.data_dir, retries_of(options))
    return ShareLog(options.data_dir, ends, TopicNames(options.data_dir, ends.get(CATALOG_SHARD, 0)))
