"""What the scripts of one simulation share."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.client import Client
from tests.simulation.history import History, Incident, Op
from tests.simulation.network import Network
from tests.simulation.world import World


class Stage:
    """The world, its network, and the history that everybody writes to."""

    def __init__(self, world: World, network: Network) -> None:
        self.world = world
        self.network = network
        self.history = History()
        # Who has been a member, and of which generation: group, member id, generation, instance id.
        self.known: list[tuple[str, str, int, str | None]] = []
        # The ids of topics, once somebody has asked for them.
        self.topic_ids: dict[str, bytes] = {}
        self.is_calm = False
        # Called with each answer as it arrives. A test that wants to see a checker fail alters some.
        self.answered: Callable[[Op], None] = lambda _op: None
        self._values = 0

    def next_value(self) -> int:
        """A number that nobody had before."""
        self._values += 1
        return self._values

    def known_by(self, version: int) -> int:
        """The version to ask about offsets in: the ones with topic ids only when those are known."""
        return version if self.topic_ids else min(version, 9)

    def client(self, client_id: str) -> Client:
        return Client(self.network, client_id, self._record, self._answered)

    def tell(self, what: str) -> None:
        """Something happened to the server."""
        self.history.incidents.append(Incident(self.world.now_us, what))

    def _answered(self, op: Op) -> None:
        # Where topics go by id the checkers want names all the same.
        for group in [op.response, *(getattr(op.response, "groups", None) or ())]:
            for topic in getattr(group, "topics", None) or ():
                if not getattr(topic, "name", "x"):
                    topic.name = next((name for name, known in self.topic_ids.items() if known == topic.topic_id), "")
        # Whoever alters answers may come after the first client.
        self.answered(op)

    def _record(self, op: Op) -> None:
        op.number = len(self.history.ops)
        self.history.ops.append(op)
