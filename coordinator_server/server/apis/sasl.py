"""SaslHandshake (17) and SaslAuthenticate (36): the connection's login answers them (``server/login/login.py``).

On a listener without SASL, and where no authentication is expected, both are refused, as in Kafka.
"""

from __future__ import annotations

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import OPEN
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.login.login import NOT_EXPECTED, Login
from coordinator_server.server.wire.order import Order
from protocol.error_codes import ErrorCode
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def sasl_handshake(
    node: Node, context: RequestContext, request: SaslHandshakeRequest, reply: Exchange[SaslHandshakeResponse]
) -> None:
    login = reply.connection.login
    if isinstance(login, Login):
        login.choose(context.api_version, request.mechanism, reply)
    else:
        reply.fail(ErrorCode.ILLEGAL_SASL_STATE)


SASL_HANDSHAKE_API = ApiRow(
    SaslHandshakeRequest, SaslHandshakeResponse, sasl_handshake, error_only(SaslHandshakeResponse), Order.ALONE, access=OPEN
)


def sasl_authenticate(
    node: Node, context: RequestContext, request: SaslAuthenticateRequest, reply: Exchange[SaslAuthenticateResponse]
) -> None:
    login = reply.connection.login
    if isinstance(login, Login):
        login.take(request.auth_bytes, reply)
    else:
        reply.fail(ErrorCode.ILLEGAL_SASL_STATE, NOT_EXPECTED)


SASL_AUTHENTICATE_API = ApiRow(
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    sasl_authenticate,
    error_only(SaslAuthenticateResponse),
    Order.ALONE,
    access=OPEN,
)
