"""What a check counts while it reads."""

from __future__ import annotations

from coordinator_server.log.repair.findings import Inspection, Report
from tests.support.storage import SimulatedDisk


def test_progress_ends_once_and_at_its_end() -> None:
    """Files of a server grow while they are read: what they have too much is not told."""
    disk, told = SimulatedDisk(), list[tuple[int, int]]()
    for name, size in (("a", 40), ("b", 59), ("c", 1), ("d", 30)):
        disk.put(f"/{name}", bytes(size))
    report = Report()
    inspection = Inspection(report, disk, lambda done, of: told.append((done, of)), 100)
    for name in "abcd":
        inspection.read(f"/{name}")
    assert told == [(40, 100), (99, 100)]
    inspection.end()

    assert told[2:] == [(100, 100)]
    assert (report.files, report.bytes) == (4, 130)
