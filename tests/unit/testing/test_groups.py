"""What a test does to the groups of its server."""

from __future__ import annotations

from coordinator_server.group.why import Why
from coordinator_server.testing.groups import REBALANCE
from tests.support.classic_group import join, leader, sync
from tests.support.group import GroupLog


def test_a_rebalance_that_a_test_requests_names_the_leader() -> None:
    """As if the leader had joined again; ``groups why`` shows it like that."""
    log = GroupLog()
    member_id = leader(log)
    log.news.clear()

    log.run(REBALANCE.call, "group", version=0)
    again = join(log, member_id)
    sync(log, member_id, again.response.generation_id)

    [(name, fields)] = log.news
    assert name == "rebalanced"
    assert fields["reasons"] == [f"{Why.MEMBER_REJOINED.value} {member_id}"]
