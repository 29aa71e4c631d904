# Everything a checkout needs; `make help` lists the targets.
.DEFAULT_GOAL := help
FUZZ_SECONDS ?= 60

.PHONY: help run install test test-clients test-dashboard test-docs test-packaging test-citus test-nightly test-rolling docs deb deny demo fuzz fuzz-http check fmt clippy doc prepare prepare-check openapi openapi-check postgres rust
.PHONY: bench bench-micro bench-history bench-start bench-read bench-handoff bench-dashboard bench-neighbours
.PHONY: bench-quality bench-search bench-storage bench-scale

help: ## List the targets
	@sed -n 's/^\([a-z -]*\):.* ## \(.*\)/  \1\t\2/p' Makefile | expand -t 18

run: rust postgres ## Build the service and start it (http://127.0.0.1:8080), with a database of its own
	cargo run --release -- serve

install: rust postgres ## Install the program (into ~/.cargo/bin), and PostgreSQL's server programs if there are none
	cargo install --locked --path .

test: rust postgres ## Run all tests, with a temporary database
	@sh scripts/test.sh

test-clients: rust postgres ## Test the client in Python, and with other clients: Anthropic's SDK, those of the Model Context Protocol
	@sh scripts/test-clients.sh

test-dashboard: rust postgres ## Run the dashboard's tests in a real Chromium, with screenshots of its pages (target/dashboard)
	@sh scripts/test-dashboard.sh

test-docs: rust postgres ## Run every code block of README.md and docs, and follow every link
	@sh scripts/test-docs.sh

test-packaging: rust postgres ## Check the files for systemd, containers, Kubernetes and Debian, and run two instances behind a load balancer
	@sh scripts/test-packaging.sh

test-citus: rust postgres ## Run the tests on tables that are distributed by vault: TEST_CITUS_URL=server of one node, TEST_CITUS_NODES_URL=database of several
	@sh scripts/test-citus.sh

test-nightly: rust postgres ## Run what is too long for every change, where nothing is skipped: 1,000 whole lives, all of packaging, test-citus
	@LIVES=1000 sh scripts/test.sh -E 'test(/^life::/)'
	@NO_SKIPS=1 sh scripts/test-packaging.sh
	@sh scripts/test-citus.sh

test-rolling: rust postgres ## Replace two instances of a release by this one and back, while clients write: OLD=path of the release's program
	@test -x "$(OLD)" || { echo "Set OLD=path, a program of the previous release." >&2; exit 2; }
	@program=$$(sh scripts/program.sh) && "$$program" with-postgres -- python3 tests/packaging/rolling.py "$(OLD)" "$$program"

deny: rust ## Check licences, duplicates and sources of the dependencies (installs cargo-deny if there is none)
	@sh scripts/deny.sh

deb: rust ## Make the Debian package (target/debian), with cargo-deb
	@sh scripts/deb.sh

docs: ## Build README.md and docs as a site (target/docs/site) with mdBook
	@sh scripts/docs.sh

demo: rust postgres ## Show what the service does, with a temporary database
	@program=$$(sh scripts/program.sh) && WORKING_MEMORY_BIN=$$program bash scripts/demo.sh

# Coverage-guided fuzzing needs flags that only a nightly compiler accepts without RUSTC_BOOTSTRAP.
fuzz: rust ## Fuzz the parser of updates for FUZZ_SECONDS (60)
	@cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked
	@cp Cargo.lock fuzz/Cargo.lock
	RUSTC_BOOTSTRAP=1 cargo fuzz run dsl_parse -- -max_total_time=$(FUZZ_SECONDS) -dict=fuzz/dsl.dict

fuzz-http: rust postgres ## Send requests made from openapi.yaml to a service of its own, with schemathesis (nightly; EXAMPLES=50)
	@sh scripts/fuzz-http.sh

