"""When the next heartbeat is due, and what the coordinator has acknowledged. No I/O: Kafka's class ``Heartbeat``."""

from __future__ import annotations

from coordinator_server.client.environment import Backoff, Environment
from coordinator_server.client.settings import ConnectionSettings, GroupSettings


class HeartbeatTimer:
    """The deadlines of a member."""

    __slots__ = ("_acknowledged_s", "_backoff", "_group", "_now_s", "_undisturbed_s", "due_s", "poll_by_s", "session_until_s")

    def __init__(self, group: GroupSettings, connection: ConnectionSettings, environment: Environment) -> None:
        self._group = group
        self._now_s = environment.now_s
        self._backoff = Backoff(connection.retry_backoff_s, connection.retry_backoff_max_s, environment)
        now_s = self._now_s()
        self.due_s = now_s
        """When the next heartbeat is to be sent."""
        self.poll_by_s = now_s + group.max_poll_interval_s
        """When the owner counts as stuck."""
        self.session_until_s = now_s
        """When a coordinator that does not answer is given up."""
        self._acknowledged_s = self._undisturbed_s = now_s - max(group.session_timeout_s, group.rebalance_s)

    def poll(self) -> None:
        """Note that the owner is alive."""
        self.poll_by_s = self._now_s() + self._group.max_poll_interval_s

    def sent(self) -> float:
        """Note that a heartbeat is sent. Return the moment."""
        now_s = self._now_s()
        self.due_s = now_s + self._group.heartbeat_interval_s
        return now_s

    def failed(self) -> None:
        """Note that the last heartbeat got no answer: try again soon."""
        self.due_s = self._now_s() + self._backoff.next_s()

    def acknowledged(self, sent_s: float, *, is_stable: bool) -> None:
        """Note that the coordinator answered a request that was sent then. ``is_stable``: and that no rebalance had begun."""
        self._backoff.reset()
        self.extend()
        self._acknowledged_s = max(self._acknowledged_s, sent_s)
        if is_stable:
            self._undisturbed_s = max(self._undisturbed_s, sent_s)

    def start(self) -> None:
        """Begin the deadlines anew: JoinGroup was answered."""
        self.due_s = self._now_s() + self._group.heartbeat_interval_s
        self.poll()
        self.extend()

    def extend(self) -> None:
        """Give the coordinator a whole session for its next answer."""
        self.session_until_s = self._now_s() + self._group.session_timeout_s

    @property
    def surely_member_until_s(self) -> float:
        """Until when no other member can have been given what this one has, if clocks run equally fast.

        The coordinator removes a member a session after the last request that it received, or a rebalance timeout after the
        beginning of a rebalance. Both are counted here from the moment at which a request was sent that it answered, so they end
        here first.
        """
        return min(self._acknowledged_s + self._group.session_timeout_s, self._undisturbed_s + self._group.rebalance_s)
