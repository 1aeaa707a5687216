"""Power losses at every call of a piece of work, and what each may leave."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from itertools import count
from random import Random
from typing import Protocol

from tests.support.storage import PowerCut, SimulatedDisk

MakeDisk = Callable[[], SimulatedDisk]


class Work(Protocol):
    """Something that is done to a disk, and may be done again after it was stopped."""

    def prepare(self, disk: SimulatedDisk) -> None:
        """What is there before."""

    def do(self, disk: SimulatedDisk) -> None:
        """Do it. Once this returns, its result is durable."""

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        """Look at what a power loss has left. ``is_done`` if it came after the end."""


def lose_power_everywhere(work: Work, make_disk: MakeDisk, images: int) -> int:
    """Lose power after the work and at every call of it that changes something. Kill it there, do it again, and lose power then.

    Return the number of such calls.
    """
    _check_images(work, _played(work, make_disk, None), images, "the end", is_done=True)
    for calls in count():
        if not _is_cut_at(work, make_disk, calls, images):
            return calls
    raise AssertionError("the work ends some time")


def _is_cut_at(work: Work, make_disk: MakeDisk, calls: int, images: int) -> bool:
    disk = _played(work, make_disk, calls)
    if not disk.is_down:
        return False
    _check_images(work, disk, images, f"call {calls}", is_done=False)
    rng = Random(calls)
    for _ in range(images):
        again = deepcopy(disk)
        again.kill()
        later = rng.randint(0, calls)
        again.cut_power_after(later)
        try:
            work.do(again)
        except PowerCut:
            _check_images(work, again, 2, f"a kill at call {calls}, then call {later}", is_done=False)
    disk.kill()
    work.do(disk)
    _check_images(work, disk, images, f"a kill at call {calls}, and the end", is_done=True)
    return True


def _played(work: Work, make_disk: MakeDisk, calls: int | None) -> SimulatedDisk:
    disk = make_disk()
    work.prepare(disk)
    disk.kill()
    if calls is not None:
        disk.cut_power_after(calls)
    try:
        work.do(disk)
    except PowerCut:
        return disk
    disk.kill()
    return disk


def _check_images(work: Work, disk: SimulatedDisk, images: int, when: str, *, is_done: bool) -> None:
    for number in range(images):
        seed = f"power loss at {when}, image {number}"
        try:
            work.check(disk.power_loss(Random(seed)), is_done=is_done)
        except BaseException as error:
            error.add_note(seed)
            raise
