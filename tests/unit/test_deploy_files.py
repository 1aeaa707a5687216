"""The files of ``deploy``, without the programs that they are for:
units, images, compose and Kubernetes files fit the commands and each other.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from cryptography import x509

from coordinator_server.cli import COMMANDS
from coordinator_server.config import Config
from coordinator_server.config.listener_settings import setting_of
from coordinator_server.config.listeners import listener_specs, node_listener
from coordinator_server.config.load import load, parse_overrides
from coordinator_server.config.sources import Sources
from coordinator_server.config.values import metrics_address
from coordinator_server.log.postgresql.address import Address, check_password
from coordinator_server.security.tls import ListenerTls
from coordinator_server.security.tls_settings import TlsSettings
from tests.support.configs import config_with

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service")) + sorted(DEPLOY.glob("*.socket"))
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
# What EnvironmentFile= and the commands' arguments stand for in the units.
VARIABLES = {
    "${LISTEN}": "127.0.0.1:9092",
    "${STATE_DIRECTORY}": "/var/lib/coordinator-server",
    "${EVERY}": "10m",
    "$JOBS": "compact history verify",
    "$ARGS": "",
}


def parsed(words: list[str]) -> argparse.Namespace:
    """What a command takes the words for, beginning with its name. Fails for a word that it does not know."""
    name, *arguments = words
    command = import_module(f"coordinator_server.cli.{COMMANDS[name][0]}")
    parser = argparse.ArgumentParser(name, exit_on_error=False)
    command.add_arguments(parser)
    options = parser.parse_args(arguments)
    load(parse_overrides(getattr(options, "override", [])))
    return options


def entrypoints() -> dict[str, list[str]]:
    """The command of each image, by the name of its stage."""
    found = {}
    for stage in re.split(r"^FROM ", CONTAINERFILE, flags=re.MULTILINE)[1:]:
        name, entry = re.search(r"AS (\S+)", stage), re.search(r"^ENTRYPOINT (\[.*\])$", stage, re.MULTILINE)
        if name is not None and entry is not None:
            found[name[1]] = json.loads(entry[1])[1:]
    return found


def environment_of_the_server() -> dict[str, str]:
    """The variables of the last stage, by name."""
    return dict(re.findall(r"(KAFKA_\w+)=(\S+)", CONTAINERFILE[CONTAINERFILE.index("\nENV ") :]))


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    """Without a word of complaint."""
    for unit in UNITS:
        text = re.sub(r"^(Exec\w+=)\S+", r"\1/bin/true", unit.read_text(), flags=re.MULTILINE)
        (tmp_path / unit.name).write_text(text)

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / unit.name) for unit in UNITS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    complaints = [line for line in done.stderr.splitlines() if "coordinator-" in line]
    assert complaints == []


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_sandbox_of_the_units() -> None:
    """What systemd calls their exposure is at most 2.0 of 10."""
    services = [str(unit) for unit in UNITS if unit.suffix == ".service"]
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", *services]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 0, done.stdout[-500:]


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=lambda unit: unit.name)
def test_the_commands_of_the_units(unit: Path) -> None:
    """They have all options that the units give, and those of the examples for /etc/default."""
    line = re.search(r"^ExecStart=((?:.*\\\n)*.*)", unit.read_text(), re.MULTILINE)
    assert line is not None
    examples = re.findall(r"^#   (ARGS|EVERY|JOBS|LISTEN)=(.*?)(?:  .*)?$", unit.read_text(), re.MULTILINE)
    assert len(examples) >= 3
    for name, example in [("ARGS", ""), *examples]:
        text = line[1].replace("\\\n", " ")
        for variable, value in VARIABLES.items():
            text = text.replace(variable, example if variable.strip("${}") == name else value)

        parsed(text.split()[1:])


def test_the_socket_is_that_of_the_service() -> None:
    """Its ports are those of the service without settings."""
    streams = re.findall(r"^ListenStream=(\S+)$", (DEPLOY / "coordinator-server.socket").read_text(), re.MULTILINE)

    assert [f"Environment=LISTEN={stream}" in (DEPLOY / "coordinator-server.service").read_text() for stream in streams] == [True]


def test_what_the_images_are_built_of_is_sent_to_the_builder() -> None:
    """The ignore file leaves out everything else."""
    sent = {line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINERFILE, re.MULTILINE)

    assert {word for line in copied for word in line.split()} == sent
    assert all((ROOT / name).exists() for name in sent)


def test_the_image_listens_where_its_environment_says() -> None:
    """As Kafka's does: whoever starts it may give other listeners, in a variable or as a property."""
    environment = environment_of_the_server()

    assert Sources(environment=environment).read().config.listeners == "PLAINTEXT://:9092"
    assert Sources(environment=environment, overrides=["listeners=SSL://:9093"]).read().config.listeners == "SSL://:9093"
    assert parsed(entrypoints()["server"]).listen is None


