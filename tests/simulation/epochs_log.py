"""What must be true of the log of groups of the newer protocols: epochs rise, and members that are gone change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import astuple

from coordinator_server.group.modern.records import GroupRecords
from tests.simulation.mirror import LogRecord

IMPOSTOR: Final = "impostor"
"""The beginning of the names of clients that speak for a member that is gone."""
Epochs = dict[Any, int]
"""The last epoch of whatever has one: a group, its target assignment, or a member."""


def check_epoch(written: LogRecord, records: GroupRecords, epochs: Epochs) -> Iterator[str]:
    """Yield a fault if the record of an epoch has a lower one than the record before it."""
    key: Any = written.record.key
    value: Any = written.record.value
    names = {records.epoch_key: "epoch", records.target_epoch_key: "assignment_epoch", records.current_key: "member_epoch"}
    name = names.get(type(key))
    if name is None:
        return
    epoch = None if value is None else getattr(value, name)
    # A static member that is away is in no epoch.
    if epoch is None or epoch >= 0:
        yield from rises(epochs, (type(key), *astuple(key)), epoch, written)


def check_author(written: LogRecord) -> Iterator[str]:
    """Yield a fault if somebody has written a record in the name of a member that was gone."""
    client_id = "" if written.provenance is None else written.provenance.client_id or ""
    if client_id.startswith(IMPOSTOR):
        yield f"{client_id} wrote {written.record}"


def rises(epochs: Epochs, key: Any, epoch: int | None, written: LogRecord) -> Iterator[str]:
    """Yield a fault if an epoch is lower than the last one of its key. None: what had the epoch is gone."""
    if epoch is None:
        epochs.pop(key, None)
        return
    if epoch < epochs.get(key, 0):
        yield f"an epoch has fallen from {epochs[key]}: {written}"
    epochs[key] = epoch
