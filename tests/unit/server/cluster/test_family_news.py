"""Who is told that users, ACLs or quotas have changed, on which loop, and when."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.acls import ACLS
from coordinator_server.catalog.scram_users import SCRAM_USERS, CredentialKey
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.server.cluster.catalog import Notices, OwnCatalog
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.cluster.family_news import FamilyNews
from protocol.messages.cluster_metadata import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from tests.support.loops import Loops

ALICE = CredentialKey("alice", 1)


class Watched:
    """``told`` has a name for each notice: with the iterations of Alice's credential at the time."""

    def __init__(self, catalog: OwnCatalog | CatalogReplica) -> None:
        self.catalog = catalog
        self.told: list[str] = []
        self.news = FamilyNews(catalog)
        self.news.follow(SCRAM_USERS, lambda: self.told.append(f"users {self.iterations}"))
        self.news.follow(ACLS, lambda: self.told.append("acls"))
        catalog.notify(Notices(self.news.changed))

    @property
    def iterations(self) -> int:
        record = self.catalog.read(CatalogShard.record, SCRAM_USERS, ALICE)
        return 0 if record is None else record.iterations


@pytest.fixture
def loops() -> Loops:
    return Loops()


def begun(loops: Loops) -> tuple[Watched, Watched]:
    """Loop 0 and a loop that follows it, when both have been told what was there."""
    follower = loops.follower(1)
    both = Watched(loops.owner), Watched(follower)
    loops.attach(1)
    both[0].news.changed()
    for each in both:
        assert sorted(each.told) == ["acls", "users 0"]
        each.told.clear()
    return both


def test_every_loop_is_told_before_the_answer(loops: Loops) -> None:
    """Of its family alone."""
    owner, follower = begun(loops)
    outcome = loops.put(UserScramCredentialRecord("alice", 1, iterations=4096))
    assert (owner.told, follower.told, outcome.answers) == (["users 4096"], [], 0)

    loops.followers[1].received(loops.wires[1].to_follower.popleft())
    assert (follower.told, outcome.answers) == (["users 4096"], 0)
    loops.deliver()
    assert outcome.answers == 1


def test_a_topic_is_no_news(loops: Loops) -> None:
    owner, follower = begun(loops)
    loops.create(0, "orders")
    loops.deliver()

    assert owner.told == follower.told == []


def test_a_loop_that_compaction_has_overtaken_is_told(loops: Loops) -> None:
    """Although the whole log says nothing of the removal, and its last record of a user is one that the loop has."""
    _, follower = begun(loops)
    loops.put(UserScramCredentialRecord("alice", 1, iterations=4096))
    loops.put(UserScramCredentialRecord("bob", 1, iterations=4096))
    loops.deliver()
    loops.cut(1)
    loops.put(RemoveUserScramCredentialRecord("alice", 1))
    loops.store.compact()
    follower.told.clear()
    loops.attach(1)

    assert sorted(follower.told) == ["acls", "users 0"]
    assert follower.catalog.read(CatalogShard.record, SCRAM_USERS, CredentialKey("bob", 1)) is not None
