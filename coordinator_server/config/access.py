"""The properties of authorization and authentication: who may do what, and logins with SASL.

``live.py`` has what SIGHUP changes.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from coordinator_server.config.description import FromKafka, Millis, Ours, Part, Positive

STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class AccessConfig(Part, frozen=True, kw_only=True):
    """A part of ``Config``."""

    authorizer_class_name: Annotated[
        str,
        FromKafka(
            "Who checks what clients may do: this server has Kafka's standard authorizer, with the ACLs of the catalog "
            "(kafka-acls.sh, coordinator-server acls). Without an authorizer everybody may do everything.",
            form="org.apache.kafka.metadata.authorizer.StandardAuthorizer, or nothing",
        ),
    ] = ""
    super_users: Annotated[
        str,
        FromKafka(
            "The principals that may do everything, whatever the ACLs say.",
            form="TYPE:NAME, separated by semicolons, such as User:admin;User:CN=ops,O=example",
        ),
    ] = ""
    allow_everyone_if_no_acl_found: Annotated[
        bool,
        FromKafka("Whether everybody may do everything with a resource that no ACL is about. An ACL of anybody closes it."),
    ] = False
    acls_max: Annotated[Positive, Ours("The maximum number of ACLs. A change that exceeds it is refused.", unit="ACLs")] = 100_000
    sasl_server_max_receive_size: Annotated[
        Annotated[int, Meta(ge=1024)],
        FromKafka("The largest request before a client is authenticated.", unit="bytes", kafka_default=524_288),
    ] = 65_536
    sasl_login_timeout_ms: Annotated[
        Positive,
        Ours("A client that is not authenticated after this time is closed, whatever it has sent."),
    ] = 10_000
    connection_failed_authentication_delay_ms: Annotated[
        Millis,
        FromKafka(
            "A client whose authentication has failed is answered and closed after this time, so that guessing takes time."
        ),
    ] = 100
    scram_credentials_max: Annotated[
        Positive,
        Ours("The maximum number of SCRAM credentials of users. A change that exceeds it is refused.", unit="credentials"),
    ] = 100_000
