"""The properties of OAUTHBEARER: how the tokens of clients are validated, and where the keys are that vouch for them.

SIGHUP changes them, and fetches the keys again. Each may be that of one listener:
``listener.name.NAME.oauthbearer.sasl.oauthbearer.jwks.endpoint.url``.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from coordinator_server.config.description import Count, FromKafka, Ours, Part, Positive

_CLASSES: Final = "org.apache.kafka.common.security.oauthbearer."
HANDLERS: Final = ("", f"{_CLASSES}OAuthBearerValidatorCallbackHandler", f"{_CLASSES}secured.OAuthBearerValidatorCallbackHandler")
VALIDATORS: Final = (f"{_CLASSES}DefaultJwtValidator", f"{_CLASSES}BrokerJwtValidator")
Name = Annotated[str, Meta(min_length=1)]


class OAuthBearerConfig(Part, frozen=True, kw_only=True):
    """A part of ``LiveConfig``."""

    sasl_oauthbearer_jwks_endpoint_url: Annotated[
        str,
        FromKafka(
            "Where the public keys are that vouch for tokens (a JWKS, RFC 7517), which OAUTHBEARER requires. A URL is fetched "
            "beside the loop, and old keys stay in use while it cannot be. A change of a file counts within a second.",
            form="a URL: https://HOST/PATH, http://HOST/PATH or file:///PATH",
            follows="connections.max.reauth.ms",
        ),
    ] = ""
    sasl_oauthbearer_jwks_endpoint_refresh_ms: Annotated[
        Positive, FromKafka("The interval in which the keys of a URL are fetched again.")
    ] = 3_600_000
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms: Annotated[
        Positive,
        FromKafka(
            "The time between a fetch of the keys and the next one that a failure or a token with an unknown key asks for. It "
            "doubles while no fetch brings new keys."
        ),
    ] = 100
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms: Annotated[Positive, FromKafka("The longest such time.")] = 10_000
    sasl_oauthbearer_expected_audience: Annotated[
        str,
        FromKafka(
            "The audiences (claim aud) of which a token must have one. Without a value, a token that is for an audience is "
            "refused.",
            form="texts, separated by commas, such as kafka,coordinator",
        ),
    ] = ""
    sasl_oauthbearer_expected_issuer: Annotated[
        str,
        FromKafka(
            "The issuer (claim iss) that a token must have. Without a value, whoever has a key of the set may be its issuer.",
            form="a text, such as https://login.example/",
        ),
    ] = ""
    sasl_oauthbearer_clock_skew_seconds: Annotated[
        Count,
        FromKafka(
            "By how much the clock of the issuer may differ: a token is taken that long before its begin and after its end."
        ),
    ] = 30
    sasl_oauthbearer_sub_claim_name: Annotated[
        Name, FromKafka("The claim that has the name of the principal: User:NAME.", form="the name of a claim")
    ] = "sub"
    sasl_oauthbearer_scope_claim_name: Annotated[
        Name,
        FromKafka(
            "The claim that has scopes. They are checked, and have no effect: a scope twice makes a token invalid.",
            form="the name of a claim",
        ),
    ] = "scope"
    sasl_oauthbearer_algorithms: Annotated[
        str,
        Ours(
            "The algorithms with which tokens may be signed. None of them needs a secret on this side.",
            form="RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 and EdDSA, one or more, separated by commas",
        ),
    ] = "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA"
    sasl_oauthbearer_jwt_validator_class: Annotated[
        str,
        FromKafka("How tokens are validated: as Kafka's broker does it.", form=" or ".join(VALIDATORS)),
    ] = VALIDATORS[0]
    sasl_server_callback_handler_class: Annotated[
        str,
        FromKafka(
            "What Kafka's brokers need for tokens that are signed. This server takes no others, with or without it.",
            form=f"{HANDLERS[1]}, or nothing",
        ),
    ] = ""
