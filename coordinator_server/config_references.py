"""Values of properties that stand elsewhere, as Kafka's config providers spell them, so that secrets are on no command line.

${env:NAME}              an environment variable (EnvVarConfigProvider)
${file:PATH:KEY}         a line KEY=VALUE of a file (FileConfigProvider)
${directory:PATH:KEY}    the content of the file KEY in a directory (DirectoryConfigProvider)
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from coordinator_server.config import ConfigError
from coordinator_server.config_values import is_secret

_REFERENCE: Final = re.compile(r"\$\{(env|file|directory):([^}]*)\}")


def check_no_secret(name: str, value: str) -> None:
    """Raise ConfigError if a value of the command line is a secret itself, and not a reference to one."""
    if value and is_secret(name) and _REFERENCE.fullmatch(value) is None:
        raise ConfigError(
            f"{name} on the command line is seen by everybody on this machine: "
            "${env:NAME}, ${directory:PATH:FILE} and ${file:PATH:KEY} say where it stands"
        )


def resolved(name: str, text: str) -> str:
    """Return the value of a property, with references resolved. Raises ConfigError."""

    def value(reference: re.Match[str]) -> str:
        try:
            return _value(reference[1], reference[2])
        except OSError as refused:
            raise ConfigError(f"{name}={text}: {refused.filename} cannot be read: {refused.strerror}") from None
        except KeyError as missing:
            raise ConfigError(f"{name}={text}: {missing.args[0]}") from None

    return _REFERENCE.sub(value, text)


def _value(provider: str, where: str) -> str:
    if provider == "env":
        if where not in os.environ:
            raise KeyError(f"the environment has no variable {where}")
        return os.environ[where]
    path, colon, key = where.rpartition(":")
    if not colon:
        raise KeyError(f"${{{provider}:PATH:KEY}} is required")
    if provider == "directory":
        return (Path(path) / key).read_text(encoding="utf-8").removesuffix("\n")
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        found, equals, value = line.partition("=")
        if equals and found.strip() == key:
            return value.strip()
    raise KeyError(f"{path} has no line {key}=…")
