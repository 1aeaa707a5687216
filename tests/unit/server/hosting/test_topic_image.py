"""The topics as the groups of each loop see them, and when its shards are told of a change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import pytest

from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.cluster.catalog import Notices, OwnCatalog
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.hosting.internal_topics import InternalTopics
from coordinator_server.server.hosting.topic_image import LoopTopics
from tests.support.loops import Loops

INTERNAL = InternalTopics("cluster", {"__consumer_offsets": 50, "__transaction_state": 50})


class Watched:
    """The topics of one loop. ``told`` has each notice, with the partitions that the image showed then.

    ``look`` is called after each.
    """

    def __init__(self, catalog: OwnCatalog | CatalogReplica, changes: TopicChanges) -> None:
        self.topics = LoopTopics(catalog, INTERNAL, changes)
        self.told: list[dict[str, int]] = []
        self.look: Callable[[], None] = lambda: None
        catalog.notify(Notices(self._changed, self._deleted))

    def _changed(self) -> None:
        names = self.topics.refresh()
        if names:
            self._tell(names)

    def _deleted(self, gone: Sequence[DeletedTopic]) -> None:
        self.topics.forget(gone)
        self._tell([each.name for each in gone])

    def _tell(self, names: Collection[str]) -> None:
        shown = {name: self.topics.topic(name) for name in names}
        self.told.append({name: topic.partitions if topic is not None else 0 for name, topic in shown.items()})
        self.look()


@pytest.fixture
def loops() -> Loops:
    return Loops()


def watched(loops: Loops) -> tuple[Watched, Watched]:
    """Loop 0 and a loop that follows it."""
    follower = loops.followers.get(1) or loops.follower(1)
    both = Watched(loops.owner, loops.changes_of(0)), Watched(follower, loops.changes_of(1))
    loops.attach(1)
    return both


def test_a_new_topic_is_told_on_every_loop_before_it_is_answered(loops: Loops) -> None:
    each = watched(loops)

    outcome = loops.create(1, "orders", "bills")
    loops.deliver()

    assert outcome.answers == 1
    assert [loop.told for loop in each] == [[{"orders": 1, "bills": 1}]] * 2


def test_a_follower_notifies_when_it_has_applied_the_change(loops: Loops) -> None:
    owner, follower = watched(loops)

    outcome = loops.create(0, "orders")
    loops.deliver(1)

    assert (outcome.answers, len(owner.told), follower.told) == (0, 1, [])


def test_a_deleted_topic_is_told_when_it_is_gone(loops: Loops) -> None:
    each = watched(loops)
    loops.create(0, "orders")
    loops.deliver()

    loops.delete("orders")
    loops.deliver()

    assert [loop.told[1:] for loop in each] == [[{"orders": 0}]] * 2
    # A shard that is loaded later is told, too.
    assert [[topic.name for topic in loop.topics.deleted] for loop in each] == [["orders"]] * 2


def test_more_partitions_are_told(loops: Loops) -> None:
    each = watched(loops)
    loops.create(0, "orders", "bills")
    loops.deliver()

    loops.grow("orders", 3)
    loops.deliver()

    assert [loop.told[1:] for loop in each] == [[{"orders": 3}]] * 2


def test_the_topics_of_a_start_are_not_told(loops: Loops) -> None:
    """No shard has seen anything else."""
    loops.create(0, "orders")
    loops.restart()
    owner = Watched(loops.owner, loops.changes_of(0))

    loops.create(0, "bills")

    assert owner.told == [{"bills": 1}]


def test_a_loop_that_was_away_is_told_what_it_missed(loops: Loops) -> None:
    _, follower = watched(loops)
    loops.create(0, "goes", "stays")
    loops.deliver()
    loops.cut(1)
    loops.delete("goes")
    loops.create(0, "new")
    del follower.told[:]

    loops.attach(1)

    assert {name: partitions for told in follower.told for name, partitions in told.items()} == {"goes": 0, "new": 1}


def test_a_loop_that_compaction_has_overtaken_is_told_too(loops: Loops) -> None:
    """It gets the whole log anew; what is gone is not in it."""
    _, follower = watched(loops)
    loops.create(0, "goes", "stays")
    loops.deliver()
    loops.cut(1)
    loops.delete("goes")
    loops.create(0, "new")
    loops.store.compact()
    del follower.told[:]

    loops.attach(1)

    told = {name: partitions for told in follower.told for name, partitions in told.items()}
    assert (told["goes"], told["new"]) == (0, 1)


def test_the_version_is_the_same_on_all_loops_and_grows_with_each_change(loops: Loops) -> None:
    each = watched(loops)
    versions = []
    for change in (lambda: loops.create(0, "a"), lambda: loops.grow("a", 2), lambda: loops.delete("a")):
        change()
        loops.deliver()
        versions.append({loop.topics.version for loop in each})

    assert [len(found) for found in versions] == [1, 1, 1]
    assert sorted(versions, key=min) == versions
    assert len({min(found) for found in versions}) == 3


def test_only_new_topics_make_a_newest_version(loops: Loops) -> None:
    """Without any since the start it is the version of the start."""
    each = watched(loops)
    assert {loop.topics.version_of_newest for loop in each} == {0}
    loops.create(0, "a")
    loops.deliver()
    newest = each[0].topics.version

    loops.grow("a", 2)
    loops.delete("a")
    loops.deliver()

    assert {loop.topics.version_of_newest for loop in each} == {newest}
    assert each[0].topics.version > newest


def test_a_topic_found_by_id_is_the_present_one_when_a_change_is_told(loops: Loops) -> None:
    """A loop remembers topics by their ids until the catalog changes: each write of share state looks for one."""
    each = watched(loops)
    loops.create(0, "orders")
    loops.deliver()
    topic = each[0].topics.topic("orders")
    assert topic is not None
    seen: list[int | None] = []

    def look(topics: LoopTopics) -> None:
        found = topics.topic_by_id(topic.topic_id)
        seen.append(None if found is None else found.partitions)

    for loop in each:
        look(loop.topics)
        look(loop.topics)
        loop.look = partial(look, loop.topics)
    for change in (lambda: loops.grow("orders", 3), lambda: loops.delete("orders")):
        change()
        loops.deliver()

    assert seen == [1, 1, 1, 1, 3, 3, None, None]


def test_internal_topics_are_among_them(loops: Loops) -> None:
    """Those that always exist."""
    owner, _ = watched(loops)
    loops.create(0, "orders")
    topic = owner.topics.topic("__consumer_offsets")

    assert topic is not None
    assert owner.topics.topic_by_id(topic.topic_id) is topic
    assert [each.name for each in owner.topics.all_topics()] == ["orders", "__consumer_offsets"]
    assert owner.topics.topic("__transaction_state") is None


def test_what_does_not_exist_can_be_said_by_a_current_image_only(loops: Loops) -> None:
    _, follower = watched(loops)
    follower.topics.check_current()

    loops.cut(1)

    with pytest.raises(CoordinatorError, match="COORDINATOR_LOAD_IN_PROGRESS"):
        follower.topics.check_current()


def test_settings_of_groups_are_seen_on_every_loop_after_a_change(loops: Loops) -> None:
    """A loop remembers which groups have any: almost none has, and every heartbeat asks."""
    each = watched(loops)
    assert [loop.topics.settings("g") for loop in each] == [{}, {}]

    loops.set_of_group("g", "consumer.heartbeat.interval.ms", "6000")
    loops.deliver()

    assert [loop.topics.settings("g") for loop in each] == [{"consumer.heartbeat.interval.ms": "6000"}] * 2
    assert [loop.topics.settings("h") for loop in each] == [{}, {}]
