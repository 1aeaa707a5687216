"""The admin client of every library: topics made and seen, groups listed and described."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interop.clients import ADMINS, Admin
from tests.interop.crew import Crew
from tests.support.eventually import eventually


@pytest.fixture
def admin(library: str, shared_bootstrap: str) -> Iterator[Admin]:
    admin = ADMINS[library](shared_bootstrap)
    yield admin
    admin.close()


def test_a_created_topic_has_its_partitions(admin: Admin, fresh_name: str) -> None:
    """CreateTopics makes what Metadata shows."""
    admin.create_topic(fresh_name, 6)

    eventually(lambda: admin.partitions_of(fresh_name) == 6)


def test_a_topic_is_created_once(admin: Admin, fresh_name: str) -> None:
    """The second time is refused, and the client says why."""
    admin.create_topic(fresh_name, 1)

    with pytest.raises(Exception, match=r"(?i)already.?exists"):
        admin.create_topic(fresh_name, 1)


def test_a_live_group_is_listed_and_described(admin: Admin, crew: Crew) -> None:
    """ListGroups knows it; DescribeGroups shows it stable with its members; OffsetFetch without topics gives all it committed."""
    owners = crew.join(2).settle()
    owners[3].commit({3: 33})

    assert crew.group in admin.groups()
    assert admin.describe(crew.group) == ("Stable", 2)
    assert admin.committed(crew.group, crew.topic) == {3: 33}
