"""References to values of properties, as Kafka's config providers spell them, so that secrets are on no command line.

${env:NAME}              an environment variable (EnvVarConfigProvider)
${file:PATH:KEY}         a line KEY=VALUE of a file (FileConfigProvider)
${directory:PATH:KEY}    the content of the file KEY in a directory (DirectoryConfigProvider)

The text around a reference may be secret: an error names the property and the reference that cannot be resolved,
and nothing else.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from coordinator_server.config.errors import ConfigError
from coordinator_server.config.names import is_secret

RESOLVED_AT_USE: Final = frozenset({"store.password"})
"""Properties whose references are resolved each time that the value is used, too: it may change while the server runs."""
_REFERENCE: Final = re.compile(r"\$\{(env|file|directory):([^}]*)\}")
# A reference whose brace is missing extends to the next one in the text: it is not quoted if it has more than names have.
_PLAIN: Final = re.compile(r"[\w./:@+~-]{0,256}")


def check_no_secret(name: str, value: str) -> None:
    """Raise ConfigError if a value of the command line is a secret itself, and not a reference to one."""
    if value and is_secret(name) and _REFERENCE.fullmatch(value) is None:
        raise ConfigError(
            f"{name} on the command line is seen by everybody on this machine: "
            "use ${env:NAME}, ${directory:PATH:FILE} or ${file:PATH:KEY}"
        )


def resolved(name: str, text: str) -> str:
    """Return the value of a property, with references resolved. Raises ConfigError."""

    def value(reference: re.Match[str]) -> str:
        provider, where = reference.groups()
        if _PLAIN.fullmatch(where) is None:
            raise ConfigError(
                f"{name}: a reference of the form ${{{provider}:…}} has characters that names do not have, or no end"
            )
        try:
            return _value(provider, where)
        except OSError as refused:
            why = f"cannot be read: {refused.strerror}"
        except UnicodeDecodeError:
            why = "is not UTF-8"
        except KeyError as missing:
            why = missing.args[0]
        raise ConfigError(f"{name}: {reference[0]} {why}") from None

    return _REFERENCE.sub(value, text)


def _value(provider: str, where: str) -> str:
    if provider == "env":
        if where not in os.environ:
            raise KeyError("is no variable of the environment")
        return os.environ[where]
    path, colon, key = where.rpartition(":")
    if not colon:
        raise KeyError(f"has no key: ${{{provider}:PATH:KEY}} is required")
    if provider == "directory":
        return (Path(path) / key).read_text(encoding="utf-8").removesuffix("\n")
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        found, equals, value = line.partition("=")
        if equals and found.strip() == key:
            return value.strip()
    raise KeyError(f"is not there: {path} has no line {key}=…")
