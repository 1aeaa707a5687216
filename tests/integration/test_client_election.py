"""``coordinator_server.client.Election`` and the daemon: at most one leader, and tokens that only rise."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from coordinator_server.client import ConnectionSettings, Election, ElectionSettings, Term
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from tests.support.client import Client
from tests.support.server import ROOT, Server

Address = tuple[str, int]
SESSION_S = 3.0

PROGRAM = """
import asyncio, json, sys
from coordinator_server.client import ClientError, Election, ElectionSettings

async def main(bootstrap, name, session):
    async with Election(bootstrap, ElectionSettings(name, session_timeout_s=float(session))) as election:
        async for term in election:
            say({"token": term.token, "saved": term.saved})
            asyncio.create_task(tell_end(term))
            asyncio.get_running_loop().add_reader(0, lambda: asyncio.create_task(save(term, sys.stdin.readline().strip())))

async def tell_end(term):
    await term.wait_over()
    say({"over": term.token})

async def save(term, text):
    try:
        await term._save(text) if text.startswith("!") else await term.save(text)
        say({"wrote": text})
    except ClientError as error:
        say({"refused": type(error).__name__, "current": term.is_current})

def say(what):
    print(json.dumps(what), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


class Process:
    """A candidate in a process of its own, which can be frozen."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._arguments = (bootstrap, name, str(SESSION_S))

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            PROGRAM,
            *self._arguments,
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def write(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode() + b"\n")

    async def said(self, name: str) -> dict[str, Any]:
        """Return the next line that has this."""
        assert self._process.stdout is not None
        async with asyncio.timeout(60):
            while True:
                line: dict[str, Any] = json.loads(await self._process.stdout.readline())
                if name in line:
                    return line


def election(address: Address, name: str, session_s: float = 20, candidate: str = "") -> Election:
    settings = ElectionSettings(name, candidate=candidate, session_timeout_s=session_s, heartbeat_interval_s=0.1)
    return Election(ConnectionSettings(f"{address[0]}:{address[1]}"), settings)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


async def first_term(candidate: Election) -> Term:
    async with asyncio.timeout(60):
        async for term in candidate:
            return term
    raise AssertionError("the election was closed")


async def test_one_of_many_leads_and_the_next_one_has_a_higher_token(address: Address, fresh_name: str) -> None:
    """A leader that resigns has left its body before another one leads; what it saved is there."""
    candidates = {name: election(address, fresh_name, candidate=name) for name in ("a", "b", "c")}
    events: list[str] = []
    tokens: list[int] = []

    async def take_part(name: str) -> None:
        async with candidates[name] as candidate:
            async for term in candidate:
                async with term:
                    events.append(f"{name} begins")
                    tokens.append(term.token)
                    assert term.saved == ("" if len(tokens) == 1 else str(tokens[-2]))
                    await term.save(str(term.token))
                    assert sum(each.term is not None for each in candidates.values()) == 1
                    await until(lambda: all(each.leader == name for each in candidates.values() if each.leader is not None))
                    events.append(f"{name} ends")
                return

    async with asyncio.TaskGroup() as tasks:
        for name in candidates:
            tasks.create_task(take_part(name))

    assert tokens == sorted(set(tokens))
    assert [event.split()[1] for event in events] == ["begins", "ends"] * 3
    assert {event.split()[0] for event in events} == set(candidates)


async def test_a_leader_stays_when_others_come_and_go(address: Address, fresh_name: str) -> None:
    async with election(address, fresh_name) as leader:
        term = await first_term(leader)
        for _ in range(3):
            async with election(address, fresh_name) as other:
                await until(lambda: other.leader is not None)
                assert other.term is None
        await term.save("still here")

        assert leader.term is term


async def test_a_leader_without_a_coordinator_steps_down_in_time(tmp_path: Path) -> None:
    """By its own clock, within a session of the last acknowledged request; and it leads again when the coordinator is back."""
    with Server(tmp_path) as server:
        async with election(server.address, "e", SESSION_S) as candidate:
            term = await first_term(candidate)
            server.kill()
            async with asyncio.timeout(2 * SESSION_S):
                async with term:
                    await asyncio.sleep(60)
                    raise AssertionError("the body was not cancelled")
            assert not term.is_current
            await asyncio.to_thread(server.start)

            assert (await first_term(candidate)).token > term.token


async def test_a_frozen_leader_is_fenced(tmp_path: Path) -> None:
    """Frozen past its session, its group empty and deleted, the server restarted:
    the next token is higher, and the old write is refused.
    """
    with Server(tmp_path) as server:
        async with Process(server.bootstrap, "e") as frozen:
            token = (await frozen.said("token"))["token"]
            frozen.write("mine")
            assert await frozen.said("wrote") == {"wrote": "mine"}
            frozen.send_signal(signal.SIGSTOP)
            await until(lambda: delete_group(server.address, "e") is ErrorCode.NONE)
            server.kill()
            await asyncio.to_thread(server.start)
            async with election(server.address, "e") as other:
                term = await first_term(other)
                assert term.saved == "", "the group was not deleted"
                await term.save("the next leader's")
                assert term.token > token
                # What it does first after the freeze is a write, past its own check.
                frozen.write("!late")
                frozen.send_signal(signal.SIGCONT)
                refused = await frozen.said("refused")

                assert refused == {"refused": "MembershipLost", "current": False}
                assert other.term is term


def delete_group(address: Address, group: str) -> ErrorCode:
    with Client(address) as client:
        return ErrorCode(client.ask(DeleteGroupsRequest([group]), 2, DeleteGroupsResponse).results[0].error_code)
