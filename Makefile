# dbtime: what a developer types. `make demo` is the shortest way to a report.

CARGO ?= cargo
# CI says LOCKED=--locked: there the lock file is law.
LOCKED ?=
FUZZ_SECONDS ?= 30
# Of which profile `make deb` makes a package; quick builds in half the time.
PROFILE ?= release
# Where cargo puts what it builds, wherever it was told to.
TARGET = $${CARGO_TARGET_DIR:-target}

.PHONY: help demo build deb test test-long test-planted test-versions test-sysbench test-kernels lint bench fuzz setup setup-test

help:
	@echo 'make demo    build dbtime quickly and run it: prints a report and writes report.html'
	@echo 'make build   build target/release/dbtime'
	@echo 'make deb     build a Debian package with manual pages and completions (installs cargo-deb by'
	@echo '             `cargo install cargo-deb --locked` where it is missing)'
	@echo 'make test    run every test (installs Chromium, servers and their like where missing)'
	@echo 'make test-long    the same, with more kills, traces and simulated studies'
	@echo 'make test-planted    plant causes in servers and look for them (minutes, on a quiet machine)'
	@echo 'make test-versions   also try other versions of the servers, and drivers of other languages'
	@echo '             (fetches about 600 MB once)'
	@echo 'make test-sysbench   also try the tests of sysbench itself (fetches its source)'
	@echo 'make test-kernels    run tests of the tracer on other kernels under qemu (an hour; the first time'
	@echo '             it fetches 350 MB)'
	@echo 'make lint    formatting, clippy and the rules of the workspace'
	@echo 'make bench   benchmarks of the hot paths'
	@echo 'make fuzz    fuzz the readers, $(FUZZ_SECONDS) s each (installs a C++ compiler where there is none)'

# A C compiler builds the embedded SQLite, LuaJIT and libbpf, which is linked to the system's libelf
# and zlib; everything else is Rust.
setup:
	@command -v cc >/dev/null 2>&1 || sh scripts/setup-debian.sh gcc libc6-dev
	@sh scripts/setup-debian.sh libelf-dev zlib1g-dev pkg-config
	@sh scripts/need-rust.sh

# Chromium draws the HTML reports; sqlite3 and python3 read what dbtime wrote; the servers, which are
# not started, are what the tests start privately; digests of logs are laid beside those of Percona's
# toolkit. The web servers write logs to digest. clang builds the kernel's side of the tracer again.
setup-test: setup
	@sh scripts/setup-debian.sh chromium sqlite3 python3 \
		mariadb-server-core mariadb-client-core postgresql-15 postgresql-15-hypopg \
		iproute2 sysbench clang-14 llvm-14 libbpf-dev python3-pip percona-toolkit nginx apache2-bin

build: setup
	$(CARGO) build --release $(LOCKED) --bin dbtime

# dpkg-shlibdeps, of dpkg-dev, finds out on which libraries the package depends.
deb: setup
	@sh scripts/setup-debian.sh dpkg-dev
	@CARGO="$(CARGO)" LOCKED="$(LOCKED)" sh scripts/deb.sh $(PROFILE)

# Nothing is named but the folder, so that results stay out of the sources.
demo:
	@echo 'dbtime: installing what is missing and building take 3 to 5 minutes on two CPUs (the second'
	@echo '        time seconds); the run after it half a minute.'
	@$(MAKE) --no-print-directory setup
	$(CARGO) build --profile quick $(LOCKED) --bin dbtime
	"$(TARGET)/quick/dbtime" run --out "dbtime-demo/$$(date -u +%Y%m%d-%H%M%S)-atm"

# The floors and the tidiness of the workspace are tests of xtask.
test:
	@echo 'dbtime: building and running all tests takes about 14 minutes on two CPUs (the second time'
	@echo '        10), and installing what is missing a minute more.'
	@$(MAKE) --no-print-directory setup-test
	sh crates/dbtime-observe/bpf/build.sh --check
	@CARGO="$(CARGO)" LOCKED="$(LOCKED)" sh scripts/test.sh

test-long: setup-test
	@CARGO="$(CARGO)" LOCKED="$(LOCKED)" NEXTEST_PROFILE=long \
		sh scripts/test.sh --features dbtime/long,dbtime-lab/long,dbtime-stats/long

# sysbench's own tests, with dbtime in its place.
test-sysbench: setup-test
	CARGO="$(CARGO)" LOCKED=$(LOCKED) sh scripts/sysbench-tests.sh

test-planted: setup-test
	$(CARGO) test -p dbtime --features planted --test it $(LOCKED) trace::planted -- --test-threads 1

# Where scripts/versions.sh keeps them follows from who runs it; the last folder it names is there.
# scripts/drivers.sh says which drivers cannot be had.
test-versions: setup-test test-sysbench
	folders=$$(sh scripts/versions.sh) && \
	drivers=$$(sh scripts/drivers.sh) && \
	DBTIME_DRIVERS="$$drivers" \
	DBTIME_VERSIONS=$$(dirname "$${folders##* }") \
	DBTIME_PGBENCH_TESTS=$$(sh scripts/pgbench-tests.sh || true) \
		$(CARGO) test --package dbtime-lab --package dbtime \
		--features dbtime-lab/versions,dbtime/versions --lib --test servers --test it \
		$(LOCKED) versions -- --skip sysbench_suite

# Kernels of Debian 11, 12 and 13 and the newest, each on this machine's own files.
test-kernels: setup-test
	@CARGO="$(CARGO)" LOCKED="$(LOCKED)" bash scripts/kernels/test.sh

lint: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets $(LOCKED) -- -D warnings
	$(CARGO) run --quiet --package xtask $(LOCKED)

bench: setup
	$(CARGO) bench --workspace --benches $(LOCKED)

# libFuzzer is C++.
fuzz: setup
	@command -v c++ >/dev/null 2>&1 || sh scripts/setup-debian.sh g++
	@CARGO="$(CARGO)" LOCKED="$(LOCKED)" sh scripts/fuzz.sh $(FUZZ_SECONDS)
