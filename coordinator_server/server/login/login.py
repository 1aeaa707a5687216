"""How a client of a listener with SASL proves who it is, before its requests are served (Kafka's ``SaslServerAuthenticator``).

    BEGUN ──ApiVersions──► VERSIONS_SENT ──SaslHandshake──► TOKENS ──SaslAuthenticate…──► DONE ──time──► EXPIRED
      └─────────SaslHandshake────────────────────────────────►┘ ▲                            │             │
                                                                └────SaslHandshake (KIP-368)─┴─────────────┘

A connection begins with its Login as its dispatcher, which lets nothing else through. When the client is known, the connection gets
the dispatcher of all requests, and what it remembered of earlier ones is dropped. So a served request costs nothing more.

A refusal is answered after ``connection.failed.authentication.delay.ms``, and closes the connection. One that is not DONE after
``sasl.login.timeout.ms`` is closed without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.login.logins import ListenerUser, Logins
from coordinator_server.server.wire.connection import Connection, Dispatch, UnservedRequest
from protocol.api import API_VERSIONS_KEY, APIS
from protocol.error_codes import ErrorCode
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

if TYPE_CHECKING:
    # Only a server with SASL loads the package.
    from coordinator_server.security.sasl.conversation import Conversation
    from coordinator_server.security.sasl.mechanisms import Mechanism

HANDSHAKE_KEY: Final = SaslHandshakeRequest.kafka.key
AUTHENTICATE_KEY: Final = SaslAuthenticateRequest.kafka.key
BEFORE_LOGIN: Final = frozenset({API_VERSIONS_KEY, HANDSHAKE_KEY, AUTHENTICATE_KEY})
"""The APIs of a client that is not known yet."""
REAUTHENTICATION_MS: Final = 1_000
"""The least time between the beginnings of two authentications of a connection, as in Kafka."""
_USER: Final = "User:"


class State(Enum):
    """What the client has proved."""

    BEGUN = "begun"
    VERSIONS_SENT = "versions sent"
    TOKENS = "tokens"
    DONE = "done"
    EXPIRED = "expired"
    FAILED = "failed"


# In state TOKENS a wrong request is answered with ILLEGAL_SASL_STATE, and then closes; in the others it closes at once.
_ACCEPTED: Final[Mapping[State, frozenset[int | None]]] = {
    State.BEGUN: frozenset({API_VERSIONS_KEY, HANDSHAKE_KEY}),
    State.VERSIONS_SENT: frozenset({HANDSHAKE_KEY}),
    State.TOKENS: frozenset({HANDSHAKE_KEY, AUTHENTICATE_KEY}),
    State.DONE: frozenset(),
    State.EXPIRED: frozenset({HANDSHAKE_KEY}),
    State.FAILED: frozenset(),
}

AuthenticationFailed = Callable[..., None]
"""Notes a failure: (host, *, listener, mechanism, user, why)."""


class SaslServices(NamedTuple):
    """What the logins of a listener share.

    ``before`` runs the requests of clients that are not known yet, and what ``after`` returns those of clients that are.
    """

    listener: str
    mechanisms: Mapping[str, Mechanism]
    logins: Logins
    timers: CoordinatorTimer
    clock: Clock
    before: Dispatch
    after: Callable[[], Dispatch]
    failed: AuthenticationFailed
    timeout_ms: int
    delay_ms: int
    # The largest requests of clients that are not known yet, and known.
    bytes_before: int
    bytes_after: int


class _Refusal(NamedTuple):
    """What a refused client gets, and why, for the audit log: empty if it is noted already."""

    message: str
    why: str


class Login:
    """The authentication of one connection. It does not refer to the connection, which refers to it."""

    def __init__(self, services: SaslServices) -> None:
        self.state = State.BEGUN
        self._services = services
        self._mechanism = ""
        self._conversation: Conversation | None = None
        self._max_reauth_ms = 0
        # Tokens come without a request around them (SaslHandshake version 0).
        self._is_bare = False
        # What a client was answered that was rejected, and will be refused with.
        self._rejection = ""
        # Of a connection that has been authenticated before.
        self._principal: str | None = None
        self._proved_by = ""
        self._credential: Any = None
        self._can_expire = False
        self._last_begun_ms: int | None = None

    def begin(self, connection: Connection) -> None:
        """Let a new connection begin with its login."""
        connection.login = self
        connection.dispatch_with(self, self._services.bytes_before)
        connection.park(self, partial(self._ended, connection))
        self._after(self._services.timeout_ms, _DEADLINE, partial(self._too_late, connection))

    # Called by the connection

    def __call__(self, connection: Connection, frame: bytes, /) -> bool:
        """Run a request of a client that is not known. Raises UnservedRequest for others than those of the login."""
        services, state = self._services, self.state
        if state is State.DONE:
            # It became known in this pass of the connection.
            return services.after()(connection, frame)
        if state is State.FAILED:
            return True
        if state is State.TOKENS and self._is_bare:
            self._take_bare(connection, frame)
            return True
        key = int.from_bytes(frame[:2], "big", signed=True)
        if key not in _ACCEPTED[state]:
            raise UnservedRequest(f"API key {key} before the client is authenticated ({state.value})")
        has_started = services.before(connection, frame)
        if has_started and key == API_VERSIONS_KEY and not connection.unanswered and _is_known_version(frame):
            self.state = State.VERSIONS_SENT
        return has_started

    # Called by the handlers

    def choose(self, version: int, mechanism: str, reply: Exchange[SaslHandshakeResponse]) -> None:
        """Begin with the mechanism that a SaslHandshake names."""
        services = self._services
        names = list(services.mechanisms)
        if self.state in (State.DONE, State.EXPIRED):
            if not self._may_begin_again():
                reply.complete(SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE, []))
                return
            reply.connection.dispatch_with(self, services.bytes_before)
            self._after(services.timeout_ms, _DEADLINE, partial(self._too_late, reply.connection))
        elif self.state is State.TOKENS:
            self._fail(reply, SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE, []), "a second SaslHandshake")
            return
        if mechanism not in services.mechanisms:
            unsupported = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, names)
            self._fail(reply, unsupported, f"the mechanism is not one of {', '.join(names)}")
            return
        self._mechanism, self._is_bare = mechanism, version == 0
        chosen = services.mechanisms[mechanism]
        self._conversation, self._max_reauth_ms = chosen.begin(), chosen.max_reauth_ms
        self.state = State.TOKENS
        reply.complete(SaslHandshakeResponse(ErrorCode.NONE, names))

    def take(self, token: bytes, reply: Exchange[SaslAuthenticateResponse]) -> None:
        """Answer the token of a SaslAuthenticate."""
        if self.state is not State.TOKENS:
            reply.complete(SaslAuthenticateResponse(ErrorCode.ILLEGAL_SASL_STATE, NOT_EXPECTED))
            return
        if self._principal is not None and self._mechanism != self._proved_by:
            # As in Kafka, without an answer.
            self._note(reply.connection, f"re-authentication with {self._mechanism} in place of {self._proved_by}")
            self._close_later(reply.connection, lambda: None)
            return
        outcome = self._answer(reply.connection, token)
        if outcome is None:
            self._close_later(reply.connection, lambda: None)
            return
        if isinstance(outcome, _Refusal):
            refused = SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, outcome.message)
            self._fail(reply, refused, outcome.why)
            return
        lifetime_ms = self._finish(reply.connection) if self._is_proved else 0
        reply.complete(SaslAuthenticateResponse(ErrorCode.NONE, "", outcome, lifetime_ms))

    # Internal

    @property
    def _is_proved(self) -> bool:
        return self._conversation is not None and self._conversation.user is not None

    def _answer(self, connection: Connection, token: bytes) -> bytes | _Refusal | None:
        """Return the answer to a token, or the refusal; None: the client is closed without one."""
        from coordinator_server.security.sasl.conversation import Refused, Rejected, Undecided

        if self._rejection:
            return _Refusal(self._rejection, "")
        again = self._principal is not None
        assert self._conversation is not None
        try:
            answer = self._conversation.answer(token)
        except Refused as refused:
            which = "re-authentication" if again else "authentication"
            generic = f"Authentication failed during {which} due to invalid credentials with SASL mechanism {self._mechanism}"
            message = refused.message or generic
            return _Refusal(message, refused.why or message)
        except Rejected as rejected:
            self._note(connection, rejected.why)
            self._rejection = rejected.message
            return rejected.message.encode()
        except Undecided as undecided:
            self._note(connection, str(undecided))
            return None
        if again and self._is_proved and _USER + str(self._conversation.user) != self._principal:
            before = str(self._principal).replace(":", ".", 1)
            message = f"Cannot change principals during re-authentication from {before}: User.{self._conversation.user}"
            return _Refusal(message, message)
        return answer

    def _take_bare(self, connection: Connection, token: bytes) -> None:
        outcome = self._answer(connection, token)
        if not isinstance(outcome, bytes):
            if outcome is not None and outcome.why:
                self._note(connection, outcome.why)
            self._close_later(connection, lambda: None)
            return
        connection.out += len(outcome).to_bytes(4, "big") + outcome
        if self._is_proved:
            self._finish(connection)

    def _finish(self, connection: Connection) -> int:
        """Let a client that is known in, and return for how many milliseconds; 0 is without end."""
        services, conversation = self._services, self._conversation
        assert conversation is not None
        self._principal, self._proved_by = f"{_USER}{conversation.user}", self._mechanism
        services.logins.forget(connection, self._credential)
        self._credential = conversation.credential or ListenerUser(services.listener, self._mechanism, str(conversation.user))
        services.logins.note(connection, self._credential)
        lifetime_ms = _lifetime_ms(self._max_reauth_ms, conversation.expires_ms, services.clock)
        self._can_expire = lifetime_ms is not None
        self._conversation = None
        self.state = State.DONE
        connection.principal = self._principal
        connection.dispatch_with(services.after(), services.bytes_after)
        services.timers.cancel((self, _DEADLINE))
        if lifetime_ms is not None:
            self._after(lifetime_ms, _EXPIRY, partial(self._expire, connection))
        return lifetime_ms or 0

    def _may_begin_again(self) -> bool:
        now_ms, last_ms = self._services.clock.now_ms(), self._last_begun_ms
        if not self._can_expire or (last_ms is not None and now_ms - last_ms < REAUTHENTICATION_MS):
            return False
        self._last_begun_ms = now_ms
        return True

    def _expire(self, connection: Connection) -> None:
        """The client must authenticate again before its next request."""
        if self.state is State.DONE:
            self.state = State.EXPIRED
            connection.dispatch_with(self, self._services.bytes_before)

    def _fail(self, reply: Exchange[Any], response: Any, why: str) -> None:
        if why:
            self._note(reply.connection, why)
        # Not in the thread, also if the request was large: the connection closes when this is written.
        reply.is_large = False
        self._close_later(reply.connection, partial(reply.complete, response))

    def _note(self, connection: Connection, why: str) -> None:
        user = "" if self._conversation is None else self._conversation.claimed
        names = {"listener": self._services.listener, "mechanism": self._mechanism, "user": user}
        self._services.failed(connection.peer_host, **names, why=why)

    def _close_later(self, connection: Connection, answer: Callable[[], None]) -> None:
        self.state = State.FAILED
        self._conversation = None
        connection.stop_reading()

        def close() -> None:
            answer()
            connection.close()

        self._after(self._services.delay_ms, _FAILURE, close)

    def _too_late(self, connection: Connection) -> None:
        if not connection.is_connected:
            # The TLS handshake has a time of its own. What follows it has this one.
            self._after(self._services.timeout_ms, _DEADLINE, partial(self._too_late, connection))
        elif self.state not in (State.DONE, State.FAILED):
            connection.report("login-timed-out", peer=connection.peer, action="closed: it was not authenticated in time")
            connection.abort()

    def _ended(self, connection: Connection) -> None:
        for name in (_DEADLINE, _EXPIRY, _FAILURE):
            self._services.timers.cancel((self, name))
        self._services.logins.forget(connection, self._credential)

    def _after(self, delay_ms: int, name: str, run: Callable[[], None]) -> None:
        def operation() -> CoordinatorResult[None]:
            run()
            return CoordinatorResult(None)

        self._services.timers.schedule((self, name), delay_ms, operation)


_DEADLINE: Final = "deadline"
_EXPIRY: Final = "expiry"
_FAILURE: Final = "failure"
NOT_EXPECTED: Final = "SaslAuthenticate request received after successful authentication"


def _is_known_version(frame: bytes) -> bool:
    """Return whether an ApiVersions request was of a version that is served: if not, the client asks again."""
    return int.from_bytes(frame[2:4], "big", signed=True) in APIS[API_VERSIONS_KEY].versions


def _lifetime_ms(max_reauth_ms: int, expires_ms: int | None, clock: Clock) -> int | None:
    """Return the time until a client must authenticate again, or None if it need not."""
    limits = [max_reauth_ms] if max_reauth_ms else []
    if expires_ms is not None:
        limits.append(max(0, expires_ms - clock.wall_ms()))
    return min(limits) if limits else None
