"""A member as the kernel sees it: the values of its two records, and what each type makes of them."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar


class ModernMember(Protocol):
    """One member, a value. It exists while one of its records does; the other then has the defaults that Kafka uses."""

    @property
    def member_id(self) -> str: ...

    @property
    def metadata(self) -> Any:
        """The value of its subscription's record."""

    @property
    def current(self) -> Any:
        """The value of its assignment's record."""

    @property
    def is_in_log(self) -> bool:
        """Whether the member has a record."""


M = TypeVar("M", bound=ModernMember)
