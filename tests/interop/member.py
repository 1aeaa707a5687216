"""A member of a group in a process of its own, so that a test can kill it: python -m tests.interop.member LIBRARY BOOTSTRAP GROUP TOPIC

Says on stdout what it owns whenever that changes, {"owned": [0, 1]}; takes {"call": "commit", "argument": …} on stdin and answers
{"result": …} or {"error": "…"}. End of stdin: leaves the group. The library's log goes to stderr, from MEMBER_LOG_LEVEL on.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
from typing import Any

from tests.interop.clients import CONSUMERS, GroupConsumer


def main(library: str, bootstrap: str, group: str, topic: str) -> None:
    logging.basicConfig(level=os.environ.get("MEMBER_LOG_LEVEL", "WARNING"), format="%(relativeCreated)d %(name)s %(message)s")
    commands: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=read_lines, args=(commands,), daemon=True).start()
    consumer = CONSUMERS[library](bootstrap, group, topic)
    last: list[int] | None = None
    while True:
        consumer.poll()
        if (owned := consumer.owned()) != last:
            last = owned
            say({"owned": owned})
        while not commands.empty():
            line = commands.get()
            if line is None:
                consumer.close()
                return
            say(answer(consumer, json.loads(line)))


def read_lines(commands: queue.SimpleQueue[str | None]) -> None:
    for line in sys.stdin:
        commands.put(line)
    commands.put(None)


def answer(consumer: GroupConsumer, command: dict[str, Any]) -> dict[str, Any]:
    argument = command["argument"]
    try:
        match command["call"]:
            case "commit":
                consumer.commit({int(partition): offset for partition, offset in argument.items()})
                return {"result": None}
            case "committed":
                return {"result": consumer.committed(argument)}
            case other:
                return {"error": f"no such call: {other}"}
    except Exception as refused:  # noqa: BLE001 - three libraries, three unrelated trees of errors; the test decides
        return {"error": repr(refused)}


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201 - its output is its interface


if __name__ == "__main__":
    main(*sys.argv[1:])
