"""A peer of a listener with SASL, in memory: what it sends in its login, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from coordinator_server.catalog.scram_users import CredentialKey, ScramMechanism
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.security.sasl.conversation import Refused, Rejected, Undecided
from coordinator_server.security.sasl.mechanisms import Mechanism
from coordinator_server.security.sasl.plain import plain
from coordinator_server.security.sasl.scram import ScramUsers, Strangers, scram
from coordinator_server.server.apis.brokers import API_VERSIONS_API
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.apis.sasl import SASL_AUTHENTICATE_API, SASL_HANDSHAKE_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.login.login import BEFORE_LOGIN, Login, SaslServices
from coordinator_server.server.wire.connection import Limits
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.cluster_metadata import UserScramCredentialRecord
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop

API_VERSIONS, HANDSHAKE, AUTHENTICATE, HEARTBEAT = 18, 17, 36, 12
TIMEOUT_MS, DELAY_MS, SESSION_MS, BYTES = 10_000, 100, 60_000, 1 << 12
WAIT, GUESS, BAD, LATER = b"wait", b"guess", b"bad", b"later"


class Word:
    """A conversation: a token is the user, WAIT (and another token comes), GUESS, BAD (rejected) or LATER (undecided)."""

    expires_ms: int | None = None

    def __init__(self) -> None:
        self.user: str | None = None
        self.claimed = ""
        self.credential: str | None = None

    def answer(self, token: bytes, /) -> bytes:
        if token == WAIT:
            return b"go on"
        if token.startswith(GUESS):
            self.claimed = "guesser"
            raise Refused("no" if self.claimed == "" else None)
        if token == BAD:
            raise Rejected('{"status":"bad"}', "it is bad")
        if token == LATER:
            raise Undecided("nobody knows yet")
        self.user = self.credential = self.claimed = token.decode()
        return b"welcome"


class Token(Word):
    """Its proof ends."""

    expires_ms = ManualClock().wall_ms() + 5_000


def has_none(_user: str) -> bool:
    return False


WORDS = {
    "WORD": Mechanism(Word, has_none, 0),
    "SHORT": Mechanism(Word, has_none, SESSION_MS),
    "TOKEN": Mechanism(Token, has_none, SESSION_MS),
}


class Nobody:
    """No user has a credential."""

    def credential(self, key: CredentialKey, /) -> UserScramCredentialRecord | None:
        return None


REAL = {
    "PLAIN": Mechanism(*plain({"user_alice": "never drawn"}), 0),
    "SCRAM-SHA-256": Mechanism(*scram(ScramMechanism.SCRAM_SHA_256, ScramUsers(Nobody(), Strangers(b"key", [4096]))), 0),
}


class Noted:
    """The logins of a loop: who is in."""

    def __init__(self) -> None:
        self.users: list[Any] = []

    def note(self, _connection: object, key: Any) -> None:
        self.users.append(key)

    def forget(self, _connection: object, key: Any) -> None:
        if key in self.users:
            self.users.remove(key)


class Peer:
    """A connection to a listener with the mechanisms WORD (no session), SHORT (a session) and TOKEN."""

    def __init__(
        self, delay_ms: int = DELAY_MS, mechanisms: Mapping[str, Mechanism] | None = None, max_bytes: int = BYTES
    ) -> None:
        self.clock, self.queue, self.loop = ManualClock(), TimerQueue(), ManualLoop()
        self.contexts: list[RequestContext] = []
        self.failures: list[tuple[str, dict[str, str]]] = []
        self.logins = Noted()
        nobody: Any = None
        logins: Any = self.logins
        rows = [API_VERSIONS_API, SASL_HANDSHAKE_API, SASL_AUTHENTICATE_API]
        apis = [serve_row(row, partial(row.handle, nobody)) for row in rows]  # type: ignore[attr-defined, arg-type]
        every = [*apis, serve_row(HEARTBEAT_API, self._beat)]
        known = Dispatcher(every, self.loop.background, has_provenance=True)
        services = self.services = SaslServices(
            "SASL",
            mechanisms or WORDS,
            logins,
            ShardTimers(self.queue, self.clock, _fire),
            self.clock,
            Dispatcher([each for each in every if each.key in BEFORE_LOGIN], self.loop.background),
            lambda: known,
            lambda host, **why: self.failures.append((host, why)),
            TIMEOUT_MS,
            delay_ms,
            max_bytes,
            1 << 20,
        )
        self.connection, self.transport = self.loop.connect(known, Limits(1 << 20, 1000))
        self.login = Login(services)
        self.login.begin(self.connection)
        self.reports: list[str] = []
        self.connection.report = lambda name, **_fields: self.reports.append(name)

    def _beat(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        self.contexts.append(context)
        reply.complete(HeartbeatResponse())

    def send(self, key: int, version: int, request: Any) -> None:
        self.receive(encode_request(key, version, 7, "client", request))

    def receive(self, data: bytes) -> None:
        self.connection.data_received(data)
        self.loop.work()

    def ask(self, key: int, version: int, request: Any) -> Any:
        self.send(key, version, request)
        return self.answer(key, version)

    def answer(self, key: int, version: int) -> Any:
        [frame] = self.frames()
        return decode_response(key, version, frame)[1]

    def frames(self) -> list[bytes]:
        data, self.transport.writes[:] = b"".join(self.transport.writes), []
        return FrameSplitter(1 << 20).feed(data) if data else []

    def shake(self, mechanism: str = "WORD", version: int = 1) -> Any:
        return self.ask(HANDSHAKE, version, SaslHandshakeRequest(mechanism))

    def say(self, token: bytes, version: int = 2) -> Any:
        return self.ask(AUTHENTICATE, version, SaslAuthenticateRequest(token))

    @property
    def is_closed(self) -> bool:
        return bool(self.transport.is_closed)

    def beat(self) -> bool:
        """Whether a heartbeat is answered; if not, the connection is closed."""
        self.send(HEARTBEAT, 4, HeartbeatRequest("group", 1, "member"))
        is_answered = bool(self.frames())
        assert is_answered != self.transport.is_closed
        return is_answered

    def advance(self, ms: int) -> None:
        self.clock.advance(ms)
        self.queue.run(self.clock.now_ms())
        self.loop.work()


def _fire(timer: Timer) -> None:
    timer.operation()
