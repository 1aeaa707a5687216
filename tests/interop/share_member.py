"""A member of a share group by librdkafka: python -m tests.interop.share_member BOOTSTRAP GROUP TOPIC;
its lines are those of ``member.py``.

``{"call": "polled"}`` is answered with the number of polls that have ended well, and of records.
End of stdin: leave the group, and end.
"""

from __future__ import annotations

import json
import queue
import sys
import threading

from confluent_kafka import ShareConsumer

from tests.interop.member import Calls, answer, read_lines, say


def main(bootstrap: str, group: str, topic: str) -> None:
    """Poll between calls."""
    consumer = ShareConsumer({"bootstrap.servers": bootstrap, "group.id": group, "client.id": "sharing"})
    consumer.subscribe([topic])
    commands: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=read_lines, args=(commands,), daemon=True).start()
    polls = records = 0
    calls: Calls = {"polled": lambda _: [polls, records]}
    while True:
        messages = consumer.poll(0.1)
        if all(message.error() is None for message in messages):
            polls += 1
            records += len(messages)
        while not commands.empty():
            line = commands.get()
            if line is None:
                consumer.close()
                return
            say(answer(calls, json.loads(line)))


if __name__ == "__main__":
    main(*sys.argv[1:])
