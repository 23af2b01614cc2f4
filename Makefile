# make help lists the targets. Each is what CI runs, under the same name.
SHELL := /usr/bin/env bash -o pipefail

# Each module is built and tested with the versions that its own go.mod names, the lowest that it supports.
export GOWORK := off

ENVTEST_VERSION := 1.36.3
ENVTEST_DIR     := $(CURDIR)/bin/envtest/$(ENVTEST_VERSION)

# The modules of this repository, . for the root. Those of HEAVY have targets of their own; all others are tested by make test.
MODULES      := $(patsubst ./,.,$(dir $(shell git ls-files -co --exclude-standard 'go.mod' '*/go.mod' ':!:*testdata*')))
HEAVY        := hack/bench/ hack/fuzz/ hack/golangci-lint/ hack/kubebuilder/ hack/latest/ hack/lowest/
TEST_MODULES := $(filter-out $(HEAVY),$(MODULES))
# The packages of a module that are vetted and tested: those below hack/envtest are kube-apiserver and etcd themselves.
packages = $(if $(filter hack/envtest/,$(1)),.,./...)
# What is safe for concurrent use, and says so, is tested with the race detector. It changes the allocations that patcher/test/guard
# counts, and the test kit explores models with races in them.
race  = $(if $(filter patcher/,$(1)),./...,$(if $(filter patcher/test/,$(1)),.,$(if $(filter patchertest/,$(1)),./realserver)))
plain = $(if $(filter patcher/,$(1)),,$(if $(filter patcher/test/,$(1)),./fuzz ./guard ./statusfuzz,$(if $(filter patchertest/,$(1)),. ./internal/...,$(call packages,$(1)))))
# Runs the tests of a module, with or without the race detector: $(call gotest,MODULE,PACKAGES,FLAGS). make verify vets: go test would
# analyze all dependencies, too, once for each set of flags, which is a quarter of the time on empty caches.
gotest = $(if $(2),echo "go test $(3) $(1)"; go test -C $(1) $(3) -vet=off -timeout 30m $(TESTFLAGS) $(2) || failed="$$failed $(1)";)

# Directories with marked kinds, and kinds that nobody here can mark. HEAVY_KINDS are those that only hack/fuzz requires.
API_PATHS := paths=./examples/... paths=./patcher/internal/testapi/...
FOREIGN   := types=k8s.io/api/apps/v1.Deployment,k8s.io/api/core/v1.Node,k8s.io/api/core/v1.Pod
HEAVY_KINDS := types=github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1.Certificate,github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1.CertificateRequest,sigs.k8s.io/cluster-api/api/core/v1beta2.Cluster,sigs.k8s.io/cluster-api/api/core/v1beta2.Machine

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Generated code

.PHONY: generate
generate: bin/controller-gen bin/statuspatcher-gen ## Generate DeepCopy, CRDs and status patchers of the examples.
	cd examples && ../bin/controller-gen object crd paths=./... output:crd:dir=database-operator/config/crd
	cd patcher && ../bin/controller-gen object crd paths=./internal/testapi/... output:crd:dir=test/crd
	bin/statuspatcher-gen $(API_PATHS)
	cd patcher/test && ../../bin/statuspatcher-gen $(FOREIGN) output:dir=foreignstatus

.PHONY: verify
verify: ## Fail when generated code is stale, unformatted or does not vet.
	hack/verify-unchanged.sh $(MAKE) --no-print-directory generate
	bin/statuspatcher-gen $(API_PATHS) verify
	cd patcher/test && ../../bin/statuspatcher-gen $(FOREIGN) output:dir=foreignstatus verify
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | grep -v testdata | xargs gofmt -l); \
	  [ -z "$$unformatted" ] || { echo "not gofmt-clean: $$unformatted" >&2; exit 1; }
	$(foreach module,$(TEST_MODULES),go vet -C $(module) $(call packages,$(module)) &&) true

.PHONY: bin/controller-gen
bin/controller-gen:
	go build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

.PHONY: bin/statuspatcher-gen
bin/statuspatcher-gen:
	go build -o $@ ./cmd/statuspatcher-gen

##@ Tests

.PHONY: test
test: envtest ## Run all tests of all modules, each on the lowest versions that its go.mod names.
	@failed=; $(foreach module,$(TEST_MODULES),$(call gotest,$(module),$(call plain,$(module)),) $(call gotest,$(module),$(call race,$(module)),-race)) \
	[ -z "$$failed" ] || { echo "tests failed in:$$failed" >&2; exit 1; }

.PHONY: test-latest
test-latest: envtest ## Run all tests on the newest controller-runtime and Kubernetes.
	@failed=; $(foreach module,$(filter-out hack/envtest/,$(TEST_MODULES)), \
	  echo "go test $(module) on the newest versions"; \
	  GOWORK=$(CURDIR)/hack/latest/go.work go test -C $(module) -vet=off -timeout 30m $(TESTFLAGS) ./... || failed="$$failed $(module)";) \
	[ -z "$$failed" ] || { echo "tests failed in:$$failed" >&2; exit 1; }

