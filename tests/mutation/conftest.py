"""What makes mutants needs the ``mutation`` extra, which `make mutants` installs. What tries them is tested everywhere."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = (
    [] if find_spec("cosmic_ray") else ["test_command.py", "test_drawing.py", "test_operators.py", "test_toy_tree.py"]
)
