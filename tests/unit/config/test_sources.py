"""Sources of properties: what each says, which one counts, and where an error is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coordinator_server.config import ConfigError
from coordinator_server.config.environment import environment_properties
from coordinator_server.config.sources import MAX_FILE_BYTES, Sources, Unknown, read_file

TOML = """\
# The order of tables does not matter.
topics = ["orders:6", "payments"]
"topics.max" = 1000
log.provenance = false

[log.cleaner]   # a table
min.cleanable.ratio = 0.25
[ssl.keystore]
key = '''
[not a table]
key = 1
'''
"""


def written(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables_and_keys_of_toml_make_up_names(tmp_path: Path, end: str) -> None:
    """A list is its items; each property has its line."""
    path = written(tmp_path, "server.toml", TOML.replace("\n", end))

    assert [(each.name, each.value, each.place.removeprefix(f"{path}:")) for each in read_file(path)] == [
        ("topics", "orders:6,payments", "2"),
        ("topics.max", "1000", "3"),
        ("log.provenance", "false", "4"),
        ("log.cleaner.min.cleanable.ratio", "0.25", "7"),
        ("ssl.keystore.key", "[not a table]\nkey = 1\n", "9"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.toml", "a = 1\nb = \n", r":2: Invalid value$"),
        ("a.toml", "\n[max]\nconnections = 1\nconnections.per.ip = 2\n", ":4: Cannot overwrite a value; .* needs quotes"),
        ("a.toml", 'log.flush = "os"\n"log.flush" = "os"', ":2: log.flush is also in line 1"),
        ("a.toml", "topics = [[1]]", ":1: topics is neither text, number nor boolean, nor a list of these"),
        ("a.toml", "[[topics]]\nx = 1970-01-01", ":2: topics.* is neither"),
        ("a.properties", "\n\nlog.flush=\\u1", r":3: \\u is followed by four hexadecimal digits$"),
        ("a.properties", "log.flush=os\n\nlog.flush=x", ":3: log.flush takes always or os, not 'x'"),
        ("a.toml", "[group.consumer]\nsession.timeout.ms = 5", ":2: group.consumer.min.session.timeout.ms=45000 must not be"),
        ("a.properties", "listeners=x", ":1: listeners=x: "),
        ("a.properties", "log.flush=${env:NOBODY_HAS_THIS}", r":1: log.flush: \$\{env:NOBODY_HAS_THIS\} is no variable"),
        ("a.yaml", "", ": .* ends in .toml or .properties"),
        ("a.properties", "#" * (MAX_FILE_BYTES + 1), f" has more than {MAX_FILE_BYTES} bytes"),
    ],
)
def test_an_error_of_a_file_begins_with_file_and_line(tmp_path: Path, name: str, text: str, problem: str) -> None:
    path = written(tmp_path, name, text)

    with pytest.raises(ConfigError, match=re.escape(str(path)) + problem):
        Sources(path).read()


def test_what_is_no_text_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.properties"
    path.write_bytes(b"a=b\nc=\xff")

    with pytest.raises(ConfigError, match=":2: not UTF-8"):
        read_file(path)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_file(tmp_path / "b.properties")


def test_variables_are_spelled_as_in_kafkas_image() -> None:
    """Those that the image and its scripts read for themselves are no properties."""
    environment = {
        "KAFKA_LOG_FLUSH": "os",
        "KAFKA_A__B___C": "d",
        "KAFKA_HEAP_OPTS": "-Xmx1g",
        "KAFKA_LOG4J_ROOT_LOGLEVEL": "DEBUG",
        "PATH": "/bin",
    }

    assert [(each.name, each.value) for each in environment_properties(environment)] == [("a_b-c", "d"), ("log.flush", "os")]


def test_the_later_source_counts(tmp_path: Path) -> None:
    """File, environment, command line; and each value says where it is from."""
    path = written(tmp_path, "server.properties", "num.partitions=1\nloops=1\nlog.flush=always\ngroup.max.size=1\n")
    environment = {"KAFKA_NUM_PARTITIONS": "2", "KAFKA_LOOPS": "2", "KAFKA_LOG_FLUSH": "os"}
    sources = Sources(path, environment, ["num.partitions=3", "num.partitions=4"], {"--loops": ("loops", "3")})

    settings = sources.read()

    config = settings.config
    assert (config.live.num_partitions, config.loops, config.log.log_flush, config.live.group_max_size) == (4, 3, "os", 1)
    places = [settings.place(name) for name in ("num.partitions", "loops", "log.flush", "group.max.size", "topics")]
    assert places == ["--override", "--loops", "KAFKA_LOG_FLUSH", f"{path}:4", None]


def test_unknown_names_are_ignored_but_for_the_command_line(tmp_path: Path) -> None:
    """Files and environments of a broker say more than this server reads. The nearest name helps with a typing error."""
    path = written(tmp_path, "server.properties", "log.flsh=os\nzookeeper=1\nlistener.name.plaintext.ssl.client.aut=none\n")

    settings = Sources(path, {"KAFKA_PORT_9092_TCP": "x"}).read()

    assert settings.unknown == [
        Unknown("log.flsh", f"{path}:1", "log.flush"),
        Unknown("zookeeper", f"{path}:2", None),
        Unknown("listener.name.plaintext.ssl.client.aut", f"{path}:3", "listener.name.plaintext.ssl.client.auth"),
        Unknown("port.9092.tcp", "KAFKA_PORT_9092_TCP", None),
    ]
    assert settings.given == {}
    with pytest.raises(ConfigError, match=r"unknown property log.flsh; did you mean log.flush\?"):
        Sources(overrides=["log.flsh=os"]).read()


@pytest.mark.parametrize(
    "sources", [Sources(overrides=["loops=many"]), Sources(options={"--loops": ("loops", "many")})], ids=["override", "option"]
)
def test_a_wrong_value_of_the_command_line_has_no_place_before_it(sources: Sources) -> None:
    """Who typed it sees where it is."""
    with pytest.raises(ConfigError, match=r"^loops takes a whole number"):
        sources.read()


def test_an_option_for_an_unknown_property_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"unknown property log\.flsh"):
        Sources(options={"--flush": ("log.flsh", "os")}).read()


def test_a_variable_that_is_wrong_is_named() -> None:
    with pytest.raises(ConfigError, match="KAFKA_LOOPS: loops takes a whole number"):
        Sources(environment={"KAFKA_LOOPS": "many"}).read()


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    """And on no command line."""
    path = written(tmp_path, "server.properties", "ssl.key.password=secret")

    assert Sources(path).read().config.live.tls.ssl_key_password == "secret"
    with pytest.raises(ConfigError, match="seen by everybody"):
        Sources(overrides=["ssl.key.password=secret"]).read()


def test_a_reference_that_is_resolved_at_use_stays(tmp_path: Path) -> None:
    """The password of a store may change while the server runs. It has to be there at the start."""
    secrets = tmp_path / "secrets"
    path = written(tmp_path, "server.properties", f"store.password=${{file:{secrets}:store}}")
    with pytest.raises(ConfigError, match="cannot be read"):
        Sources(path).read()
    secrets.write_text("store=correct")

    assert Sources(path).read().config.cluster.store_password == f"${{file:{secrets}:store}}"
