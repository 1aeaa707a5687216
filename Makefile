# `make` or `make help` lists everything. Nothing here needs more than Python 3.11+ and make; what a target needs beyond that it
# brings into .venv once, and works offline from then on.

LISTEN   ?= 127.0.0.1:9092
DATA_DIR ?= ./data
# Topics that `make run` declares; they exist by name and partition count only.
TOPICS   ?= orders:6
# The page for a browser: on its usual port beside the usual address, or else on any free port.
PAGE     ?= $(if $(filter 127.0.0.1:9092,$(LISTEN)),127.0.0.1:9405,127.0.0.1:0)
# Of `make pipeline`: the time between two rounds, and where the history's tables are.
EVERY    ?= 1m
HISTORY  ?= ./history
ARGS     ?=

VENV := .venv
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' coordinator_server/__init__.py)
BIN  := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help with-run with-spark with-dev with-tools with-release run cluster compact pipeline test torture what-if simulate failover outages observed differential storm chaos interop mutants check structure format generate golden kafkalog bench fuzz browser site wheel release lock clean
MAKEFLAGS += --no-print-directory

help: ## print this list
	@echo "coordinator-server: a durable group coordinator that speaks the Kafka wire protocol"
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'
	@echo
	@echo "  LISTEN=$(LISTEN) DATA_DIR=$(DATA_DIR) TOPICS=$(TOPICS) ARGS='…' (options of the program that the target runs)"
	@echo "  e.g. make run LISTEN=127.0.0.1:19092 ARGS='--override group.initial.rebalance.delay.ms=0'"

run: with-run ## install what is needed and start the coordinator on LISTEN, with its log in DATA_DIR and its page for a browser on PAGE
	@echo "$$($(BIN)/coordinator-server --version); compiled (make wheel) it takes up to a third less of a processor for a request"
	@echo "starting on $(LISTEN), log in $(DATA_DIR); stop with ctrl-C, or kill -9: acknowledged commits stay"
	@echo "the page for a browser: its address is in the line that says that the server is ready"
	@echo "next, in a second terminal: run the consumer of README.md three times"
	@echo "and: make compact   (Spark compacts the log, while the server runs or not)"
	@exec $(BIN)/coordinator-server serve --listen $(LISTEN) --data-dir $(DATA_DIR) --override topics=$(TOPICS) --override page.listener=$(PAGE) $(ARGS)

cluster: with-dev ## run three nodes over one PostgreSQL (Debian's package postgresql) on this machine, and say what to kill; docs/cluster.md
	@$(BIN)/python scripts/cluster.py $(ARGS)

compact: with-spark ## compact the log in DATA_DIR with Spark (the server may be running)
	@exec $(BIN)/coordinator-server compact --data-dir $(DATA_DIR) $(ARGS)

pipeline: with-spark ## compact, query and verify the log in DATA_DIR with Spark, again and again, beside the server: EVERY (1m), tables in HISTORY (./history)
	@exec $(BIN)/coordinator-server pipeline compact history verify --every $(EVERY) --data-dir $(DATA_DIR) --out $(HISTORY) --min-bytes 1 $(ARGS)

test: with-dev ## the whole test suite, in several processes; ARGS='tests/unit -k log' selects tests, ARGS='-n0 -s …' runs in one process
	@# One process compiles all tests: several that begin at the same time would each do it.
	@$(if $(ARGS),,find tests/unit -name '*-pytest-*.pyc' | grep -q . || $(BIN)/python -m pytest --collect-only -qq >/dev/null)
	@$(BIN)/python -m pytest -n auto --durations=20 $(ARGS)

