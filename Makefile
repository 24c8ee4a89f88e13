# `make help` says what there is. Everything works on a machine that has Go, git,
# make and gcc (for the race detector); the rest is built from pinned sources.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# What a person may set.
ARGS        ?=#      arguments of `detent dev` in `make run`
PKGS        ?= ./...
BENCH       ?= .
FUZZ        ?=#      pattern of targets in `make fuzz`; none means all
FUZZTIME    ?=#      duration of each; its default is in hack/fuzz
COUNT       ?= 6
ONLY        ?=#      names of images in `make images`; none means all

TOOLS       := bin/tools
# Tools are built again when their pins change or the Go toolchain does: a linter
# cannot read code that is newer than the compiler it was built with.
TOOLS_BUILT := $(TOOLS)/.built-$(shell { go version; cat tools/go.mod tools/go.sum; } | git hash-object --stdin)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/detent and bin/kubectl-detent
	CGO_ENABLED=0 GOGC=$${GOGC:-400} go build -trimpath -o bin/detent ./cmd/detent
	ln -sf detent bin/kubectl-detent

.PHONY: run
run: ## run everything on this machine: control plane, operator, simulated systems, page
	@$(MAKE) --no-print-directory -j2 build compiled-control-plane
	bin/detent dev $(ARGS)

# With the flags of the former, the standard library is compiled once for both.
.PHONY: compiled-control-plane
compiled-control-plane:
	@hack/compile-control-plane

.PHONY: test
test: $(TOOLS_BUILT) control-plane ## run the unit tests with the race detector, then the integration tests
	hack/test $(PKGS)
	cd test/cluster && GOWORK=off go test -vet=off ./...

.PHONY: lint
lint: $(TOOLS_BUILT) ## check style, layering, format, and that generated files are up to date
	$(TOOLS)/golangci-lint run
	cd test/cluster && GOWORK=off ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml
	@hack/check-format
	@go run ./hack/words
	@hack/check-generated

