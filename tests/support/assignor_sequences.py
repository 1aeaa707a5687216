"""Random lives of groups, for the assignors of the server: members come, change and go, and topics grow.

In a share group partitions are assigned when their states are ready: now and then some more are.

``tests/golden/ServerAssignors.java`` adds Kafka's targets to the steps of a life, ``OwnGroup`` computes ours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from coordinator_server.group.assign.altered import read_target
from coordinator_server.group.assign.assignors import ASSIGNORS, SHARE_ASSIGNORS, SIMPLE
from coordinator_server.group.assign.order import order_members, order_sharing_members
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Member, Partitions
from coordinator_server.group.assign.subscriptions import Subscriptions
from coordinator_server.group.assign.target import change_targets

LIVES: Final = 80
SHARE_LIVES: Final = 25
Step = dict[str, Any]


def random_lives(count: int = LIVES, seed: int = 17) -> Iterator[dict[str, Any]]:
    """Yield lives as JSON objects. Small groups are more frequent than large ones."""
    for i in range(count):
        rng = random.Random(f"{seed}/{i}")
        yield {"assignor": rng.choice(["range", "uniform", "uniform"]), "steps": _Life(rng).steps()}


def random_share_lives(count: int = SHARE_LIVES, seed: int = 18) -> Iterator[dict[str, Any]]:
    """Yield lives of share groups."""
    for i in range(count):
        yield _share_life(f"{seed}/{i}")


def share_lives_with_gifts_twice() -> Iterator[dict[str, Any]]:
    """Yield lives in which a member is given a partition that it has just been given, and its table grows by that."""
    return map(_share_life, ("1/166", "2/269", "5/413"))


def _share_life(seed: str) -> dict[str, Any]:
    return {"assignor": SIMPLE, "steps": _Life(random.Random(seed), is_shared=True).steps()}


class _Life:
    def __init__(self, rng: random.Random, *, is_shared: bool = False) -> None:
        self._rng = rng
        self._is_shared = is_shared
        self._ids: dict[str, str] = {}
        self._ready: dict[str, set[int]] = {}
        self._most = rng.choice([2, 3, 6, 14, 14, 40, 90])
        self._are_alike = rng.random() < 0.5
        topics = [1, 1, 2, 3, 7] if is_shared else [1, 1, 2, 3, 7, 20]
        self._names = [f"topic-{rng.getrandbits(20):x}" for _ in range(rng.choice(topics))]
        self._partitions: dict[str, int] = {}
        self._members: dict[str, str | None] = {}
        self._has_regex = not is_shared and rng.random() < 0.2
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        for name in self._names:
            if self._rng.random() < 0.9:
                self._create(name)
        if self._has_regex:
            self._resolve()
        for _ in range(self._rng.choice([3, 8, self._most, 2 * self._most])):
            self._step()
        return self._steps

    def _step(self) -> None:
        rng, chance = self._rng, self._rng.random()
        if self._is_shared and self._ids and rng.random() < 0.3:
            self._make_ready(rng.choice(list(self._ids)))
        if not self._members or (chance < 0.5 and len(self._members) < self._most):
            self._join()
        elif chance < 0.6:
            self._replace()
        elif chance < 0.75:
            member_id = rng.choice(list(self._members))
            del self._members[member_id]
            self._steps.append({"leaves": member_id})
        elif chance < 0.82:
            name = rng.choice(self._names)
            if name not in self._partitions:
                self._create(name)
            elif rng.random() < 0.7:
                self._grow(name)
            else:
                del self._partitions[name]
                self._ids.pop(name, None)
                self._steps.append({"drop": name})
        elif chance < 0.85 and self._has_regex:
            self._resolve()
        else:
            self._assign(rng.choice(list(self._members)))

    def _create(self, name: str) -> None:
        rng = self._rng
        self._partitions[name] = count = rng.choice([1, rng.randint(1, 6), rng.randint(1, 50), rng.randint(1, 400)])
        topic_id = f"{rng.getrandbits(128):032x}"
        self._steps.append({"topic": name, "id": topic_id, "partitions": count})
        if self._is_shared:
            self._ids[name] = topic_id
            if rng.random() < 0.7:
                self._make_ready(name)

    def _grow(self, name: str) -> None:
        self._partitions[name] += self._rng.choice([1, 2, 30])
        created = next(step for step in reversed(self._steps) if step.get("topic") == name)
        self._steps.append({**created, "partitions": self._partitions[name]})

    def _make_ready(self, name: str) -> None:
        """Usually all partitions get their states together, seldom the first ones before the others."""
        count, ready = self._partitions[name], self._ready.setdefault(self._ids[name], set())
        ready.update(range(count if self._rng.random() < 0.8 else self._rng.randint(1, count)))
        self._steps.append({"ready": self._ids[name], "partitions": sorted(ready)})

    def _resolve(self) -> None:
        found = [name for name in self._names if self._rng.random() < 0.6]
        self._steps.append({"regex": "t.*", "topics": found})

    def _join(self) -> None:
        rng = self._rng
        member_id = f"{rng.choice(['consumer', 'rdkafka'])}-{rng.getrandbits(64):x}"
        self._members[member_id] = f"host-{rng.getrandbits(16):x}" if not self._is_shared and rng.random() < 0.3 else None
        self._assign(member_id)

    def _replace(self) -> None:
        """Let a static member return with another id."""
        statics = [each for each, instance in self._members.items() if instance]
        if statics:
            away = self._rng.choice(statics)
            member_id = f"again-{self._rng.getrandbits(64):x}"
            self._members[member_id] = self._members.pop(away)
            self._assign(member_id)

    def _assign(self, member_id: str) -> None:
        rng = self._rng
        names = self._names if self._are_alike else rng.sample(self._names, rng.randint(1, len(self._names)))
        matches = ""
        if self._has_regex and (self._are_alike or rng.random() < 0.5):
            names, matches = ([] if self._are_alike else rng.choice([[], names])), "t.*"
        step = {"member": member_id, "instance": self._members[member_id], "names": names, "matches": matches}
        self._steps.append(step)


class _Topic:
    def __init__(self, step: Step) -> None:
        self.topic_id = bytes.fromhex(step["id"])
        self.partitions: int = step["partitions"]


def compare(life: dict[str, Any]) -> int:
    """Assert that our targets of a life are Kafka's, record by record; return their number."""
    group, targets = OwnGroup(life), 0
    for step in life["steps"]:
        found = group.take(step)
        if found is not None:
            targets += 1
            assert found == step.get("error", step["records"]), step
    return targets


