"""What commands say about a directory that follows another cluster (``observe``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coordinator_server.cli.diagnosis.finding import NOTE, OK, WARNING, Finding
from coordinator_server.cli.output import counted, note
from coordinator_server.kinds import topic_of
from coordinator_server.log.opening import identity_of, is_log
from coordinator_server.pipeline.errors import CannotRun


def is_observed(data_dir: Path) -> bool:
    """Return whether a data directory follows another cluster. Raises LogError."""
    return is_log(data_dir) and identity_of(data_dir).is_observed


def refuse_observed(data_dir: Path) -> None:
    """Raise CannotRun for a directory that no server runs on, because it follows another cluster."""
    if is_observed(data_dir):
        cluster_id = identity_of(data_dir).cluster_id
        raise CannotRun(f"{data_dir} follows the cluster {cluster_id}: no server runs on it, ask that cluster with --bootstrap")


def removed_to(data_dir: Path) -> dict[str, int]:
    """Return the offset by shard before which the cluster had removed records before they were read. Raises LogError."""
    if not is_observed(data_dir):
        return {}
    # Only such a directory needs it.
    from coordinator_server.observe.facts import read_facts

    return {name: facts.missing_to for name, facts in read_facts(data_dir).shards.items() if facts.missing}


def say_what_is_missing(data_dir: Path, topic: str, shard: str | None = None) -> None:
    """Say which records of a topic, or of one shard, the cluster had removed before they were read. Raises LogError."""
    if not is_observed(data_dir):
        return
    # Only such a directory needs it.
    from coordinator_server.observe.facts import read_facts

    for name, facts in sorted(read_facts(data_dir).shards.items()):
        if facts.missing and (name == shard or (shard is None and topic_of(name) == topic)):
            note(
                f"{name} lacks {counted(facts.missing, 'offset')} before offset {facts.missing_to}, which the cluster's cleaner "
                "had removed before they were read: what they changed is unknown"
            )


def check_observed(data_dir: Path, *, is_followed: bool) -> Iterator[Finding]:
    """Check a directory that follows another cluster. Raises LogError."""
    from coordinator_server.observe.facts import read_facts

    cluster_id, facts = identity_of(data_dir).cluster_id, read_facts(data_dir)
    if is_followed:
        yield Finding(OK, "observe", f"it follows the cluster {cluster_id}")
    else:
        action = f"coordinator-server observe --bootstrap HOST:PORT --data-dir {data_dir}"
        yield Finding(WARNING, "observe", f"nothing follows the cluster {cluster_id} now: its cleaner removes history", action)
    if missing := sum(each.missing for each in facts.shards.values()):
        what = f"the cluster's cleaner had removed {counted(missing, 'offset')} before they were read"
        yield Finding(NOTE, "observe", what, "what is read from now on stays: keep observe running")
    for each in facts.set_aside:
        what = f"the cluster has lost offsets {each.begin} to {each.end} of {each.shard}: {each.why}"
        yield Finding(NOTE, "observe", what, f"they are in set-aside/{each.name}")
