"""Plays whose groups are deleted in the end, and the ways to play a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from tests.simulation.client import Client, Script
from tests.simulation.groups_play import GroupsPlay
from tests.simulation.world import SECOND

DELETED_WITHIN_S: Final = 20
P = TypeVar("P", bound=GroupsPlay)


class DeletedGroupsPlay(GroupsPlay):
    """A play of groups that are deleted when all members have gone: nothing is left then."""

    async def _delete_group(self, client: Client, group_id: str) -> ErrorCode | None:
        """Delete a group. Return the answer, if one comes."""
        answer = await client.ask(DeleteGroupsRequest([group_id]), 2, DeleteGroupsResponse, 3000)
        return None if answer is None else ErrorCode(answer.results[0].error_code)

    def _end_groups(self) -> Iterator[int]:
        """Delete all groups: nothing is left."""
        deletions = {group_id: Script(self._delete_for_good(group_id)) for group_id in self.groups}
        until_us = self.world.now_us + DELETED_WITHIN_S * SECOND
        while self.world.now_us < until_us and not all(each.is_over for each in deletions.values()):
            yield SECOND
        if late := [group_id for group_id, each in deletions.items() if not each.is_over]:
            self.broken.append(f"not deleted in {DELETED_WITHIN_S} quiet seconds: {late}")
        self._look_for_remains()

    def _start_again(self) -> Iterator[int]:
        """Nothing is left then, either."""
        for machine in self.machines:
            machine.kill()
        yield self.restart_s * SECOND
        self._look_for_remains()
        self._check()
        yield from super()._start_again()

    async def _delete_for_good(self, group_id: str) -> None:
        client = self._client(self._shard(group_id), "administrator")
        error: ErrorCode | None = None
        while error not in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND):
            error = await self._delete_group(client, group_id)
            await client.sleep(100)
        client.close()

    def _look_for_remains(self) -> None:
        """Look for what should be gone with the groups."""


def ways_to_play(kind: Callable[[int], P]) -> tuple[Callable[..., list[str]], Callable[[int], Iterator[str]]]:
    """Return the two ways to play a seed: for what went wrong, and for a line for each thing that happened, for people.

    The first one takes a function that changes the play before it begins.
    """

    def run(seed: int, mutate: Callable[[P], None] = lambda _: None) -> list[str]:
        play = kind(seed)
        mutate(play)
        return play.run()

    def told(seed: int) -> Iterator[str]:
        play = kind(seed)
        play.run()
        yield from play.lines()

    return run, told
