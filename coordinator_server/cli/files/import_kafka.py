"""Import the groups of a Kafka cluster from the directory of a stopped broker.

The command reads the broker's __consumer_offsets, __transaction_state and __share_group_state into a
new data directory. It imports groups, members, committed offsets, transactional ids, the deliveries
of share groups, topics with their ids, the cluster's id and the numbers of partitions. It only reads the broker's directory. No
server starts on the directory of an interrupted import: run it again. A second run of a finished import changes
nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.data_dir_owner import give_to_owner
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.config import Config
from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.files.kafka.importer import ImportResult, find_broker_log, import_kafka
from coordinator_server.pipeline.progress import progress_on

EPILOG = """\
examples:
  coordinator-server import --from /var/lib/kafka/data --data-dir ./data
  coordinator-server import --from broker-1/data --from broker-2/data --data-dir ./data      # if no broker has all partitions
  coordinator-server import --from /var/lib/kafka/data --data-dir ./data -o json | jq .groups

before: stop the consumers, so that groups are empty, then the broker, cleanly. --from is the broker's log.dirs; repeat it for
several log.dirs or brokers. Of several replicas, the one with the highest end offset is read.

transactions: transactional ids are imported if --from has __transaction_state. The server writes the markers of a decided
transaction. An open one is aborted, and its producer fenced. With "keep" it stays open until its producer ends it, or its timeout.

after: the command prints how to start the server. Members of consumer groups, of the classic protocol or the new one, of share
groups and of streams groups go on.

exit codes: 0 done, or done before; 1 the broker runs, or its log is damaged; 2 a directory is not usable
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
        help="a stopped broker's log.dirs, the directory that has __consumer_offsets-0; repeat for more",
    )
    parser.add_argument(
        "--data-dir", type=local_dir, required=True, metavar="DIR", help="the new data directory; it must be empty or not exist"
    )
    parser.add_argument(
        "--node-id", type=int, default=Config().node_id, metavar="N", help="node.id of the new server (%(default)s)"
    )
    parser.add_argument(
        "--open-transactions",
        choices=("abort", "keep"),
        default="abort",
        help="offsets of open transactions: abort leaves them out, keep leaves them pending (%(default)s)",
    )
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Import and return the exit code."""
    create_private_files()
    started_s = time.monotonic()
    try:
        log = find_broker_log(options.sources)
        is_keeping_open = options.open_transactions == "keep"
        try:
            result = import_kafka(
                log, options.data_dir, options.node_id, progress_on(sys.stderr), is_keeping_open=is_keeping_open
            )
        finally:
            give_to_owner(options.data_dir, options.data_dir)
    except CannotRun as error:
        return complain(error, 2)
    except DamagedLog as damage:
        why = f"the broker's log is damaged, and nothing was imported: {damage}; --from takes another replica, if there is one"
        return complain(PipelineError(why), 1)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    for each in result.notes:
        note(each)
    if options.json:
        say_json(result)
    else:
        say(_as_text(result, options.node_id, time.monotonic() - started_s))
    return 0


def _as_text(result: ImportResult, node_id: int, seconds: float) -> list[str]:
    if not result.is_new:
        return [f"{result.data_dir} already has this import: nothing was changed"]
    groups = ", ".join(f"{count:,} {kind}" for kind, count in sorted(result.groups.items())) or "none"
    return [
        f"{result.partitions} partitions: {result.records_read:,} records became {result.records_kept:,} in {seconds:.1f} s",
        f"groups: {groups}; {result.offsets:,} offsets, {result.topics:,} topics, cluster {result.cluster_id}",
        *([f"users, ACLs and quotas: {result.security_records:,} records"] if result.security_records else ()),
        f"transactional ids: {result.transactional_ids:,}; share partitions: {result.share_partitions:,}",
        f"start it: coordinator-server serve --data-dir {result.data_dir}{overrides(result, node_id)}",
    ]


def overrides(result: ImportResult, node_id: int) -> str:
    """Return the options of serve that a directory needs, beside its own."""
    defaults = Config()
    transactions = defaults.log.transaction_state_log_num_partitions
    shared = defaults.log.share_coordinator_state_topic_num_partitions
    asked = (
        ("offsets.topic.num.partitions", result.partitions, defaults.log.offsets_topic_num_partitions),
        ("transaction.state.log.num.partitions", result.transaction_partitions or transactions, transactions),
        ("share.coordinator.state.topic.num.partitions", result.share_state_partitions or shared, shared),
        ("node.id", node_id, defaults.node_id),
    )
    return "".join(f" --override {name}={value}" for name, value, default in asked if value != default)