def test_the_image_is_a_coordinator_for_tests_too() -> None:
    """As its comments say: nothing in the entry point or the environment keeps it from having no log."""
    [words] = re.findall(r"^#   podman run -i \S+ \S+ coordinator-server (--ephemeral .*)$", CONTAINERFILE, re.MULTILINE)
    options = parsed([*entrypoints()["server"], *words.split()])

    assert (options.ephemeral, options.data_dir, options.loops) == (True, None, None)
    assert parsed([*entrypoints()["server"], "--loops", "auto"]).loops == "auto"


def test_no_image_runs_as_root() -> None:
    """By a number, which an orchestrator can look at (runAsNonRoot)."""
    stages = re.split(r"^FROM ", CONTAINERFILE, flags=re.MULTILINE)[1:]

    assert {re.findall(r"^USER (\S+)$", stage, re.MULTILINE)[0] for stage in stages if "ENTRYPOINT" in stage} == {"10001"}


def test_the_commands_in_the_containerfile_name_the_directory_of_the_server() -> None:
    """All programs of a container work on one log."""
    named = re.findall(r"^#.*--data-dir (\S+)", CONTAINERFILE, re.MULTILINE)

    assert set(named) == {environment_of_the_server()["KAFKA_LOG_DIRS"]}


def test_the_compose_file() -> None:
    """Its stages, commands and files exist; everything is published on loopback; volumes are declared and used."""
    [compose] = documents("compose.yaml")
    services, used = compose["services"], set()
    for name, service in services.items():
        if "build" in service:
            parsed(entrypoints()[service["build"]["target"]] + service["command"])
            assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            used |= {source} if not source.startswith(".") else set()
            assert not source.startswith(".") or (DEPLOY / source).exists()
        assert set(service.get("depends_on", ())) <= set(services)
    assert used == set(compose["volumes"])
    assert parsed(["serve", *services["server"]["command"]]).data_dir == Path("/data/log")
    assert environment_of_the_server()["KAFKA_LOG_DIRS"] == "/data/log"
    # No password that everybody knows.
    assert services["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"].startswith("${GRAFANA_PASSWORD:?")


class Mounted(NamedTuple):
    """What a file of several nodes says of one: its properties, and where something is mounted."""

    config: Config
    password: str
    mounts: set[str]


def nodes_of_compose() -> dict[str, Mounted]:
    [compose] = documents("cluster/compose.yaml")
    found = {}
    for name, service in compose["services"].items():
        if name.startswith("node-"):
            # Two dollars are one in a compose file.
            environment = {key: value.replace("$$", "$") for key, value in service["environment"].items()}
            mounts = {each.split(":")[1] for each in service["volumes"]}
            password = environment.pop("KAFKA_STORE_PASSWORD")
            found[name] = Mounted(Sources(environment=environment).read().config, password, mounts)
    return found


