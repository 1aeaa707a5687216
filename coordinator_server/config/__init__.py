"""What an operator can set: Kafka's property names, defaults and units.

Texts enter: of a file, the environment and the command line (``sources.py``, and ``toml.py``, ``java_properties.py``,
``environment.py``, ``references.py`` for their forms). ``load.py`` makes a checked ``Config`` of them, and ``values.py`` says
what the text of a property means. A ``Config`` leaves, with all properties: those that never change while the server runs, in
parts by subject (``config.py``, ``log.py``, ``consumer.py``, …), and ``config.live``,
which SIGHUP changes (``live.py``, ``changes.py``).

``description.py`` has what is known of a property, ``properties.py`` finds it by name, ``names.py`` reads names as operators
spell them. ``listeners.py`` has the listeners that properties name, and ``listener_settings.py`` what one of them has for itself.
``logs.py`` has what options say of the server's own log.

Imports: nothing of the server but ``kinds`` and ``topic_names``.
"""

from __future__ import annotations

from coordinator_server.config.config import Config
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.live import LiveConfig

__all__ = ["Config", "ConfigError", "LiveConfig"]
