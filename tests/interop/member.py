"""A member of a group, or an admin, in a process of its own: python -m tests.interop.member LIBRARY member BOOTSTRAP GROUP TOPIC
OPTIONS, or … LIBRARY admin BOOTSTRAP. The programs in other languages take the same words behind their name,
and speak the same lines:

A member says on stdout what it owns whenever that changes, {"owned": [0, 1]}. Both take {"call": "commit", "argument": …} on
stdin and answer {"result": …} or {"error": "…"}, in order. End of stdin:
leave the group (unless it is a static member), and end. Calls:

| of a member | argument | result |
|---|---|---|
| commit | {partition: offset} | null, once it is acknowledged |
| committed | [partition] | {partition: offset, or null} |

| of an admin | argument | result |
|---|---|---|
| create_topic | [name, partitions] | null |
| partitions_of | topic | number |
| groups | null | [group] |
| describe | group | [state, number of members] |
| committed | [group, topic] | {partition: offset} |
| alter | [group, topic, {partition: offset}] | null |
| delete | group | null |

OPTIONS is ``MemberOptions`` as JSON. The library's log goes to stderr, from MEMBER_LOG_LEVEL on.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from tests.interop.clients import ADMINS, CONSUMERS, Admin, GroupConsumer, MemberOptions

Calls = Mapping[str, Callable[[Any], Any]]


def main(library: str, role: str, bootstrap: str, *rest: str) -> None:
    logging.basicConfig(level=os.environ.get("MEMBER_LOG_LEVEL", "WARNING"), format="%(relativeCreated)d %(name)s %(message)s")
    if role == "admin":
        administer(ADMINS[library](bootstrap))
    else:
        group, topic, options = rest
        live(CONSUMERS[library](bootstrap, group, topic, MemberOptions(**json.loads(options))))


def live(consumer: GroupConsumer) -> None:
    """A consumer has to be polled between calls."""
    commands: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=read_lines, args=(commands,), daemon=True).start()
    calls: Calls = {
        "commit": lambda offsets: consumer.commit(by_partition(offsets)),
        "committed": consumer.committed,
    }
    last: list[int] | None = None
    while True:
        consumer.poll()
        for owned in consumer.owned():
            if owned != last:
                last = owned
                say({"owned": owned})
        while not commands.empty():
            line = commands.get()
            if line is None:
                consumer.close()
                return
            say(answer(calls, json.loads(line)))


def administer(admin: Admin) -> None:
    calls: Calls = {
        "create_topic": lambda argument: admin.create_topic(*argument),
        "partitions_of": admin.partitions_of,
        "groups": lambda _: sorted(admin.groups()),
        "describe": admin.describe,
        "committed": lambda argument: admin.committed(*argument),
        "alter": lambda argument: admin.alter(argument[0], argument[1], by_partition(argument[2])),
        "delete": admin.delete,
    }
    for line in sys.stdin:
        say(answer(calls, json.loads(line)))
    admin.close()


def read_lines(commands: queue.SimpleQueue[str | None]) -> None:
    for line in sys.stdin:
        commands.put(line)
    commands.put(None)


def answer(calls: Calls, command: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": calls[command["call"]](command["argument"])}
    except Exception as refused:  # noqa: BLE001 - three libraries, three unrelated trees of errors; the test decides
        return {"error": repr(refused)}


def by_partition(offsets: dict[str, int]) -> dict[int, int]:
    """JSON has no numbers for keys."""
    return {int(partition): offset for partition, offset in offsets.items()}


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201 - its output is its interface


if __name__ == "__main__":
    main(*sys.argv[1:])
