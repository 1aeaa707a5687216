"""What is subscribed to after a change, where regular expressions and names meet."""

from __future__ import annotations

from coordinator_server.group.consumer.group import SubscriptionCount
from coordinator_server.group.consumer.subscriptions import topics_after, topics_without
from tests.support.heartbeats import Beats

BY_REGEX = {"subscribed_topic_names": None}


def two_expressions() -> Beats:
    """Both match ``orders``; one matches ``others``, too. A third member names ``orders``."""
    beats = Beats(orders=2, others=1)
    beats.member("a", subscribed_topic_regex="o.*", **BY_REGEX).join()
    beats.member("b", subscribed_topic_regex="orders", **BY_REGEX).join()
    beats.member("c", subscribed_topic_names=["orders"]).join()
    # Expressions of a group are resolved ten seconds after those before.
    for _ in range(2):
        beats.log.advance(11_000)
        beats.settle()
    assert beats.group.subscribed_topics == {"orders": SubscriptionCount(1, 2), "others": SubscriptionCount(0, 1)}
    return beats


def test_an_expression_that_goes_takes_its_count_of_each_topic() -> None:
    """A topic stays while anybody names or matches it."""
    group = two_expressions().group

    assert topics_without(group, [], ["o.*"]) == {"orders": SubscriptionCount(1, 1)}
    assert topics_without(group, [group.members["c"]], ["orders"]) == {
        "orders": SubscriptionCount(0, 1),
        "others": SubscriptionCount(0, 1),
    }
    assert topics_without(group, [], ["unknown"]) == group.subscribed_topics


def test_an_expression_that_stays_keeps_its_topics() -> None:
    """It is that of one member alone, which changes something else."""
    group = two_expressions().group
    metadata = group.members["a"].metadata

    assert topics_after(group, metadata, metadata) == group.subscribed_topics
