"""Where offsets are reset to: the options of ``groups reset``, which are those of Kafka's tool, and the offsets that they mean."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator_server.cli.times import MOMENT, moment_ms
from coordinator_server.client.errors import Refused

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster
    from coordinator_server.client.offsets import TopicPartition

_DURATION: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)


class Topics(NamedTuple):
    """A topic of the command line, with the partitions that are meant: all without any."""

    topic: str
    partitions: tuple[int, ...]


def topic_partitions(text: str) -> Topics:
    """Parse ``topic`` or ``topic:0,1,2``. For argparse."""
    topic, _, numbers = text.partition(":")
    parts = numbers.split(",") if numbers else []
    if not topic or any(not each.isdecimal() or int(each) >= 1 << 31 for each in parts) or text.endswith(":"):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form TOPIC or TOPIC:0,1,2")
    return Topics(topic, tuple(map(int, parts)))


def duration_ms(text: str) -> int:
    """Parse an ISO 8601 duration such as P1DT12H, as Kafka's tool takes it. For argparse."""
    found = _DURATION.fullmatch(text.upper())
    given = {name: float(value) for name, value in found.groupdict().items() if value} if found else {}
    if not given:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as P7D, PT30M or P1DT12H")
    return round(timedelta(**given).total_seconds() * 1000)


def add_target_arguments(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Declare the options that say where offsets go; they exclude each other."""
    target = parser.add_mutually_exclusive_group(required=required)
    target.add_argument("--to-offset", type=offset, metavar="N", help="this offset")
    target.add_argument("--to-earliest", action="store_true", help="the first message that there is")
    target.add_argument("--to-latest", action="store_true", help="behind the last message")
    target.add_argument("--to-current", action="store_true", help="what is committed now: commit it again")
    target.add_argument("--shift-by", type=int, metavar="N", help="so many messages forward, or back if it is negative")
    target.add_argument(
        "--to-datetime", type=moment_ms, metavar="TIME", help=f"the first message of this time or later: {MOMENT}"
    )
    target.add_argument(
        "--by-duration", type=duration_ms, metavar="DURATION", help="the first message of so long ago or later: PT30M"
    )
    target.add_argument(
        "--from-file", type=Path, metavar="FILE", help="the offsets of a file, as 'groups export' and Kafka's tool write it"
    )


def offset(text: str) -> int:
    """Parse an offset. For argparse."""
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise argparse.ArgumentTypeError(f"{text!r} is not an offset")
    return int(text)


async def target_offsets(
    cluster: Cluster, options: argparse.Namespace, partitions: Iterable[TopicPartition], committed: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Return the offset that the options mean for each partition, as Kafka's tool understands them.

    An offset outside the messages of its partition becomes the nearest one that is inside. A partition without messages, as all
    of this server's are, takes every offset. A time after the last message means the end, and so does what is committed if
    nothing is. Raises ClientError.
    """
    from coordinator_server.client.admin.offsets import EARLIEST, LATEST, topic_offsets

    wanted = list(partitions)
    if options.to_earliest:
        return await topic_offsets(cluster, wanted, EARLIEST)
    if options.to_latest:
        return await topic_offsets(cluster, wanted, LATEST)
    if options.to_current:
        ends = await topic_offsets(cluster, [each for each in wanted if each not in committed], LATEST)
        return {each: committed[each] for each in wanted if each in committed} | ends
    if options.to_offset is not None:
        return await inside_messages(cluster, dict.fromkeys(wanted, options.to_offset))
    if options.shift_by is not None:
        for each in wanted:
            if each not in committed:
                raise Refused(f"no offset of {each.topic}-{each.partition} is committed that could be shifted")
        return await inside_messages(cluster, {each: committed[each] + options.shift_by for each in wanted})
    since_ms = options.to_datetime if options.to_datetime is not None else round(time.time() * 1000) - options.by_duration
    found = await topic_offsets(cluster, wanted, since_ms)
    ends = await topic_offsets(cluster, [each for each, at in found.items() if at < 0], LATEST)
    return found | ends


async def inside_messages(cluster: Cluster, targets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Return offsets that are among the messages of their partitions, if these have any. Raises ClientError."""
    from coordinator_server.client.admin.offsets import EARLIEST, LATEST, topic_offsets

    starts, ends = await topic_offsets(cluster, targets, EARLIEST), await topic_offsets(cluster, targets, LATEST)
    return {each: _inside(target, starts.get(each, 0), ends.get(each, 0)) for each, target in targets.items()}


async def named_partitions(cluster: Cluster, topics: Iterable[Topics]) -> list[TopicPartition]:
    """Return the partitions that the command line names. Raises Refused for one that does not exist, and ClientError."""
    from coordinator_server.client.admin.topics import describe_topic
    from coordinator_server.client.offsets import TopicPartition

    found = []
    for each in topics:
        count = (await describe_topic(cluster, each.topic)).partitions
        for number in each.partitions or range(count):
            if number >= count:
                raise Refused(f"topic {each.topic} has no partition {number}: it has {count}")
            found.append(TopicPartition(each.topic, number))
    return found


def _inside(target: int, start: int, end: int) -> int:
    return max(start, min(target, end)) if end > start else max(0, target)
