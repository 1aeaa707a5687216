"""Where properties come from: a file, the environment, the command line. Of one name, the last of these counts.

    --config FILE    TOML or Java properties, by the file's ending
    KAFKA_…          environment variables, as Kafka's container image spells them
    --override       NAME=VALUE; and the properties that other options set, such as --listen

A name that no property has is an error on the command line. In a file or the environment it is ignored, and ``Settings.unknown``
has it: files and environments of Kafka say more than this server reads. Every error of a file begins with file and line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from coordinator_server.config.config import Config
from coordinator_server.config.environment import environment_properties
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.java_properties import MalformedProperties, parse_properties
from coordinator_server.config.load import load, parse_overrides
from coordinator_server.config.names import nearest_name, shown_name
from coordinator_server.config.references import RESOLVED_AT_USE, check_no_secret, resolved
from coordinator_server.config.toml import MalformedToml, parse_toml

MAX_FILE_BYTES: Final = 1 << 20


class Given(NamedTuple):
    """A property as it is given. ``place`` is ``server.toml:12``, the name of a variable, or an option of the command line."""

    name: str
    value: str
    place: str
    is_on_command_line: bool = False


class Unknown(NamedTuple):
    """A name that no property has, where it is given, and the nearest name of a property, if one is near."""

    name: str
    place: str
    nearest: str | None


class Settings(NamedTuple):
    """What the sources say. ``given`` has the property that counts of each name; ``config`` has all properties."""

    config: Config
    given: Mapping[str, Given]
    unknown: Sequence[Unknown] = ()

    def place(self, name: str) -> str | None:
        """Return where a property is given, or None if it has its default."""
        given = self.given.get(name)
        return None if given is None else given.place


class Sources(NamedTuple):
    """The sources of one server, which can be read more than once. ``options`` are the properties of other options, by option."""

    file: Path | None = None
    environment: Mapping[str, str] = {}
    overrides: Sequence[str] = ()
    options: Mapping[str, tuple[str, str]] = {}

    def read(self, load: Callable[[Mapping[str, str]], Config] = load) -> Settings:
        """Read all sources. ``load`` makes a configuration of texts. Raises ConfigError."""
        given: dict[str, Given] = {}
        unknown = []
        for each in self._given():
            nearest = nearest_name(each.name)
            if nearest == each.name or each.is_on_command_line:
                given[each.name] = each
            else:
                unknown.append(Unknown(shown_name(each.name), each.place, nearest))
        config = _placed(given.values(), lambda: load({name: _value_of(each) for name, each in given.items()}))
        return Settings(config, given, unknown)

    def _given(self) -> Iterator[Given]:
        if self.file is not None:
            yield from read_file(self.file)
        for variable, name, value in environment_properties(self.environment):
            yield Given(name, value, variable)
        for name, value in parse_overrides(self.overrides).items():
            check_no_secret(name, value)
            yield Given(name, value, "--override", is_on_command_line=True)
        for option, (name, value) in self.options.items():
            yield Given(name, value, option, is_on_command_line=True)


def read_file(path: Path) -> list[Given]:
    """Return the properties of a file, whose name ends in .toml or .properties. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as refused:
        raise ConfigError(f"{path} cannot be read: {refused.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(f"{path} has more than {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        number = data[: bad.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{number}: not UTF-8") from None
    try:
        match path.suffix:
            case ".toml":
                return [Given(name, value, f"{path}:{number}") for number, name, value in parse_toml(text)]
            case ".properties":
                return [Given(name, value, f"{path}:{number}") for number, name, value in parse_properties(text)]
    except (MalformedToml, MalformedProperties) as bad:
        raise ConfigError(f"{path}:{bad.number}: {bad}") from None
    raise ConfigError(f"{path}: the name of a file of properties ends in .toml or .properties")


T = TypeVar("T")


def _value_of(given: Given) -> str:
    """Return the value of a property, or its reference if that is resolved at each use. Raises ConfigError."""
    value = resolved(given.name, given.value)
    return given.value if given.name in RESOLVED_AT_USE else value


def _placed(given: Iterable[Given], work: Callable[[], T]) -> T:
    """Do the work. A ConfigError of it begins with the places of the properties that it names, but for the command line."""
    try:
        return work()
    except ConfigError as wrong:
        why = str(wrong)
        places = dict.fromkeys(each.place for each in given if not each.is_on_command_line and _is_named(each.name, why))
        raise ConfigError(f"{', '.join(places)}: {why}" if places else why) from None


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", text) is not None