torture: with-dev ## the long versions of the crash tests: every system call, many kills, many power losses, strange requests
	@RUNTIME_EXAMPLES=4000 SHARE_EXAMPLES=100000 PIPELINE_EXAMPLES=3000 PIPELINE_BESIDE_S=180 LOG_IMAGES=$(or $(IMAGES),20000) LOG_FLIPS=200 LOG_TAIL_STEP=1 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/property/test_log_syscalls.py \
	    tests/property/test_import_syscalls.py tests/property/test_transaction_syscalls.py tests/property/test_share_syscalls.py tests/property/test_log_kill.py tests/property/test_log_power_loss.py tests/property/test_log_bit_rot.py \
	    tests/property/test_log_tails.py tests/property/test_log_shares.py tests/property/test_runtime.py tests/property/test_compaction.py tests/property/test_share_layers.py tests/property/test_share_writes.py tests/property/test_layers_over_time.py tests/integration/test_job_failures.py tests/integration/test_crash.py tests/integration/test_loops_crash.py \
	    tests/property/test_log_moves.py tests/integration/test_move_kills.py \
	    --every-syscall --crash-rounds 200 $(ARGS)
	@$(BIN)/python -m pytest -rP -o faulthandler_timeout=0 tests/integration/test_exactly_once.py tests/interop/test_exactly_once.py \
	    --crash-rounds 200 --ledger-seconds 300 $(ARGS)
	@CANDIDATE_SEEDS=1000 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/simulation/test_candidates.py $(ARGS)
	@$(MAKE) chaos SERVERS=ours
	@SPARK_AT_LENGTH=1 $(BIN)/python -m pytest tests/spark $(ARGS)
	@LOCATION_STEP=1 $(BIN)/python -m pytest tests/unit/pipeline/test_locations.py
	@TOY_SEEDS=400 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/simulation/test_kinds.py $(ARGS)
	@PROTOCOL_FRAMES=all PROTOCOL_BOMBS=120 PROTOCOL_EXAMPLES=400 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/property/test_protocol_cost.py tests/property/test_protocol_hostile.py tests/property/test_protocol.py
	@SHAPE_SEEDS=100 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/integration/test_request_shapes.py

# Clients in other languages are built into ~/.cache/coordinator-server at first use: Java (a JDK and Maven), Go, Node.js.
CLIENTS ?= all

interop: with-dev ## the same scenarios with every client: Java, franz-go, sarama, kafkajs, the Python ones; CLIENTS=java,sarama selects some; NODES=3 plays the contract and Kafka's tools on nodes over a PostgreSQL, one of which is killed
	@$(BIN)/python -m pytest $(if $(NODES),tests/interop/test_contract.py tests/interop/test_kafka_tools.py --nodes $(NODES),tests/interop/test_contract.py tests/interop/test_kafka_acls.py tests/interop/test_kafka_tools.py tests/interop/test_logins.py tests/interop/test_migration.py tests/interop/test_consumer_contract.py tests/interop/test_share_groups.py tests/interop/test_streams.py tests/interop/test_moving_shards.py tests/interop/test_testcontainers.py tests/interop/test_what_if.py) --clients $(CLIENTS) $(ARGS)

storm: with-dev ## 200 members join, leave, die and restart at random for five minutes, then 200 of both protocols in consumer groups, 200 in share groups, and 200 in streams groups; then all four while a shard moves each second; ARGS='--seconds 60 --seed 7' for a different run
	@$(if $(filter --consumers --shares --streams --moves,$(ARGS)),$(BIN)/python -m tests.storm $(ARGS),for kind in '' --consumers --shares --streams --moves '--moves --consumers' '--moves --shares' '--moves --streams'; do $(BIN)/python -m tests.storm $$kind $(ARGS) || exit 1; done)

SERVERS ?= ours,kafka,kfake

chaos: with-dev ## fifty programs with the client library freeze, die, leave and come back for five minutes, with this server, a Kafka broker and kfake (Java and Maven; Go); SERVERS=ours,kafka selects some
	@CLIENT_CHAOS_SERVERS=$(SERVERS) CLIENT_CHAOS_MEMBERS=50 CLIENT_CHAOS_S=300 CLIENT_CHAOS_SESSION_S=3 $(BIN)/python -m pytest -n0 -o faulthandler_timeout=0 tests/integration/test_client_chaos.py $(ARGS)

