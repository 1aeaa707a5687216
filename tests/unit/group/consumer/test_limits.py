"""What the members of consumer groups may take: a member that is too much is refused, and changes nothing."""

from __future__ import annotations

from coordinator_server.group.modern.limits import MAX_TOPICS
from protocol.error_codes import ErrorCode
from tests.support.heartbeats import Beats, config_of


def test_a_request_names_so_many_topics_at_most() -> None:
    """In any heartbeat; a member that is there stays."""
    beats = Beats(t=1)
    many = [f"t{number}" for number in range(MAX_TOPICS)]
    assert beats.member("a", subscribed_topic_names=many).join().error is None

    refused = beats.member("a").beat(subscribed_topic_names=[*many, "t"])

    assert refused.error is ErrorCode.INVALID_REQUEST
    assert beats.member("a").beat().error is None
    assert beats.log.reports == ["member-refused"]


def test_a_members_record_fits_into_a_batch() -> None:
    beats = Beats(t=1)

    refused = beats.member("a", subscribed_topic_names=["x" * 32_000 + str(number) for number in range(30)]).join()

    assert (refused.error, beats.taken()) == (ErrorCode.INVALID_REQUEST, [])


def test_a_group_has_no_room_for_more() -> None:
    """For new members, and for larger subscriptions; what members leave is free again."""
    beats = Beats(config_of(group_max_bytes="65536"), t=1)
    names = [f"{'x' * 240}{number}" for number in range(60)]
    for name in "abc":
        assert beats.member(name, subscribed_topic_names=names).join().error is None

    assert beats.member("d", subscribed_topic_names=names).join().error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert beats.member("c").beat(subscribed_topic_names=[*names, *(f"{name}y" for name in names)]).error is (
        ErrorCode.GROUP_MAX_SIZE_REACHED
    )
    assert beats.member("c").beat(subscribed_topic_names=["t"]).error is None
    beats.member("a").leave()
    assert beats.member("d").join().error is None
    assert set(beats.log.reports) == {"group-full"}


def test_all_groups_of_a_loop_share_their_memory() -> None:
    """A refusal that clients retry. Members that left, and joins that were not written, take nothing."""
    beats = Beats(config_of(members_max_bytes="65536"), t=1)
    names = [f"{'x' * 240}{number}" for number in range(60)]
    for name in "abc":
        beats.member(name, subscribed_topic_names=names).join()

    assert beats.member("d", subscribed_topic_names=names).join().error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    beats.member("a").leave()
    beats.log.is_holding = True
    beats.member("d").join()
    beats.log.fail()
    beats.log.is_holding = False
    assert beats.member("d").join().error is None
    assert beats.log.reports == ["members-full"]


def test_a_count_survives_a_restart_and_ends_with_the_shard() -> None:
    beats = Beats(t=1)
    beats.member("a").join()
    used = beats.log.shard.groups.consumer_context.memory.count()
    beats.log.restart()
    consumer = beats.log.shard.groups.consumer_context

    assert consumer.memory.count() == used > 1000
    beats.log.shard.on_unloaded()
    consumer.memory.forget()
    assert consumer.groups.member_bytes.value == used
