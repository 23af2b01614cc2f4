# make help lists the targets. Each is what CI runs, under the same name.
SHELL := /usr/bin/env bash -o pipefail

ENVTEST_VERSION := 1.36.3
ENVTEST_DIR     := $(CURDIR)/bin/envtest/$(ENVTEST_VERSION)
# The newest versions that the library is tested on; go.mod names the lowest.
LATEST_MODFILE  := hack/latest/go.mod

# What has patchers, and is generated again by make generate.
API_PATHS := paths=./examples/... paths=./patcher/internal/testapi/...
# Kinds that nobody here can mark. HEAVY are those of heavy modules, which only hack/fuzz requires.
FOREIGN := types=k8s.io/api/apps/v1.Deployment,k8s.io/api/core/v1.Node,k8s.io/api/core/v1.Pod
HEAVY   := types=github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1.Certificate,github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1.CertificateRequest,sigs.k8s.io/cluster-api/api/core/v1beta2.Cluster,sigs.k8s.io/cluster-api/api/core/v1beta2.Machine
# What is safe for concurrent use, and says so: tested with the race detector. On a busy machine its 32 writers can take more
# than the ten minutes that go test gives them, as can the tests of the documents with empty caches.
RACE := ./patcher/... ./patchertest/realserver/...

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Generated code

.PHONY: generate
generate: ## Generate DeepCopy, CRDs and status patchers of the examples.
	go tool controller-gen object $(API_PATHS)
	go tool controller-gen crd paths=./examples/database-operator/... output:crd:dir=examples/database-operator/config/crd
	go tool controller-gen crd paths=./patcher/internal/testapi/... output:crd:dir=patcher/internal/testapi/crd
	go run ./cmd/statuspatcher-gen $(API_PATHS)
	go run ./cmd/statuspatcher-gen $(FOREIGN) output:dir=patcher/internal/foreignstatus

.PHONY: verify
verify: ## Fail when generated code is stale, unformatted or does not vet.
	hack/verify-unchanged.sh $(MAKE) --no-print-directory generate
	go run ./cmd/statuspatcher-gen $(API_PATHS) verify
	go run ./cmd/statuspatcher-gen $(FOREIGN) output:dir=patcher/internal/foreignstatus verify
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | grep -v testdata | xargs gofmt -l); \
	  [ -z "$$unformatted" ] || { echo "not gofmt-clean: $$unformatted" >&2; exit 1; }
	go vet ./...

##@ Tests

.PHONY: test
test: envtest ## Run all tests, on the lowest versions that go.mod names.
	go test -timeout 20m $(TESTFLAGS) $(filter-out $(shell go list $(RACE)),$(shell go list ./...))
	go test -race -timeout 30m $(TESTFLAGS) $(RACE)
	cd hack/envtest && GOWORK=off go test $(TESTFLAGS) .

.PHONY: test-latest
test-latest: envtest ## Run all tests on the newest controller-runtime and Kubernetes.
	go test -modfile=$(LATEST_MODFILE) -timeout 30m $(TESTFLAGS) ./...

FUZZTIME ?= 1m
# An input is a seed for the most part: there is nothing to minimise, and by default a minute would go into each attempt.
FUZZ = for kind in $(1); do \
         GOWORK=off go test -C $(2) . -run '^$$' -fuzz "^Fuzz$$kind$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
       done

.PHONY: corpus
corpus: ## Try the generator on public APIs: every kind generated, compiled, vetted and flushed.
	go run ./hack/corpus

.PHONY: generate-fuzz
generate-fuzz: ## Generate the patchers that hack/fuzz fuzzes.
	go build -o bin/statuspatcher-gen ./cmd/statuspatcher-gen
	cd hack/fuzz && GOWORK=off ../../bin/statuspatcher-gen $(HEAVY) output:dir=heavystatus

.PHONY: fuzz
fuzz: generate-fuzz ## Fuzz equality and diffs, FUZZTIME (1m) for each kind.
	$(call FUZZ,Cell Gauge Dial Database Pod Node Deployment,patcher/internal/fuzz)
	$(call FUZZ,Cluster Machine Certificate CertificateRequest,hack/fuzz)

.PHONY: envtest
envtest: ## Build kube-apiserver and etcd for the tests (once).
	@GOWORK=off go run -C hack/envtest . $(ENVTEST_DIR)

##@ Lint rule

.PHONY: lint
lint: bin/statuspatcher-lint ## Hold the examples to the lint rule: status is written by generated patchers only.
	bin/statuspatcher-lint -ban ./examples/database-operator/...

.PHONY: lint-golangci
lint-golangci: ## Hold the examples to golangci-lint with the plugin in it, built from the module proxy.
	GOWORK=off go build -C hack/golangci-lint -o $(CURDIR)/bin/golangci-lint .
	bin/golangci-lint run -c hack/golangci-lint/golangci.yml ./examples/database-operator/...

.PHONY: lint-corpus
lint-corpus: bin/statuspatcher-lint ## Hold the lint rule's audit of well-known operators against the lists judged by hand.
	go run ./hack/lint-corpus -tool=bin/statuspatcher-lint $(CORPUS)

.PHONY: bin/statuspatcher-lint
bin/statuspatcher-lint:
	go build -o $@ ./cmd/statuspatcher-lint

##@ Speed

.PHONY: bench
bench: envtest ## Measure beside what people use today: tables of ratios, and all figures in bin/bench.json.
	cd hack/bench && GOWORK=off go run . -out $(CURDIR)/bin/bench.json -samples $(CURDIR)/bin/bench.txt $(BENCHFLAGS)
	cd hack/bench && GOWORK=off go tool benchstat -filter '.unit:cpu-ns/op' -col /by $(CURDIR)/bin/bench.txt

##@ Demonstration

.PHONY: demo
demo: envtest ## Run the handwritten and the generated operator under the same contention, and compare.
	@go run ./hack/demo
