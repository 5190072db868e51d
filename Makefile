# aliascheck: what a developer runs. Every target works on a fresh machine with Go.

GO     ?= go
PREFIX ?= /usr/local
BIN    := bin/aliascheck
FUZZTIME ?= 10m

.PHONY: all build install test lint demo bench generate fuzz clean

all: build

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/aliascheck

install: build
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/aliascheck

test:
	$(GO) test ./...

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not gofmt-ed:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Audits the real dumps of testdata: real findings of real programs.
demo: build
	@$(BIN) --replay off --config testdata/dumps/.aliascheck.yaml testdata/dumps; \
	code=$$?; echo; echo "exit code $$code (1: findings at or above --fail-on)"; test $$code -eq 1

bench:
	$(GO) test -run '^$$' -bench . ./hlo/... ./rules/...

# Needs protoc (Debian: protobuf-compiler).
generate:
	protoc --plugin=protoc-gen-go=<($(GO) tool -n protoc-gen-go) --go_out=. --go_opt=module=aliascheck hlo/triton/triton.proto

fuzz:
	$(GO) test ./hlo -run '^$$' -fuzz FuzzProto -fuzztime $(FUZZTIME)
	$(GO) test ./hlo -run '^$$' -fuzz FuzzText -fuzztime $(FUZZTIME)
	$(GO) test ./hlo/triton -run '^$$' -fuzz FuzzOpaque -fuzztime $(FUZZTIME)
	$(GO) test ./rules -run '^$$' -fuzz FuzzConfig -fuzztime $(FUZZTIME)

clean:
	rm -rf bin dist