.PHONY: generate
generate: $(TOOLS_BUILT) ## write what is generated: deep copies, CRDs, and what go:generate says
	$(TOOLS)/controller-gen object paths=./crds/... paths=./examples/... paths=./test/turnstile/... paths=./test/bench/sequence/...
	$(TOOLS)/controller-gen crd paths=./crds/... output:crd:dir=crds/generated
	@$(foreach e,$(patsubst %/api/,%,$(wildcard examples/*/api/)),$(TOOLS)/controller-gen crd paths=./$(e)/... output:crd:dir=$(e)/crd &&) true
	$(TOOLS)/controller-gen crd paths=./test/turnstile/... output:crd:dir=test/turnstile/crd
	$(TOOLS)/controller-gen crd paths=./test/bench/sequence/... output:crd:dir=test/bench/sequence/crd
	go generate ./...

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME; FUZZ=name for some of them
	@FUZZ='$(FUZZ)' FUZZTIME='$(FUZZTIME)' hack/fuzz

# Packages with benchmarks; the fleet is measured by itself, once.
FLEET       := ./test/bench/fleet/
MEASURED     = $(filter-out $(FLEET),$(addprefix ./,$(sort $(dir $(shell git grep -l '^func Benchmark' -- '*_test.go')))))

.PHONY: bench
bench: $(TOOLS_BUILT) control-plane ## measure everything and write docs/benchmarks.md; BENCH=name for a part, the sections of which it replaces; compares with dist/bench/base.txt
	@mkdir -p dist/bench && cp /proc/loadavg dist/bench/load.txt
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 60m $(MEASURED) | tee dist/bench/new.txt
	$(TOOLS)/benchstat $(wildcard dist/bench/base.txt) dist/bench/new.txt
	@echo 'To compare the next run with this one: cp dist/bench/new.txt dist/bench/base.txt'
ifeq ($(BENCH),.)
	go test -run '^$$' -bench . -benchtime 1x -timeout 60m $(FLEET) | tee dist/bench/fleet.txt
	go run ./hack/benchmarks dist/bench/load.txt dist/bench/new.txt dist/bench/fleet.txt >dist/bench/page.md
else
	go run ./hack/benchmarks -keep docs/benchmarks.md dist/bench/load.txt dist/bench/new.txt >dist/bench/page.md
endif
	mv dist/bench/page.md docs/benchmarks.md

.PHONY: vuln
vuln: $(TOOLS_BUILT) ## look the dependencies up in the Go vulnerability database
	@hack/vuln

.PHONY: tools
tools: $(TOOLS_BUILT) ## build the developers' tools into bin/tools, if their pins changed

$(TOOLS_BUILT): tools/go.mod tools/go.sum
	@echo 'building the developers'\'' tools: about two minutes on two cores, this once'
	@mkdir -p $(TOOLS) && rm -f $(TOOLS)/.built-*
	cd tools && GOFLAGS=-mod=readonly GOWORK=off go build -buildvcs=false -o ../$(TOOLS)/ tool
	@touch $@

.PHONY: control-plane
control-plane: ## build etcd, kube-apiserver, kube-controller-manager and kubectl, if they are missing
	go run ./hack/controlplane

# The test cluster is a module of its own, and so is its command. See docs/testing.md.
.PHONY: cluster
cluster:
	@cd test/cluster && GOFLAGS=-mod=readonly GOWORK=off go build -buildvcs=false -trimpath -o ../../bin/cluster .

.PHONY: cluster-up
cluster-up: cluster ## start a real single-node cluster on this machine; the last line is its kubeconfig
	@bin/cluster up

.PHONY: cluster-down
cluster-down: cluster ## stop that cluster and remove it without a trace
	@bin/cluster down

.PHONY: images
images: cluster ## make container images from packages; ONLY="kafka-4.1.2 operator" makes those alone
	@bin/cluster images $(ONLY)

.PHONY: cluster-test
cluster-test: ## test the cluster itself: start it, use it, kill it, and look for what is left; needs root
	cd test/cluster && GOWORK=off go test -count=1 -p 1 -timeout 30m -tags realcluster -v ./...

# Images of which e2e-images runs pods. Their names are labels of its scenarios.
COMMA      := ,
SPACE      := $() $()
E2E_OF     := $(or $(strip $(ONLY)),kafka ceph)
E2E_IMAGES := tools,operator,hello,$(subst $(SPACE),$(COMMA),$(E2E_OF))
E2E_FILTER := images$(if $(strip $(ONLY)), && ($(subst $(SPACE), || ,$(E2E_OF))))

# The cluster is started if none runs, and runs on afterwards: make cluster-down ends it. With CI set one that was started
# here is removed again, and nothing of it may be left.
E2E      := bin/cluster run $(if $(CI),,--keep)
E2E_TEST := go test -count=1 -tags e2e -timeout 30m ./test/e2e -v -ginkgo.v -ginkgo.no-color -ginkgo.fail-on-empty

SMOKE_IMAGES := tools operator hello kafka-4.0.2 kafka-4.1.2 ceph-16.2.15

.PHONY: e2e-smoke
e2e-smoke: cluster ## run hello and the manager from their images on a real cluster, with a real broker that is upgraded and a small Ceph
	@$(E2E) --images=$(subst $(SPACE),$(COMMA),$(SMOKE_IMAGES)) -- $(E2E_TEST) -ginkgo.label-filter=smoke

.PHONY: e2e-smoke-needs
e2e-smoke-needs: cluster ## download, build and install what e2e-smoke needs, and start nothing
	@bin/cluster prepare
	@bin/cluster images $(SMOKE_IMAGES)

SUITE    ?=#      label of the scenarios in `make e2e`: kafka, connect or ceph; none means all
E2E_KAFKA  := exporter,kafka-3.9.2,kafka-4.0.2,kafka-4.1.2,kafka-4.3.1
E2E_CEPH   := ceph-14.2.21,ceph-16.2.15,ceph-18.2.7
E2E_NEEDS   = tools,operator,hello,$(if $(filter ceph,$(SUITE)),$(E2E_CEPH),$(E2E_KAFKA)$(if $(strip $(SUITE)),,$(COMMA)$(E2E_CEPH)))

# A run replaces the sections of its scenarios on the page and keeps the others.
.PHONY: e2e
e2e: cluster ## run every scenario on real brokers and real Ceph, write docs/e2e.md; SUITE=kafka, connect or ceph for a part, FOCUS=words for some
	@$(E2E) --images=$(E2E_NEEDS) -- env E2E_PAGE=docs/e2e.md \
		go test -count=1 -tags e2e -timeout 4h ./test/e2e -v -ginkgo.v -ginkgo.no-color -ginkgo.fail-on-empty -ginkgo.timeout=4h \
		-ginkgo.label-filter='($(or $(strip $(SUITE)),kafka || connect || ceph || smoke)) && !images' $(if $(FOCUS),-ginkgo.focus='$(FOCUS)')

.PHONY: e2e-images
e2e-images: cluster ## run a pod of every image, names, addresses, volumes, logs and exec; ONLY="ceph-16.2.15" for pods of that one
	@$(E2E) --images=$(E2E_IMAGES) -- $(E2E_TEST) -ginkgo.label-filter='$(E2E_FILTER)'

.PHONY: e2e-chaos
e2e-chaos: cluster ## kill the manager after each of several writes while it brings a broker up
	@$(E2E) --images=tools,operator,hello,kafka-4.0.2 -- $(E2E_TEST) -ginkgo.label-filter=chaos

.PHONY: cluster-rounds
cluster-rounds: cluster ## three clusters in a row, each with a pod of every image; says what each has left behind
	@bin/cluster run --rounds=3 --images=$(E2E_IMAGES) -- $(E2E_TEST) -ginkgo.label-filter='$(E2E_FILTER)'

# Where brokers of the images' jars are run from, as processes of this machine.
JARS := dist/kafka

.PHONY: real-brokers
real-brokers: cluster ## run the tables of Kafka's and Connect's behaviours on real brokers and workers; needs root once
	@bin/cluster jars $(JARS)
	DETENT_KAFKA_JARS=$(CURDIR)/$(JARS) go test -count=1 -tags realkafka -timeout 90m -v ./clients/kafka/kafkatest/realkafka ./clients/connect/connecttest/realconnect ./test/realbrokers

PROOF    := GOGC=300 go test -p 1 -count 1 -timeout 0 -v -run 'TestExplore|TestSeeded'
# Prints the tables of faults as Markdown. PLANS bounds how many plans of each subject are drawn.
CAMPAIGN := GOGC=400 DETENT_PROOF_AT_ONCE=28 go test -p 1 -count 1 -timeout 0 -v -run TestCampaign

WALK  := go test -count 1 -timeout 0 -v -run TestEveryFieldIsWalked ./test/proof/walk

.PHONY: proof
proof: control-plane ## explore over a million states of every machine, walk the specs, inject every fault at every effect and event
	DETENT_PROOF_STATES=260000 $(PROOF) ./test/proof/... ./examples/...
	DETENT_PROOF_EDITS=1000 $(WALK)
	DETENT_PROOF=all $(CAMPAIGN) ./examples/... ./test/proof/campaign
	DETENT_PROOF=all go test -count 1 -timeout 60m -v ./test/integration -ginkgo.focus 'a fault at any effect'

.PHONY: proof-figures
proof-figures: ## the exploration of `make proof` alone; prints its figures as a table for docs/proof.md
	@DETENT_PROOF_STATES=260000 $(PROOF) ./test/proof/kafka ./examples/... | grep '^|'

.PHONY: proof-faults
proof-faults: control-plane ## the campaign of faults of `make proof` alone; prints its tables for docs/proof.md
	@DETENT_PROOF=all $(CAMPAIGN) ./examples/... ./test/proof/campaign | grep -o '|.*|$$'

PLANS ?= 2000

.PHONY: proof-nightly
proof-nightly: control-plane ## explore ten million states; draw PLANS of two faults, of every depth and of six nodes; the same with the race detector
	DETENT_PROOF_STATES=2600000 GOMEMLIMIT=16GiB $(PROOF) ./test/proof/... ./examples/...
	DETENT_PROOF_EDITS=10000 $(WALK)
	DETENT_PROOF=nightly DETENT_PROOF_PLANS=$(PLANS) $(CAMPAIGN) ./examples/... ./test/proof/campaign
	DETENT_PROOF=nightly DETENT_PROOF_PLANS=$(PLANS) $(CAMPAIGN) -race ./examples/... ./test/proof/campaign
	$(PROOF) -race ./test/proof/kafka ./examples/...