differential: with-dev ## scripts and a thousand random sequences (SEQUENCES=N) against this server and a real broker (Java and Maven), the client library against one that demands TLS and SASL, share state that moves to this server and back, and `observe` on a broker with an eager cleaner, on brokers of three versions, and on one with TLS, SASL and ACLs; ARGS=--record records its answers; NODES=2 plays the scripts, and the recorded sequences, on nodes over a PostgreSQL, with what a broker has answered
	@$(if $(NODES),$(BIN)/python -m pytest tests/differential/test_scripts.py tests/differential/test_share_scripts.py tests/differential/test_sequences.py --nodes $(NODES) $(ARGS),$(BIN)/python -m pytest tests/differential tests/interop/test_client_security.py tests/interop/test_share_state_moves.py tests/interop/test_observe_kafka.py tests/interop/test_observe_versions.py tests/interop/test_observe_security.py -o faulthandler_timeout=0 --live --differential-sequences $(or $(SEQUENCES),1000) $(ARGS))

what-if: with-dev ## 10,000 random lives of groups (LIVES=N), played again by the rule that was in force: what was recorded comes out; then lives of real clients (CLIENTS=java,franz-go for some), and twenty scripts that they play by two rules, with this server and with a real broker (Java and Maven)
	@WHAT_IF_LIVES=$(or $(LIVES),10000) $(BIN)/python -m pytest -n auto -o faulthandler_timeout=0 tests/property/test_what_if.py $(ARGS)
	@WHAT_IF_SCRIPTS=20 $(BIN)/python -m pytest -n0 tests/interop/test_what_if.py tests/interop/test_what_if_scripts.py --clients $(or $(CLIENTS),all) $(ARGS)
	@WHAT_IF_SCRIPTS=20 $(BIN)/python -m pytest -n0 tests/interop/test_what_if_scripts.py --clients confluent-kafka --live $(ARGS)

simulate: with-dev ## simulate the whole server in one thread, from SEEDS (10000) integers, then a fifth as many with several loops, with transactions, with programs that use the client library, with nodes that share a store (rows alone, and whole daemons), with share groups and with streams groups, and as many with consumer groups; on all cores; ARGS='4711 --history' for one integer
	@$(BIN)/python -m tests.simulation $(if $(filter-out --%,$(firstword $(ARGS))),,--seeds $(or $(SEEDS),10000)) $(ARGS)
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --effects --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --transactions --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --clients --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --memberships --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --nodes --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,NODE_MUTANTS=100 $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/simulation/test_nodes.py)
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --shares --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --streams --seeds $$(($(or $(SEEDS),10000) / 5)))
	@$(if $(filter-out --%,$(firstword $(ARGS))),,$(BIN)/python -m tests.simulation --consumers --seeds $(or $(SEEDS),10000))

observed: with-dev ## `observe` beside three Kafka brokers that fail, for ten minutes, with all clients (Java, Go, Node.js); ARGS='--seconds 60 --seed 7 --clients java' for a different run
	@$(BIN)/python -m tests.observed $(ARGS)

failover: with-dev ## nodes on a PostgreSQL with two standbys, whose servers, backends and connections fail; ARGS='--seconds 600 --seed 7' for a different run, ARGS=--patroni for primaries that end and that Patroni replaces
	@$(BIN)/python -m tests.failover $(ARGS)

outages: with-dev ## how long clients of three nodes over a PostgreSQL have no acknowledged commit when a node is killed, restarted or paused, or the database is; ARGS='--rounds 3 --only kill' for less
	@$(BIN)/python -m bench.outages $(ARGS)

