"""``groups why --follow``: fetches the shard of a group from its server, from an offset on, and prints events as they happen."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Final

from coordinator_server.cli.client_properties import connection_settings
from coordinator_server.cli.diagnosis.directory import own_listeners
from coordinator_server.cli.group_words import event_line
from coordinator_server.cli.timelines import is_chosen, print_events
from coordinator_server.client.admin.cluster import Cluster, check
from coordinator_server.client.errors import ClientError
from coordinator_server.kinds import GROUPS
from coordinator_server.log.jobs import JobShard
from coordinator_server.log.opening import identity_of
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from protocol.record_batch import iter_batches

_WAIT_MS: Final = 500
_MOST_BYTES: Final = 1 << 20


def follow(options: argparse.Namespace, ledger: GroupLedger, shard: JobShard, offset: int) -> None:
    """Print events until ctrl-C. Raises PipelineError."""
    identity = identity_of(options.data_dir)
    own = {} if identity.is_observed else own_listeners(options.data_dir)
    if not own and options.bootstrap is None:
        if identity.is_observed:
            raise PipelineError(f"{options.data_dir} follows the cluster {identity.cluster_id}: --bootstrap says where that is")
        raise PipelineError(f"no server runs on {options.data_dir}: there is nothing to follow")
    settings = connection_settings(options.bootstrap, options.command_config, options.timeout, own)

    async def fetch_all(offset: int) -> None:
        async with Cluster(settings) as cluster:
            while True:
                offset = _print_from(options, ledger, await _fetch(cluster, options.group, shard, offset), offset)

    try:
        asyncio.run(fetch_all(offset))
    except ClientError as error:
        raise PipelineError(str(error)) from error


async def _fetch(cluster: Cluster, group_id: str, shard: JobShard, offset: int) -> bytes:
    """Return whole batches of a shard from an offset on; nothing if there are none after a while."""
    partition = FetchPartition(int(shard.name.rpartition("-")[2]), fetch_offset=offset, partition_max_bytes=_MOST_BYTES)
    topics = [FetchTopic(GROUPS.topic, partitions=[partition])]
    request = FetchRequest(max_wait_ms=_WAIT_MS, min_bytes=1, max_bytes=_MOST_BYTES, topics=topics)
    answer = await cluster.ask_coordinator(group_id, request, FetchResponse, _codes)
    for code in _codes(answer):
        check(f"Fetch of {shard.name}", code)
    return answer.responses[0].partitions[0].records or b""


def _codes(answer: FetchResponse) -> list[int]:
    return [answer.error_code, *(each.error_code for topic in answer.responses for each in topic.partitions)]


def _print_from(options: argparse.Namespace, ledger: GroupLedger, data: bytes, offset: int) -> int:
    """Print the events of batches. Return the next offset."""
    for position, header in iter_batches(data):
        # The server answers with the whole batch that has the offset.
        if header.base_offset < offset:
            continue
        found = ledger.add(data, position, header)
        print_events(options, [each for each in found if is_chosen(options, each.at_ms)], event_line)
        sys.stdout.flush()
        offset = header.next_offset
    return offset