class OwnGroup:
    """A group of which only that is known which assignors need."""

    def __init__(self, life: dict[str, Any]) -> None:
        self._assignor = {**ASSIGNORS, **SHARE_ASSIGNORS}[life["assignor"]]
        self._ready: dict[bytes, list[int]] | None = {} if life["assignor"] == SIMPLE else None
        self._topics: dict[str, _Topic] = {}
        self._matched: dict[str, list[str]] = {}
        self._members: dict[str, Step] = {}
        self._targets: dict[str, Partitions] = {}
        self._most = 0

    def take(self, step: Step) -> list[Any] | str | None:
        """Take a step; return the records of a target, or why there is none."""
        if "topic" in step:
            self._topics[step["topic"]] = _Topic(step)
        elif "drop" in step:
            del self._topics[step["drop"]]
        elif "regex" in step:
            self._matched[step["regex"]] = step["topics"]
        elif "ready" in step:
            assert self._ready is not None
            self._ready[bytes.fromhex(step["ready"])] = step["partitions"]
        elif "leaves" in step:
            del self._members[step["leaves"]], self._targets[step["leaves"]]
        else:
            return self._assign(step)
        return None

    def _assign(self, step: Step) -> list[Any] | str:
        member_id: str = step["member"]
        instance = step["instance"]
        statics = {each["instance"]: key for key, each in self._members.items() if each["instance"] is not None}
        away: str = statics.get(instance, member_id)
        if self._ready is not None:
            order = order_sharing_members(list(self._members), member_id, self._most)
        else:
            order = order_members(list(self._members), member_id, None if away == member_id else away, self._most)
        subscriptions = Subscriptions(self._topics.get)
        members = []
        for each in order:
            state = step if each == member_id else self._members[each]
            place = subscriptions.place(state["names"], self._matched.get(state["matches"], ()))
            target = self._targets.get(away if each == member_id else each, {})
            members.append(Member(each, state["instance"], place, target, each in self._targets))
        spec = GroupSpec(members, subscriptions.found, step["homogeneous"], subscriptions.partition_counts, self._ready)
        records: list[tuple[str, Partitions]] = []
        if away != member_id:
            records.append((member_id, read_target(self._targets.pop(away))))
            del self._members[away]
        self._members[member_id] = step
        self._most = max(self._most, len(self._members))
        try:
            records += change_targets(self._assignor, spec)
        except CannotAssign as error:
            return str(error)
        self._targets.update(records)
        return [[key, [[topic_id.hex(), each] for topic_id, each in target.items()]] for key, target in records]
