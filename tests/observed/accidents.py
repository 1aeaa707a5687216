"""What goes wrong: brokers end, freeze and come back, leaders and replicas move, and ``observe`` is killed."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

from tests.observed.cluster import Cluster, Tool, reassignment
from tests.observed.follower import Follower

REASSIGN: Final = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
ELECT: Final = "org.apache.kafka.tools.LeaderElectionCommand"
_KINDS: Final = {
    "broker killed": 4,
    "broker stopped": 2,
    "broker frozen": 2,
    "two brokers killed": 1,
    "leaders elected": 3,
    "replicas moved": 3,
    "observe ended": 8,
}


class Accidents(threading.Thread):
    """One after the other, until ``stop``: then all brokers run, and so does ``observe``."""

    def __init__(self, cluster: Cluster, follower: Follower, tool: Tool, seed: int) -> None:
        super().__init__(name="accidents", daemon=True)
        self.counts: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self._cluster, self._follower, self._tool = cluster, follower, tool
        self._random = Random(f"{seed} accidents")
        self._stopped = threading.Event()
        self._plan = cluster.brokers[1].directory.parent / "reassignment.json"

    def run(self) -> None:
        """Let things happen until it is stopped."""
        try:
            while not self._stopped.wait(self._random.uniform(1, 6)):
                [kind] = self._random.choices([*_KINDS], [*_KINDS.values()])
                self._happen(kind)
                self.counts[kind] += 1
        except BaseException as error:
            self.failure = error
            raise

    def stop(self) -> None:
        """End it, and wait for the end."""
        self._stopped.set()
        self.join()

    def _happen(self, kind: str) -> None:
        cluster, random = self._cluster, self._random
        chosen = random.sample(sorted(cluster.brokers), 2 if kind == "two brokers killed" else 1)
        match kind:
            case "broker frozen":
                cluster.freeze(chosen[0], random.uniform(0.5, 6))
            case "broker killed" | "two brokers killed" | "broker stopped":
                for each in chosen:
                    cluster.stop_broker(each, is_killed=kind != "broker stopped")
                time.sleep(random.uniform(0.5, 12))
                cluster.start_brokers(chosen)
            case "leaders elected":
                self._elect()
            case "replicas moved":
                self._move(self._plan)
            case _:
                self._follower.interrupt(random)

    def _elect(self) -> None:
        """Let the preferred replicas lead. A cluster that cannot says so, and nothing has happened."""
        code, _ = self._tool.run(ELECT, "--election-type", "preferred", "--all-topic-partitions")
        if code != 0:
            self.counts["elections refused"] += 1

    def _move(self, plan: Path) -> None:
        plan.write_text(json.dumps(reassignment(self._random)))
        code, said = self._tool.run(REASSIGN, "--reassignment-json-file", str(plan), "--execute")
        if code != 0 or "Successfully started" not in said:
            self.counts["moves refused"] += 1
