# make help lists the targets. Each is what CI runs, under the same name.
SHELL := /usr/bin/env bash -o pipefail

ENVTEST_VERSION := 1.36.3
ENVTEST_DIR     := $(CURDIR)/bin/envtest/$(ENVTEST_VERSION)
# The newest versions that the library is tested on; go.mod names the lowest.
LATEST_MODFILE  := hack/latest/go.mod

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: envtest
envtest: ## Build kube-apiserver and etcd for the tests (once).
	@GOWORK=off go run -C hack/envtest . $(ENVTEST_DIR)