.PHONY: oldest-go
oldest-go: ## Build and vet the libraries with the oldest Go that they support, the one their go.mod files name.
	@set -e; for module in patcher patchertest; do \
	  version=go$$(cd $$module && go list -m -f '{{.GoVersion}}'); \
	  echo "$$version vet $$module"; \
	  GOTOOLCHAIN=$$version go vet -C $$module ./...; \
	done

GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4
.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities that the code reaches, in every module. Reads https://vuln.go.dev.
	@failed=; for module in $(MODULES); do \
	  echo "govulncheck $$module"; (cd $$module && GOWORK=off go run $(GOVULNCHECK) ./...) || failed="$$failed $$module"; \
	done; [ -z "$$failed" ] || { echo "vulnerabilities, or no check:$$failed" >&2; exit 1; }

.PHONY: explore
explore: ## Explore all schedules of the example's largest model, which takes minutes.
	go test -C examples ./database-operator/exploration -run '^TestDatabaseReconciler$$' -v -timeout 30m -whole

FUZZTIME ?= 1m
# An input is a seed for the most part: there is nothing to minimise, and by default a minute would go into each attempt.
FUZZ = for kind in $(1); do \
         go test -C $(2) . -run '^$$' -fuzz "^Fuzz$$kind$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
       done

.PHONY: corpus
corpus: ## Try the generator on public APIs: every kind generated, compiled, vetted and flushed. In parts: CORPUSFLAGS="-only=velero,keda -record=FILE".
	go run -C hack ./corpus $(CORPUSFLAGS)

.PHONY: generate-fuzz
generate-fuzz: bin/statuspatcher-gen ## Generate the patchers that hack/fuzz fuzzes.
	cd hack/fuzz && ../../bin/statuspatcher-gen $(HEAVY_KINDS) output:dir=heavystatus

.PHONY: fuzz
fuzz: generate-fuzz ## Fuzz equality and diffs, FUZZTIME (1m) for each kind.
	$(call FUZZ,Cell Gauge Dial Database Pod Node Deployment,patcher/test/fuzz)
	$(call FUZZ,Cluster Machine Certificate CertificateRequest,hack/fuzz)

# MUTATEFLAGS: -n and -seed choose a sample, -files what to mutate. Without, all mutants are tried, which takes hours.
MUTATEFLAGS ?= -n 280 -seed 1
# The tests on the API server that run against what survives all others. They share one server for each mutant.
MUTATE_ON_SERVER := TestS(0|10|11|12|13|14|22|24|25|26|30|50|51|56|57|6)
.PHONY: mutate
mutate: envtest ## Change the runtime in small ways, and list the changes that no test notices.
	cd hack && go run ./mutate $(MUTATEFLAGS) $(CURDIR)/patcher -- $(CURDIR)/patcher . -- $(CURDIR)/patcher/test ./guard ./statusfuzz ./fuzz '.@$(MUTATE_ON_SERVER)'

.PHONY: envtest
envtest: ## Build kube-apiserver and etcd for the tests (once).
	@go run -C hack/envtest . $(ENVTEST_DIR)

##@ Lint rule

.PHONY: lint
lint: bin/statuspatcher-lint ## Hold the examples to the lint rule: status is written by generated patchers only.
	cd examples && ../bin/statuspatcher-lint -ban ./database-operator/...

.PHONY: lint-golangci
lint-golangci: ## Hold the examples to golangci-lint with the plugin in it, built from the module proxy.
	go build -C hack/golangci-lint -o $(CURDIR)/bin/golangci-lint .
	cd examples && ../bin/golangci-lint run -c ../hack/golangci-lint/golangci.yml ./database-operator/...

.PHONY: lint-corpus
lint-corpus: bin/statuspatcher-lint ## Hold the lint rule's audit of well-known operators against the lists judged by hand.
	go run -C hack ./lint-corpus -tool=$(CURDIR)/bin/statuspatcher-lint $(CORPUS)

.PHONY: migrate-corpus
migrate-corpus: bin/statuspatcher-migrate ## Migrate well-known operators, and print what became of their status writes.
	go run -C hack ./migrate-corpus -tool=$(CURDIR)/bin/statuspatcher-migrate -runtime=$(CURDIR)/patcher $(CORPUSFLAGS) $(CORPUS)

.PHONY: bin/statuspatcher-migrate
bin/statuspatcher-migrate:
	go build -o $@ ./cmd/statuspatcher-migrate

.PHONY: wrap-corpus
wrap-corpus: envtest ## Run the tests of public operators with their clients behind patcher.Wrap, and explain what changed.
	go run -C hack ./wrap-corpus $(CORPUS)

.PHONY: bin/statuspatcher-lint
bin/statuspatcher-lint:
	go build -o $@ ./cmd/statuspatcher-lint

##@ Speed

.PHONY: bench
bench: envtest ## Measure beside what people use today: tables of ratios, and all figures in bin/bench.json.
	cd hack/bench && go run . -out $(CURDIR)/bin/bench.json -samples $(CURDIR)/bin/bench.txt $(BENCHFLAGS)
	cd hack/bench && go tool benchstat -filter '.unit:cpu-ns/op' -col /by $(CURDIR)/bin/bench.txt

##@ Demonstration

.PHONY: demo
demo: envtest ## Run the handwritten and the generated operator under the same contention, and compare.
	@go run -C hack ./demo
