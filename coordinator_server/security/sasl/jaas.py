"""The text of ``sasl.jaas.config``: a login module, a flag and options (Kafka's ``JaasConfig``).

``org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";``
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_FLAGS: Final = ("required", "requisite", "sufficient", "optional")
_TOKEN: Final = re.compile(r"""\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s"'=;]+)|([=;]))""")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


class JaasEntry(NamedTuple):
    """The only entry of a text. ``options`` may have passwords."""

    module: str
    options: dict[str, str]


class BadJaas(ValueError):
    """The text is not one entry. The message does not quote it, because it has passwords."""


def parse_jaas(text: str) -> JaasEntry:
    """Return the entry of a text. Raises BadJaas."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[-1] != ";":
        raise BadJaas("is not MODULE required NAME=VALUE …; with a semicolon at its end")
    module, flag, *rest = tokens[:-1]
    if flag.lower() not in _FLAGS:
        raise BadJaas(f"has no flag after the module: one of {', '.join(_FLAGS)}")
    if len(rest) % 3 or any(equals != "=" for equals in rest[1::3]):
        raise BadJaas("has an option that is not NAME=VALUE, with double quotes around a value that is not a word")
    return JaasEntry(module, dict(zip(rest[::3], rest[2::3], strict=True)))


def _tokens(text: str) -> list[str]:
    found, at, text = [], 0, text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise BadJaas("has a quote that does not end")
        quoted = token[1] if token[1] is not None else token[2]
        found.append(_ESCAPE.sub(r"\1", quoted) if quoted is not None else token[3] or token[4])
        at = token.end()
    return found
