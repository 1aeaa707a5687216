"""Layers, retention, history output, import, export, salvage, backups: wherever the power goes,
what is left keeps what each of them promises.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.power import Work, lose_power_everywhere
from tests.support.power_backup import RestoreBackup, TakeBackup
from tests.support.power_jobs import Export, Import, Salvage, WriteHistory
from tests.support.power_log import (
    Adopt,
    CutTail,
    FirstStart,
    FirstStartAdaptive,
    OpenMeta,
    PublishLayer,
    RecoverCopy,
    RecoverForLoops,
    RecoverFrame,
    RecoverSegments,
    ReplaceDamagedLayer,
    Retain,
    RetainWithOneLayer,
    SealReserved,
    SealUnsynced,
    UpgradeMeta,
    WriteOwners,
)
from tests.support.storage import SimulatedDisk

IMAGES = 6

WORKS: dict[str, Callable[[], Work]] = {
    "publish": PublishLayer,
    "publish over a damaged layer": ReplaceDamagedLayer,
    "first start": FirstStart,
    "start with a copied log": Adopt,
    "first start, adaptive writer": FirstStartAdaptive,
    "identity": OpenMeta,
    "identity in an earlier format": UpgradeMeta,
    "recovery for loops": RecoverForLoops,
    "owners of moved shards": WriteOwners,
    "recovery of segments": RecoverSegments,
    "recovery of a copied log": RecoverCopy,
    "recovery of a frame": RecoverFrame,
    "cut of a tail": CutTail,
    "seal without syncs": SealUnsynced,
    "seal of reserved room": SealReserved,
    "retention": Retain,
    "retention with one layer": RetainWithOneLayer,
    "history": WriteHistory,
    "import": Import,
    "export": Export,
    "salvage": Salvage,
    "backup": TakeBackup,
    "restore of a backup": RestoreBackup,
}


@pytest.mark.parametrize("name", WORKS)
def test_what_a_power_loss_leaves(name: str) -> None:
    """At every call, after the end, and after a second try that goes on where the first was killed."""
    assert lose_power_everywhere(WORKS[name](), SimulatedDisk, IMAGES) > 4
