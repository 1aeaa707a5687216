"""Take over the groups of a Kafka cluster: read the __consumer_offsets of a stopped broker into a new data directory.

Groups, members, committed offsets, topics with their ids, the cluster's id and the number of partitions are taken over; the broker's
directory is only read. Stopping it at any moment leaves a directory that no server starts on: run it again. Running it again when it is
done changes nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec

from coordinator_server.cli.complaint import complain
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.config import Config
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.kafka.importer import ImportResult, find_broker_log, import_kafka
from coordinator_server.pipeline.progress import progress_on

EPILOG = """\
examples:
  coordinator-server import --from /var/lib/kafka/data --data-dir ./data
  coordinator-server import --from broker-1/data --from broker-2/data --data-dir ./data      # when no broker has all partitions
  coordinator-server import --from /var/lib/kafka/data --data-dir ./data --json | jq .groups

before: stop the consumers, so that groups are empty, then the broker, in order. Its log.dirs is what --from takes; with several
log.dirs or brokers give each of them. Of replicas the one that is furthest is read.

a transaction that nobody had ended is settled as Kafka settles one whose producer does not come back: it is aborted. Kept, it holds up consumers
that ask for stable offsets (read_committed) until somebody ends it, and no server of this version can.

after: the command prints how to start the server. Groups of the newer protocols (consumer, share, streams) are kept in the log and listed,
and not served yet; a classic member may join one that is an empty consumer or streams group, as in Kafka.

exit codes: 0 done, or done before; 1 the broker runs, or its log is damaged; 2 the directories are not what they should be
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--from",
        dest="sources",
        type=Path,
        required=True,
        action="append",
        metavar="KAFKA_LOG_DIR",
        help="a stopped broker's log.dirs, the directory with __consumer_offsets-0 in it; repeat for more",
    )
    parser.add_argument(
        "--data-dir", type=local_dir, required=True, metavar="DIR", help="the directory to make; empty or not there yet"
    )
    parser.add_argument(
        "--node-id", type=int, default=Config().node_id, metavar="N", help="node.id of the new server (%(default)s)"
    )
    parser.add_argument(
        "--open-transactions",
        choices=("abort", "keep"),
        default="abort",
        help="what to do with offsets whose transaction nobody has ended: leave them out, or keep them pending (%(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Import; returns the exit code."""
    started_s = time.monotonic()
    try:
        log = find_broker_log(options.sources)
        is_keeping_open = options.open_transactions == "keep"
        result = import_kafka(log, options.data_dir, options.node_id, progress_on(sys.stderr), is_keeping_open=is_keeping_open)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    for note in result.notes:
        print(f"coordinator-server: {note}", file=sys.stderr)
    if options.json:
        print(msgspec.json.encode(result).decode())
    else:
        print(_as_text(result, options.node_id, time.monotonic() - started_s))
    return 0


def _as_text(result: ImportResult, node_id: int, seconds: float) -> str:
    if not result.is_new:
        return f"{result.data_dir} has this import already: nothing was changed"
    groups = ", ".join(f"{count:,} {kind}" for kind, count in sorted(result.groups.items())) or "none"
    return (
        f"{result.partitions} partitions: {result.records_read:,} records became {result.records_kept:,} in {seconds:.1f} s\n"
        f"groups: {groups}; {result.offsets:,} offsets, {result.topics:,} topics, cluster {result.cluster_id}\n"
        f"start it: coordinator-server serve --data-dir {result.data_dir}{_overrides(result.partitions, node_id)}"
    )


def _overrides(partitions: int, node_id: int) -> str:
    defaults = Config()
    asked = (
        ("offsets.topic.num.partitions", partitions, defaults.offsets_topic_num_partitions),
        ("node.id", node_id, defaults.node_id),
    )
    return "".join(f" --override {name}={value}" for name, value, default in asked if value != default)
