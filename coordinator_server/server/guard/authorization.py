"""The authorizer of a loop: its configuration, the ACLs of the catalog, and the lines of the audit log about what it denies."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator_server.catalog.acl_model import Acl
from coordinator_server.catalog.acls import ACLS
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.config.values import super_users
from coordinator_server.machine.shard import RequestContext
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.family_news import FamilyNews
from coordinator_server.server.guard.audit import Audit
from protocol.acl_codes import Operation, ResourceType


def authorizer_of(config: Config) -> Authorizer | None:
    """Return the authorizer, or None if everybody may do everything. Raises ConfigError."""
    if not config.access.authorizer_class_name:
        return None
    return Authorizer(super_users(config), allows_unlisted=config.access.allow_everyone_if_no_acl_found)


def follow_acls(authorizer: Authorizer | None, catalog: Catalog, family_news: FamilyNews, audit: Audit) -> None:
    """Let the authorizer know the catalog's ACLs, and the audit log what it denies."""
    if authorizer is None:
        return

    def load() -> None:
        authorizer.load({record.id: record for record in catalog.read(CatalogShard.records, ACLS)}, Acl.of_record)

    def report(context: RequestContext, operation: Operation, resource_type: ResourceType, names: Sequence[str], /) -> None:
        kind = _in_words(resource_type)
        audit.denied(context, _in_words(operation), [f"{kind}:{name}" for name in names])

    family_news.follow(ACLS, load)
    authorizer.report = report


def _in_words(constant: Operation | ResourceType) -> str:
    """Return Kafka's name, such as ``DescribeConfigs``."""
    return constant.name.title().replace("_", "")
