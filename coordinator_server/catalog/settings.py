"""The definition of a setting: name, type, default and validation (Kafka's ``ConfigDef``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode

Value = bool | int | float | str | list[str]
# Returns the problem of a value, or None if it is valid.
Check = Callable[[Value], str | None]


class SettingType(IntEnum):
    """Kafka's ``ConfigType``, with the codes of DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Setting(NamedTuple):
    """The definition of a setting.

    ``default`` is text. ``synonym`` is the broker property with the default, if any. ``check`` validates the whole value,
    ``check_item`` each element of a list.
    """

    name: str
    type: SettingType
    default: str
    check: Check | None = None
    synonym: str | None = None
    check_item: Check | None = None


Settings = Mapping[str, Setting]

_BITS: Final = {SettingType.INT: 31, SettingType.LONG: 63}
_BOOLEANS: Final = {"true": True, "false": False}


def parse(setting: Setting, text: str) -> Value:
    """Parse and validate the text of a value. Raises CoordinatorError with INVALID_CONFIG."""
    value = _convert(setting, text.strip())
    if setting.check is not None:
        _refuse(setting, f"[{', '.join(value)}]" if isinstance(value, list) else value, setting.check(value))
    if setting.check_item is not None and isinstance(value, list):
        for each in value:
            if not each:
                raise invalid(f"Configuration '{setting.name}' values must not be empty.")
            _refuse(setting, each, setting.check_item(each))
    return value


def text_of(value: Value) -> str:
    """Return the text of a value for clients."""
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return ",".join(value)
        case _:
            return str(value)


def defaults_of(settings: Settings) -> dict[str, Value]:
    """Return the default values of all settings."""
    return {name: parse(setting, setting.default) for name, setting in settings.items()}


def parse_all(settings: Settings, given: Mapping[str, str], kind: str, defaults: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the values of all settings, given or default. Raises CoordinatorError with INVALID_CONFIG."""
    for name in given:
        if name not in settings:
            raise invalid(f"Unknown {kind} config name: {name}")
    return {**defaults, **{name: parse(setting, given[name]) for name, setting in settings.items() if name in given}}


def invalid(problem: str) -> CoordinatorError:
    """Return the error that refuses a setting."""
    return CoordinatorError(ErrorCode.INVALID_CONFIG, problem)


def _refuse(setting: Setting, value: object, problem: str | None) -> None:
    if problem is not None:
        raise invalid(f"Invalid value {value} for configuration {setting.name}: {problem}")


def _convert(setting: Setting, text: str) -> Value:
    kind = setting.type
    if kind is SettingType.LIST:
        return [each.strip() for each in text.split(",")] if text else []
    if kind is SettingType.BOOLEAN:
        found = _BOOLEANS.get(text.lower())
        _refuse(setting, text, "Expected value to be either true or false" if found is None else None)
        return bool(found)
    if kind is SettingType.STRING:
        return text
    number = _number(kind, text)
    _refuse(setting, text, f"Not a number of type {kind.name}" if number is None else None)
    assert number is not None
    return number


def _number(kind: SettingType, text: str) -> int | float | None:
    if kind is SettingType.DOUBLE:
        return float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) else None
    if not re.fullmatch(r"[+-]?\d{1,19}", text, re.ASCII):
        return None
    limit = 1 << _BITS[kind]
    return number if -limit <= (number := int(text)) < limit else None


# Checks.


def at_least(least: int) -> Check:
    """Return a check for a minimum."""
    return lambda value: None if _as_number(value) >= least else f"Value must be at least {least}"


def between(least: int, most: int) -> Check:
    """Return a check for a range, both ends included."""
    return lambda value: at_least(least)(value) or (f"Value must be no more than {most}" if _as_number(value) > most else None)


def one_of(*allowed: str) -> Check:
    """Return a check for a set of words."""
    return lambda value: None if value in allowed else f"String must be one of: {', '.join(allowed)}"


def _as_number(value: Value) -> float:
    assert isinstance(value, int | float)
    return value
