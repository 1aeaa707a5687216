"""The properties of authorization: who may do what."""

from __future__ import annotations

from typing import Annotated, Final

from coordinator_server.config_share import ShareConfig
from coordinator_server.properties import FromKafka, Ours, Positive

STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class AccessConfig(ShareConfig, frozen=True, kw_only=True):
    """A part of ``Config``."""

    authorizer_class_name: Annotated[
        str,
        FromKafka(
            "Who checks what clients may do: this server has Kafka's standard authorizer, with the ACLs of the catalog (kafka-acls.sh, "
            "coordinator-server acls). Without an authorizer everybody may do everything.",
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
