"""The properties of authentication with SASL."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from coordinator_server.config_access import AccessConfig
from coordinator_server.properties import Count, FromKafka, Millis, Ours, Positive


class SaslConfig(AccessConfig, frozen=True, kw_only=True):
    """A part of ``Config``."""

    sasl_enabled_mechanisms: Annotated[
        str,
        FromKafka(
            "The SASL mechanisms of listeners with SASL_PLAINTEXT or SASL_SSL. The users of SCRAM are in the catalog "
            "(coordinator-server users, kafka-configs.sh), those of PLAIN in sasl.jaas.config.",
            form="PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512, one or more, separated by commas",
            kafka_default="GSSAPI",
            is_reloadable=True,
        ),
    ] = ""
    sasl_jaas_config: Annotated[
        str,
        FromKafka(
            "The users of PLAIN, with their passwords: listener.name.NAME.plain.sasl.jaas.config. Other mechanisms need none.",
            form='org.apache.kafka.common.security.plain.PlainLoginModule required user_NAME="PASSWORD" …;',
            is_secret=True,
            is_reloadable=True,
        ),
    ] = ""
    sasl_server_max_receive_size: Annotated[
        Annotated[int, Meta(ge=1024)],
        FromKafka("The largest request before a client is authenticated.", unit="bytes", kafka_default=524_288),
    ] = 65_536
    sasl_login_timeout_ms: Annotated[
        Positive,
        Ours("A client that is not authenticated after this time is closed, whatever it has sent."),
    ] = 10_000
    connections_max_reauth_ms: Annotated[
        Count,
        FromKafka(
            "The time after which a client must authenticate again (KIP-368). A client that has not done so is closed with its next "
            "request. 0 never asks for it.",
            is_reloadable=True,
        ),
    ] = 0
    connection_failed_authentication_delay_ms: Annotated[
        Millis,
        FromKafka(
            "A client whose authentication has failed is answered and closed after this time, so that guessing takes time."
        ),
    ] = 100
    scram_unknown_user_iterations: Annotated[
        str,
        Ours(
            "The iterations that users who do not exist appear to have, so that nobody learns from them which users exist. Name those "
            "that your users have; a number that stands twice is twice as frequent.",
            form="numbers from 4096 to 16384, separated by commas",
            is_reloadable=True,
        ),
    ] = "4096"
    scram_credentials_max: Annotated[
        Positive,
        Ours("The maximum number of SCRAM credentials of users. A change that exceeds it is refused.", unit="credentials"),
    ] = 100_000
