"""A mutant, and the place in the code that it changes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Site:
    """One way to change one file: `occurrence` counts the positions of an operator from the top of the file."""

    path: str
    line: int
    function: str
    family: str
    operator: str
    occurrence: int


@dataclass(frozen=True)
class Mutant:
    """A changed file. `before` and `after` are the lines that differ; they and the function name it for good, lines shift."""

    package: str
    site: Site
    before: str
    after: str
    text: str

    def key(self) -> tuple[str, str, str, str]:
        return self.site.path, self.site.function, _plain(self.before), _plain(self.after)

    def as_json(self) -> dict[str, Any]:
        return {"package": self.package, **asdict(self.site), "before": self.before, "after": self.after}


def _plain(lines: str) -> str:
    return "\n".join(" ".join(line.split()) for line in lines.splitlines())
