# aliascheck: what a developer runs. `make build`, `make test` and `make demo` need
# Go alone; the others say what else.

GO       ?= go
PREFIX   ?= /usr/local
FUZZTIME ?= 10m
WORK     := .work
BIN      := bin/aliascheck
SHELL    := bash
.SHELLFLAGS := -euo pipefail -c

.PHONY: all build install test test-short lint demo demo-html bench test-jax test-compile bench-compile test-gpu goldens generate fuzz release man clean

all: build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/aliascheck

install: build
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/aliascheck
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(BIN) man > $(DESTDIR)$(PREFIX)/share/man/man1/aliascheck.1
	$(BIN) completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/aliascheck
	$(BIN) completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_aliascheck
	$(BIN) completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/aliascheck.fish

# Each package is named as it ends, and what failed is said again at the end. A slow
# machine is no failure: the timeout is for what hangs.
TEST_FORMAT ?= pkgname
GOTESTSUM   := $(GO) tool gotestsum --format $(TEST_FORMAT) --format-hide-empty-pkg

test:
	$(GOTESTSUM) -- -timeout 60m ./...

# The inner loop: the same tests without those that take long, in under a minute.
test-short:
	$(GOTESTSUM) -- -short -timeout 10m ./...

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not gofmt-ed:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Audits the real dumps of testdata: real findings of real programs.
demo: build
	@code=0; $(BIN) --config testdata/dumps/.aliascheck.yaml testdata/dumps || code=$$?; \
	echo; echo "exit code $$code (1: findings at or above --fail-on)"; test $$code -eq 1

# The same as a page for the browser, with no network.
demo-html: build
	@mkdir -p $(WORK); code=0; $(BIN) --config testdata/dumps/.aliascheck.yaml --output html=$(WORK)/demo.html testdata/dumps >/dev/null || code=$$?; \
	test $$code -eq 1 && echo "$(WORK)/demo.html"

# Real pytest on real JAX, on the CPU. Needs python3 with venv, g++ and PyPI.
test-jax:
	testdata/jaxsuite/build.sh $(WORK)
	ALIASCHECK_VENV=$$PWD/$(WORK)/venv JAXSUITE_LIBRARY=$$PWD/$(WORK)/jaxsuite.so \
	$(GO) test -count=1 -timeout 30m -run TestJAX ./cmd/aliascheck ./cudarun/jax

# `aliascheck compile` on real JAX, without a GPU: several releases, each in a virtual
# environment that a cache keeps. Needs python3 with venv (3.12 for the newest), and PyPI.
test-compile:
	@mkdir -p $(WORK)
	testdata/kernels/venv.sh > $(WORK)/compile-venvs
	ALIASCHECK_COMPILE_VENVS=$$PWD/$(WORK)/compile-venvs \
	$(GO) test -count=1 -timeout 20m -run TestCompile ./cmd/aliascheck

# What compile adds to JAX's own compile time. CONFIG is a target configuration that a dump has.
bench-compile:
	cd testdata/kernels && PYTHONPATH=. $$(./venv.sh requirements/jax-0.10.2.txt | cut -d' ' -f2)/bin/python cost.py \
		$(abspath $(or $(CONFIG),testdata/kernels/h200.pbtxt)) ../../cmd/aliascheck/compile/python

# On a machine with a GPU of compute capability 9.0: replays all of testdata, and
# asks the driver about every TMA descriptor of the table.
test-gpu:
	ALIASCHECK_GPU=1 $(GO) test -count=1 -timeout 40m -run GPU ./cudarun/... ./cmd/aliascheck/...

# On a machine with a GPU of compute capability 9.0: what the card computes, for the
# PTX machine to be held to.
goldens:
	CUDARUN_RENEW_GOLDENS=1 $(GO) test -count=1 -v -run TestGPUGoldens ./cudarun

# Speeds, each beside its floor or its peer of the same run. The peer needs python3
# with venv, and PyPI.
bench: build
	rm -rf $(WORK)/tree $(WORK)/literal && mkdir -p $(WORK)
	$(GO) run ./hlo/internal/benchtree -to $(WORK)/tree
	$(GO) run ./hlo/internal/benchtree -to $(WORK)/literal -small 0 -large 0 -literal 500000000
	test -x $(WORK)/peer/bin/python || { python3 -m venv $(WORK)/peer && $(WORK)/peer/bin/pip install -q protobuf grpcio-tools; }
	cd $(WORK) && peer/bin/python -m grpc_tools.protoc -I../testdata/bench --python_out=. ../testdata/bench/hlo.proto && cp ../testdata/bench/peer.py .
	$(GO) run ./cmd/aliascheck/internal/bench -binary $(BIN) -tree $(WORK)/tree -literal $(WORK)/literal -peer "$(WORK)/peer/bin/python $(WORK)/peer.py"
	ALIASCHECK_BENCH_TREE=$$PWD/$(WORK)/tree $(GO) test -run '^$$' -bench . ./hlo ./hlo/kernel/triton
	$(GO) test -run '^$$' -bench . ./rules/ptx

# Needs protoc (Debian: protobuf-compiler).
generate:
	mkdir -p $(WORK) && $(GO) build -o $(WORK)/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
	protoc --plugin=$(WORK)/protoc-gen-go --go_out=. --go_opt=module=aliascheck hlo/kernel/triton/triton.proto

FUZZ = $(GO) test -run '^$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
fuzz:
	$(FUZZ) ./hlo -fuzz FuzzProto
	$(FUZZ) ./hlo -fuzz FuzzText
	$(FUZZ) ./hlo/kernel/triton -fuzz FuzzOpaque
	$(FUZZ) ./hlo/kernel/triton -fuzz FuzzPrefix
	$(FUZZ) ./hlo/kernel/triton -fuzz FuzzInflate
	$(FUZZ) ./alias -fuzz FuzzOracle
	$(FUZZ) ./rules/settings -fuzz FuzzConfig
	$(FUZZ) ./rules/ptx/syntax -fuzz FuzzParse
	$(FUZZ) ./rules/ptx -fuzz FuzzRun
	$(FUZZ) ./rules/ptx -fuzz FuzzGenerated
	$(FUZZ) ./rules/tensormap -fuzz FuzzLog
	$(FUZZ) ./rules/tensormap -fuzz FuzzJudge

# Release builds, wheels and their checksums, in dist: make release VERSION=v1.2.3
release:
	VERSION=$(VERSION) .ci/release

man: build
	mkdir -p dist && $(BIN) man > dist/aliascheck.1

clean:
	rm -rf bin dist $(WORK)