mutants: with-dev ## small mistakes in the code, MUTANTS (100) of SEED (1), and which of them no test notices; ARGS='--packages log,offsets --help' for more
	@$(BIN)/python -c 'import cosmic_ray' 2>/dev/null || $(BIN)/python -m pip -q install --require-hashes -r requirements/mutation.lock
	@$(BIN)/python -m tests.mutation --mutants $(or $(MUTANTS),100) --seed $(or $(SEED),1) $(ARGS)

check: with-dev ## style, types, import direction, generated code, sizes of files, subjects of commits: what CI checks before the tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m protocol.generate --check
	@$(BIN)/python scripts/check_sizes.py
	@$(BIN)/python scripts/check_commits.py

structure: with-run ## the rooms of each package, from the top floor down: files, lines, and which rooms each imports; ARGS=coordinator_server/server for one
	@$(BIN)/python scripts/structure.py $(ARGS)

format: with-dev ## format the code, and fix what the linter can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

generate: with-run ## generate protocol/generated from the declarations in protocol/messages, and docs/properties.md and docs/metrics.md
	@$(BIN)/python -m protocol.generate
	@env -i $(BIN)/python -m coordinator_server config --markdown >docs/properties.md
	@$(BIN)/python -m coordinator_server.ops.metrics.page >docs/metrics.md

golden: with-dev ## write the bytes that tests compare with, by Kafka's own classes (Java and Maven)
	@$(BIN)/python -m tests.support.golden

kafkalog: with-dev ## write the log that the import tests read, by a real broker (Java and Maven)
	@$(BIN)/python -m tests.support.kafka_log

bench: with-dev ## requests per second beside a server that does nothing; ARGS='--kafka' adds a real broker, ARGS=--scale is how costs grow with groups
	@$(BIN)/python -m bench.$(if $(filter --scale,$(ARGS)),scale,serve) $(filter-out --scale,$(ARGS))

fuzz: with-dev ## two million inputs, guided by coverage, for every decoder; ARGS='-runs=100000' for a different number
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip -q install --require-hashes -r requirements/fuzz.lock
	@$(BIN)/python -m tests.fuzz build/fuzz -runs=2000000 -max_len=600 -timeout=10 $(ARGS)

browser: with-dev ## the page in a real Chromium (Debian's package chromium): every view, by keyboard too; PICTURES=docs/pictures writes the pictures of docs/page.md
	@$(BIN)/python -c 'import axe_playwright_python, playwright' 2>/dev/null || $(BIN)/python -m pip -q install --require-hashes -r requirements/browser.lock
	@PAGE_PICTURES=$(PICTURES) $(BIN)/python -m pytest -n0 tests/browser/views.py tests/browser/pictures.py $(ARGS)

site: with-dev ## the documentation as a site in site/, with a search, the reference of the commands and a choice of the versions that are there; wrong links end it
	@$(BIN)/python -c 'import material' 2>/dev/null || $(BIN)/python -m pip -q install --require-hashes -r requirements/site.lock
	@NO_MKDOCS_2_WARNING=1 COLUMNS=100 PYTHONPATH=. $(BIN)/mkdocs build --quiet --site-dir site/$(VERSION) $(ARGS)
	@echo "the site is in site/: $(BIN)/python -m http.server -d site 8000"

wheel: with-tools ## build a wheel with compiled hot modules into dist/ (needs a C compiler; some minutes)
	@HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m hatchling build -t wheel $(ARGS)

release: with-dev with-tools with-release ## build source distribution, both wheels and a bill of materials into dist/, and check each; ARGS=--help for options
	@$(BIN)/python -m scripts.release $(ARGS)

lock: with-tools ## pin the newest versions that pyproject.toml allows, with hashes, into requirements/*.lock; ARGS=--keep changes only what no longer fits
	@scripts/lock $(ARGS)

clean: ## remove .venv, caches and build results; DATA_DIR stays
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench/build spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

with-run with-spark with-dev with-tools with-release:
	@scripts/setup $(@:with-%=%)
