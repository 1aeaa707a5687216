"""The names of principals that come with certificates: ``ssl.principal.mapping.rules`` (Kafka's ``SslPrincipalMapper``).

A rule is ``DEFAULT``, the whole distinguished name, or ``RULE:pattern/replacement/[LU]``: where the pattern matches the whole name,
the result is the replacement, in which ``$1`` is the first group; ``L`` and ``U`` change the case. The first rule that matches
counts. Patterns are RE2's, because the names come from peers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import re2

from coordinator_server.config import ConfigError

_RULES: Final = "ssl.principal.mapping.rules"
# A part of a rule ends at a slash that is not escaped.
_PART: Final = r"((?:\\.|[^\\/])*)"
_RULE: Final = re.compile(rf"(DEFAULT)|RULE:{_PART}/{_PART}/([LU]?)")
_SEPARATOR: Final = re.compile(r"\s*(?:,\s*|$)")
_GROUP: Final = re.compile(r"\\(.)|\$(\d+)")

Rule = Callable[[str], str | None]


class NoPrincipal(ValueError):
    """No rule matches the name of a certificate; the message has it."""


class PrincipalMapping:
    """The rules in their order. Raises ConfigError for rules that cannot be read."""

    def __init__(self, rules: str) -> None:
        self._text = rules
        self._rules: Sequence[Rule] = list(map(self._rule, _split(rules)))

    def principal(self, distinguished_name: str) -> str:
        """Return the name of the principal. Raises NoPrincipal."""
        for rule in self._rules:
            name = rule(distinguished_name)
            if name is not None:
                return name
        raise NoPrincipal(f"no rule of {_RULES} matches {distinguished_name}")

    def _rule(self, rule: re.Match[str]) -> Rule:
        if rule[1]:
            return lambda name: name
        pattern, replacement, case = rule[2], rule[3], rule[4]
        try:
            compiled = re2.compile(pattern)
        except re2.error as bad:
            raise ConfigError(f"{_RULES}={self._text}: {pattern}: {bad}") from None
        template = _template(replacement, compiled.groups)

        def apply(name: str) -> str | None:
            match = compiled.fullmatch(name)
            if match is None:
                return None
            found = "".join(part if isinstance(part, str) else match.group(part) or "" for part in template)
            return found.lower() if case == "L" else found.upper() if case == "U" else found

        return apply


def _split(rules: str) -> Sequence[re.Match[str]]:
    text, at, found = rules.strip(), 0, []
    while at < len(text):
        rule = _RULE.match(text, at)
        end = _SEPARATOR.match(text, rule.end()) if rule is not None else None
        if rule is None or end is None:
            raise ConfigError(f"{_RULES}={rules}: {text[at:]!r} is neither DEFAULT nor RULE:pattern/replacement/[LU]")
        found.append(rule)
        at = end.end()
    return found


def _template(replacement: str, groups: int) -> Sequence[str | int]:
    """Return the texts and group numbers of a replacement.

    As in Java, ``$123`` is group 12 and a 3 where there are fewer groups than 123. A group that does not exist stays a text.
    """
    parts: list[str | int] = []
    at = 0
    for found in _GROUP.finditer(replacement):
        parts.append(replacement[at : found.start()])
        at = found.end()
        if found[1] is not None:
            parts.append(found[1])
            continue
        digits = found[2]
        number = digits
        while len(number) > 1 and int(number) > groups:
            number = number[:-1]
        parts += [int(number), digits[len(number) :]] if int(number) <= groups else [f"${digits}"]
    return [*parts, replacement[at:]]