check: fmt prepare-check doc deny $(if $(wildcard openapi.yaml),openapi-check) ## All checks except the tests

fmt: rust ## Check the formatting
	cargo fmt --check

clippy: rust ## Lint everything, warnings denied, without a database
	cargo clippy --locked --all-targets -- -D warnings

doc: rust ## Build the documentation, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet

prepare: rust postgres ## Refresh .sqlx, by which queries are checked without a database
	@sh scripts/prepare.sh

prepare-check: rust postgres ## Lint everything, warnings denied, and check that .sqlx is up to date
	@sh scripts/prepare.sh --check

openapi: rust ## Refresh openapi.yaml from the code
	cargo run --quiet -- openapi > openapi.yaml.new
	mv openapi.yaml.new openapi.yaml

openapi-check: rust ## Check that openapi.yaml is what the code says
	@cargo run --quiet -- openapi | diff -u openapi.yaml - || \
		{ echo "openapi.yaml is out of date: run make openapi, and commit it." >&2; exit 1; }

# ARGS='--seconds 1 --rounds 1' for a smoke run, ARGS='--only get put' for a part of it; --help lists all options.
bench: rust postgres ## Measure the service beside PostgreSQL, a bare HTTP handler and its peers
	cargo build --release --locked --example bare_handler --example scripted_model --bin working-memory
	@python3 benches/side_by_side/run.py --program "$$(sh scripts/program.sh --release)" $(ARGS)

bench-micro: rust ## Measure the pure parts: in time, and in instructions compared with the committed counts
	cargo bench --locked --bench micro
	@python3 benches/instructions.py

bench-history bench-start bench-read bench-handoff: rust postgres ## Measure single requests: reads at 1 to 100,000 versions; the start and idle memory; the instructions of a read; handoffs of 10,000 records
	@python3 benches/single.py --program "$$(sh scripts/program.sh --release)" $(@:bench-%=%)

bench-quality: rust postgres ## Score the configured model: ARGS="--corpus FILE" for labelled sessions (--ideal: a good model), or --planted
	@python3 benches/quality/run.py --program "$$(sh scripts/program.sh)" $(ARGS)

bench-search: rust postgres ## Score searches by words and by meaning on 150 judged queries, and time them over a million passages
	cargo build --release --locked --example meaning_speed --example search_speed --bin working-memory
	@python3 benches/search/run.py --program "$$(sh scripts/program.sh --release)" $(ARGS)
	@program="$$(sh scripts/program.sh --release)" && \
		"$$program" with-postgres -- "$${program%/*}/examples/meaning_speed" && \
		"$$program" with-postgres -- "$${program%/*}/examples/search_speed" 10000

# An unoptimized build writes the same bytes.
bench-storage: rust postgres ## Measure what puts and updates store, table by table, and what they add to the write-ahead log
	@python3 benches/storage/run.py --program "$$(sh scripts/program.sh)" $(ARGS)

bench-scale: rust postgres ## Measure whether requests take as long with a million memories as with ten thousand (10 GB; ARGS="--large 200000" for less)
	@python3 benches/scale/run.py --program "$$(sh scripts/program.sh --release)" $(ARGS)

bench-neighbours: rust postgres ## Measure how 400 connections that ask for one vault affect another vault
	@python3 benches/neighbours/run.py --program "$$(sh scripts/program.sh --release)" $(ARGS)

bench-dashboard: rust postgres ## Measure the pages of the dashboard: first byte, size, a hundred concurrent visitors
	@program=$$(sh scripts/program.sh --release) && WORKING_MEMORY_BIN=$$program \
		DASHBOARD_SUITE=bench.mjs sh scripts/test-dashboard.sh

postgres: ## Install the PostgreSQL server binaries, if there are none
	@sh scripts/install-postgres.sh

rust:
	@command -v cargo >/dev/null || \
		{ echo "Rust is needed: install it from https://rustup.rs, then run make again." >&2; exit 1; }