def nodes_of_kubernetes() -> dict[str, Mounted]:
    *_, stateful = documents("kubernetes/cluster.yaml")
    [container] = stateful["spec"]["template"]["spec"]["containers"]
    found = {}
    for index in range(stateful["spec"]["replicas"]):
        name = f"{stateful['metadata']['name']}-{index}"
        options = parsed([*entrypoints()["node"], *(each.replace("$(POD_NAME)", name) for each in container["args"])])
        [password] = [each.partition("=")[2] for each in options.override if each.startswith("store.password=")]
        overrides = [f"store={options.store}", *(each for each in options.override if not each.startswith("store.password="))]
        config = Sources(environment={"KAFKA_NODE_ID": str(index)}, overrides=overrides).read().config
        found[name] = Mounted(config, password, {each["mountPath"] for each in container["volumeMounts"]})
    return found


@pytest.mark.parametrize(
    ("read", "host", "files"),
    [(nodes_of_compose, "{}", "/certificates/{}.pem"), (nodes_of_kubernetes, "{}.coordinator", "/nodes/{}.coordinator.pem")],
)
def test_the_files_of_several_nodes(read: Callable[[], dict[str, Mounted]], host: str, files: str) -> None:
    """Three nodes of one store, each with an id, an address and a certificate of its own; no password is written down."""
    nodes = read()

    assert len({each.config.node_id for each in nodes.values()}) == 3
    assert len({each.config.cluster.store for each in nodes.values()}) == 1
    for name, (config, password, mounts) in nodes.items():
        spec = node_listener(config)
        assert spec.advertised == (host.format(name), 9192)
        [clients] = listener_specs(config)
        assert clients.advertised is not None
        keystore = setting_of(config, spec.name, "ssl.keystore.location")
        assert keystore == files.format(name)
        truststore = setting_of(config, spec.name, "ssl.truststore.location")
        address = Address(config.cluster.store, password)
        address.check()
        query = parse_qs(urlsplit(address.url).query)
        assert query["sslmode"] == ["verify-full"]
        check_password(address.password)
        secret = re.fullmatch(r"\$\{directory:(.*):(.*)\}", address.password)
        assert secret is not None
        used = [keystore, truststore, query["sslrootcert"][0], f"{secret[1]}/{secret[2]}"]
        assert [path for path in used if not any(str(path).startswith(mount) for mount in mounts)] == []


