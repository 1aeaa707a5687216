"""The rebalance timeout of members. A member that does not give up partitions in time is removed (``leave.py``).

It measures the time that this server has been running, and begins anew after a load.
"""

from __future__ import annotations

from functools import partial

from coordinator_server.group.consumer.context import REBALANCE, ConsumerContext
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberState
from coordinator_server.group.modern.sessions import RETRY_MS


def await_revocation(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """Start the rebalance timeout of a member that has partitions to give up, or stop it if it has none."""
    key = consumer.timer_key(REBALANCE, group_id, member.member_id)
    if member.state is not MemberState.UNREVOKED_PARTITIONS:
        consumer.timer.cancel(key)
        return
    expire = partial(consumer.on_revocation_end, group_id, member.member_id, member.member_epoch)
    consumer.timer.schedule(key, member.metadata.rebalance_timeout_ms, expire, RETRY_MS)
