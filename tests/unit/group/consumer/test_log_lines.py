"""What a consumer group tells the operator: its epochs, when they are durable, and sessions that expire."""

from __future__ import annotations

from tests.support.heartbeats import Beats


def test_an_epoch_is_told_when_it_is_durable() -> None:
    """With the members that there are then, and why it began. A heartbeat that begins none tells nothing."""
    beats = Beats(t=2)
    beats.log.is_holding = True
    beats.member("m").join()
    assert beats.log.news == []
    beats.log.flush()
    beats.log.is_holding = False
    beats.member("m").beat()
    beats.member("m").leave()

    first = {"group_id": "g", "epoch": 2, "members": 1, "reasons": ["member-joined m"]}
    last = {"group_id": "g", "epoch": 3, "members": 0, "reasons": ["member-left m"]}
    assert beats.log.news == [("rebalanced", first), ("rebalanced", last)]


def test_an_epoch_that_is_not_written_is_not_told() -> None:
    beats = Beats(t=2)
    beats.log.is_holding = True
    beats.member("m").join()
    beats.log.fail()
    assert beats.log.news == []

    beats.log.is_holding = False
    beats.member("m").join()
    beats.log.news.clear()
    beats.log.is_holding = True
    beats.member("n").join()
    beats.log.fail()
    assert beats.log.news == []


def test_a_session_that_expires_is_told_with_its_timeout() -> None:
    """The group's own, if it has one."""
    beats = Beats(t=2)
    beats.log.own_settings["g"] = {"consumer.session.timeout.ms": "50000"}
    beats.member("m").join()
    beats.log.news.clear()

    beats.log.advance(60_000)

    names = [name for name, _ in beats.log.news]
    assert names == ["session-expired", "rebalanced"]
    expired = {"group_id": "g", "member_id": "m", "client_host": "/127.0.0.1", "session_timeout_ms": 50_000}
    assert beats.log.news[0][1] == expired
    assert beats.log.news[1][1]["reasons"] == ["session-timeout m"]


def test_topics_that_begin_to_match_are_told() -> None:
    """The epoch comes when the expression is resolved, in no heartbeat."""
    beats = Beats(t=2)
    beats.member("m", subscribed_topic_names=[], subscribed_topic_regex="t.*").join()
    beats.log.advance(1_000)

    assert ("rebalanced", {"group_id": "g", "epoch": 2, "members": 1, "reasons": ["topics-changed"]}) in beats.log.news