def test_the_compose_file_of_several_nodes() -> None:
    """Stages, files, volumes and conditions exist; everything is published on loopback."""
    [compose] = documents("cluster/compose.yaml")
    services = compose["services"]
    for name, service in services.items():
        if "build" in service:
            assert service["build"]["target"] in entrypoints()
            assert (DEPLOY / "cluster" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (DEPLOY / "cluster" / source).is_file()
        assert set(service.get("depends_on", ())) <= set(services)
        # Podman knows no owner of a tmpfs.
        assert not any("uid=" in each for each in service.get("tmpfs", ())), name
    [script] = services["certificates"]["command"]
    made = re.search(r"^sh /certificates.sh /certificates (.*)$", script, re.MULTILINE)
    assert made is not None
    assert set(made[1].split()) == {"node-1", "node-2", "node-3", "database"}
    # docker compose cannot give a secret to a container with a read-only root, unless it is a file.
    assert "secrets" not in compose
    files = {each["environment"].get("POSTGRES_PASSWORD_FILE") for each in services.values() if "environment" in each} - {None}
    assert files == {"/certificates/store.password"}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_secrets_of_the_compose_file_of_several_nodes(tmp_path: Path) -> None:
    """A second start keeps them. Nobody but their owners reads keys and the password."""
    [compose] = documents("cluster/compose.yaml")
    [script] = compose["services"]["certificates"]["command"]
    made = tmp_path / "made"
    script = script.replace("/certificates.sh", "SCRIPT").replace("/certificates", str(made))
    script = script.replace("SCRIPT", str(DEPLOY / "cluster/certificates.sh"))
    found: list[dict[str, bytes]] = []
    for _ in range(2):
        subprocess.run(["sh", "-ec", f"chown() {{ :; }}\n{script}"], check=True, capture_output=True)
        found.append({each.name: each.read_bytes() for each in made.iterdir()})

    assert found[0] == found[1]
    assert re.fullmatch(rb"[0-9a-f]{48}\n", found[0]["store.password"])
    readable = {each.name for each in made.iterdir() if each.stat().st_mode & 0o077}
    assert readable == {"authority.pem"}


def test_the_kubernetes_file_of_several_nodes() -> None:
    """Names, labels and secrets are each other's; nodes are restarted one by one."""
    service, budget, stateful = documents("kubernetes/cluster.yaml")
    spec = stateful["spec"]
    pod, labels = spec["template"]["spec"], spec["template"]["metadata"]["labels"]

    assert service["spec"]["selector"] == spec["selector"]["matchLabels"] == budget["spec"]["selector"]["matchLabels"] == labels
    assert pod["enableServiceLinks"] is False
    assert (spec["serviceName"], spec["replicas"], budget["spec"]["maxUnavailable"]) == (service["metadata"]["name"], 3, 1)
    [container] = pod["containers"]
    assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {each["name"]: each["port"] for each in service["spec"]["ports"]}
    # An update goes on when a node has its part of the shards.
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "metrics"}
    assert {metrics_address(each.config) for each in nodes_of_kubernetes().values()} == {("0.0.0.0", ports["metrics"])}
    text = (DEPLOY / "kubernetes/cluster.yaml").read_text()
    for volume in pod["volumes"]:
        if "secret" in volume:
            assert f"create secret generic {volume['secret']['secretName']}" in text
    assert f"--uid {pod['securityContext']['runAsUser']}" in CONTAINERFILE


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_certificates_of_nodes(tmp_path: Path) -> None:
    """Each is for its host, a name or an address, and works on both sides of a link; a second run keeps them."""
    made = tmp_path / "certificates"
    script = [str(DEPLOY / "cluster/certificates.sh"), str(made), "localhost", "10.0.0.1"]
    subprocess.run(script, check=True, capture_output=True)
    before = {each.name: each.read_bytes() for each in made.iterdir()}
    subprocess.run([*script, "node-3", "fd00::1"], check=True, capture_output=True)

    assert {name: (made / name).read_bytes() for name in before if name.endswith((".pem", ".key"))} == {
        name: content for name, content in before.items() if name.endswith((".pem", ".key"))
    }
    for host in ("localhost", "node-3", "10.0.0.1", "fd00::1"):
        settings: dict[str, Any] = {
            "ssl_keystore_location": str(made / f"{host}.pem"),
            "ssl_truststore_location": str(made / "authority.pem"),
        }
        ListenerTls(TlsSettings.of(config_with(**settings), "NODES"), is_for_nodes=True)
        [certificate, *_] = x509.load_pem_x509_certificates((made / f"{host}.pem").read_bytes())
        [name] = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert (isinstance(name, x509.IPAddress), str(name.value)) == (host[0] in "1f", host)
        assert (made / f"{host}.pem").stat().st_mode & 0o077 == 0


def test_the_kubernetes_files() -> None:
    """The commands take their arguments; the job uses the volume of the server, on its node, as its user."""
    service, stateful = documents("kubernetes/statefulset.yaml")
    [job] = documents("kubernetes/pipeline-cronjob.yaml")
    server, rounds = stateful["spec"]["template"]["spec"], job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [claim] = stateful["spec"]["volumeClaimTemplates"]
    labels = stateful["spec"]["template"]["metadata"]["labels"]

    options = [
        parsed(entrypoints()[stage] + pod["containers"][0]["args"]) for stage, pod in (("server", server), ("pipeline", rounds))
    ]

    assert options[0].data_dir == options[1].data_dir
    assert service["spec"]["selector"] == stateful["spec"]["selector"]["matchLabels"] == labels
    [near] = rounds["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert near["labelSelector"]["matchLabels"] == labels
    claims = [each["persistentVolumeClaim"]["claimName"] for each in rounds["volumes"] if "persistentVolumeClaim" in each]
    assert claims == [f"{claim['metadata']['name']}-{stateful['metadata']['name']}-0"]
    assert server["securityContext"]["runAsUser"] == rounds["securityContext"]["runAsUser"]
    assert f"--uid {server['securityContext']['runAsUser']}" in CONTAINERFILE
