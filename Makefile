# The commands of this repository. `make` without a target lists them. Each does the set-up that it needs.
SHELL := /bin/sh
BIN := node_modules/.bin
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test up down engines clean build build-tests build-bench build-chaos build-cluster install generate check check-format check-lint \
	check-imports check-words check-types check-proto check-documents bench bench-compare profile page-speed golden test-unit test-browser test-processes test-nightly test-mutation test-long test-faults test-attacks test-chaos cluster-up cluster-test cluster-down test-clients test-destinations clients \
	hooks local sbom changelog licences capacity images sign-images image-check helm-check helm-diff

# Where Node is older than 22, the project installs its own (.node/), and all commands find it first.
ifneq ($(filter-out help hooks,$(MAKECMDGOALS)),)
export PATH := $(or $(shell node deploy/node/path.js),$(error Node 22.19 or newer is needed, with npm))
endif

# The console's page, compiled when one of its sources has changed.
CONSOLE := gateway/console/dist/site/index.html
# The browser's part of the documentation.
DOCS := gateway/docs/dist/site/.vite/manifest.json
# The code of the protos; the descriptors are written last.
PROTO := proto/gen/descriptors.binpb

help: ## Lists the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: install build-tests ## Shows the main job on real traffic: starts everything it needs, then stops it
	@node --enable-source-maps test/dist/demo/main.js

test: install build-tests ## Runs all tests of behaviour on real engines; those below have commands of their own
	@$(BIN)/jest --selectProjects unit mesh

test-browser: install build-tests ## Runs the tests of what a person sees: console, documentation, sign-up, in Chromium
	@$(BIN)/jest --selectProjects browser

test-processes: install build-tests ## Runs the tests that stop, kill and attack the processes of a mesh
	@$(BIN)/jest --selectProjects processes

test-unit: install build ## Runs the tests that need no engines; WATCH=1 reruns the affected tests on every change
	@$(BIN)/jest $(if $(WATCH),--watch) --selectProjects unit

up: install build-tests ## Starts the engines and the mesh in the background, or the processes that are missing
	@node --enable-source-maps deploy/local/dist/main.js up

down: local ## Stops the mesh and its engines and keeps their data
	@node --enable-source-maps deploy/local/dist/main.js down

engines: local ## Starts only Kafka, MongoDB and Redis
	@node --enable-source-maps deploy/local/dist/main.js engines

clean: local ## Stops the mesh and removes its data, logs and settings
	@node --enable-source-maps deploy/local/dist/main.js clean

build: install $(PROTO) $(CONSOLE) $(DOCS) ## Generates and compiles changed code
	@echo 'compiling ...'
	@$(BIN)/tsc -b gateway && node gateway/client/generate.mjs && $(BIN)/tsc -b
	@npm run --silent package -w gateway/client > /dev/null

# The emulator, the demo, and what starts meshes.
build-tests: build ## Compiles what the tests with engines start, too
	@$(BIN)/tsc -b test

build-bench: build
	@$(BIN)/tsc -b test/bench

build-chaos: build
	@$(BIN)/tsc -b test/chaos

build-cluster: build
	@$(BIN)/tsc -b test/cluster

$(PROTO): package-lock.json proto/buf.yaml proto/buf.gen.yaml $(shell find proto -name '*.proto') | install
	@echo 'generating the code of the protos ...'
	@npm run --silent generate -w proto

$(CONSOLE): package-lock.json gateway/src/error-guide/upstream-guide.json $(wildcard gateway/src/design/*) $(shell find gateway/console -type f -not -path '*/dist/*' -not -path '*/node_modules/*') | install
	@echo 'building the console ...'
	@npm run --silent build -w gateway/console

$(DOCS): package-lock.json $(shell find gateway/docs/src gateway/docs/vite.config.mts -type f) | install
	@echo 'building the reference ...'
	@npm run --silent build -w gateway/docs

check: check-format check-lint check-imports check-words check-types check-proto check-documents ## Checks format, lint, imports, words, types, protos and published documents

bench: install build-bench ## Runs the benchmarks
	@node --enable-source-maps test/dist/bench/main.js

bench-compare: install build-bench ## Measures BASE=<ref> and this checkout in turns and prints ratios
	@node --enable-source-maps test/dist/bench/compare.js $(BASE)

# The CPU of one process under load, by package; WHAT=life counts the work of one event, one send
# and one life.
profile: install build-bench ## Profiles SERVICE=webhooks under load (BENCH=events) and prints the top by package
	@node --enable-source-maps test/dist/bench/profile.js $(or $(filter life,$(WHAT)),$(SERVICE) $(BENCH))

page-speed: install build-bench ## Measures the first load of the pages on a slow phone: paint, layout shift, script size (needs Chromium)
	@node --enable-source-maps test/dist/bench/pages.js

# BMG_FAULTS=long runs the fault tests with their full durations.
test-long: install build-tests ## Runs the long fault tests, the rolling upgrade and the image tests
	@BMG_FAULTS=long $(BIN)/jest test/e2e/faults test/e2e/broadcast-kills test/e2e/engines-away \
		test/e2e/gap-repair '\.long\.' --selectProjects mesh processes long --runInBand

test-faults: test-long

test-nightly: install build ## Runs the tests of every hostile body in every place, which need no engines but minutes of CPU
	@BMG_FAULTS=long $(BIN)/jest gateway/src/endpoints/parts/hostile-bodies \
		services/fanout/src/normalise/properties --selectProjects unit

# ONLY=common/ids,gateway/limits: these folders only. LIST=1 prints the changes that no test noticed.
test-mutation: install build ## Changes the rules of ten folders and fails if the unit tests notice fewer of the changes than before (ONLY= LIST=1 WRITE=1)
	@ONLY='$(ONLY)' LIST='$(LIST)' WRITE='$(WRITE)' node test/mutation/run.mjs

test-attacks: install build-tests ## Runs the attack suite beside a well-behaved partner, at full length
	@BMG_ATTACKS=long $(BIN)/jest test/e2e/attacks --selectProjects processes

cluster-up: install build-cluster ## Starts a Kubernetes cluster on this machine with the mesh's images (needs root, Docker, Go, debootstrap)
	@node --enable-source-maps test/dist/cluster/up.js

cluster-test: install build-cluster ## Installs, upgrades, drains and kills the mesh on that cluster (MINUTES=10 SEED= ONLY=)
	@node --enable-source-maps test/dist/cluster/main.js --minutes '$(or $(MINUTES),10)' --seed '$(SEED)' --only '$(ONLY)'

cluster-down: install build-cluster ## Removes the cluster
	@node --enable-source-maps test/dist/cluster/down.js

# BMG_CLIENTS=short: the rules that all clients keep, and their quick starts.
test-clients: install build-tests ## Runs the packed clients, their gateway killed for a minute, and the generators (needs Python, Go, a JDK with Maven)
	@$(BIN)/jest test/clients/clients $(if $(filter short,$(BMG_CLIENTS)),,test/clients test/contract/client-versions) --selectProjects long --runInBand

# BMG_DESTINATIONS=short: changed answers of scripted servers only, in seconds.
test-destinations: install build-tests ## Sends events to hostile servers, and to RabbitMQ, SQS and S3 servers that are killed (needs Debian, Python)
	@ANSWERS=$(or $(BMG_DESTINATIONS),long) $(BIN)/jest test/destinations/answers --selectProjects unit
	@[ '$(BMG_DESTINATIONS)' = short ] || $(BIN)/jest test/destinations --selectProjects long --runInBand

clients: install build ## Generates and packs the clients, which the gateway serves: gateway/clients/dist (LANGUAGES="python go java"; needs Python, Go, a JDK with Maven)
	@node gateway/clients/generate.mjs $(or $(LANGUAGES),python go java) --pack

# For SECONDS, an hour unless given; `--help` of main.js lists the faults. The same SEED repeats the faults and traffic.
test-chaos: install build-chaos ## Runs seeded random faults under traffic and checks every promise (SECONDS=3600 SEED= FAULTS=)
	@node --enable-source-maps test/dist/chaos/main.js --seconds '$(or $(SECONDS),3600)' --seed '$(SEED)' --faults '$(FAULTS)'

# The compiler needs the names of new events.
golden: install $(PROTO) ## Rewrites the golden files: review the diff before you commit it
	@GOLDEN=write $(BIN)/jest test/contract/events-page --selectProjects unit
	@$(MAKE) --no-print-directory build-tests
	@GOLDEN=write $(BIN)/jest test/e2e/every-endpoint test/e2e/upstream-failures --selectProjects mesh --runInBand
	@GOLDEN=write $(BIN)/jest golden contract --selectProjects unit chart
	@git status --short -- test/golden gateway/ENDPOINTS.md deploy/SETTINGS.md

sbom: install ## Writes the bill of materials of the images (CycloneDX): .run/sbom.cdx.json
	@mkdir -p .run && npm sbom --sbom-format cyclonedx --omit dev >.run/sbom.cdx.json
	@echo '.run/sbom.cdx.json'

changelog: ## Moves the changes of deploy/changes into CHANGELOG.md (VERSION=2.11.0)
	@node deploy/changes/assemble.mjs $(VERSION)

licences: install $(PROTO) ## Lists the licences of all packages and fails if one is not allowed
	@$(BIN)/tsc -b deploy/supply-chain
	@node --enable-source-maps deploy/supply-chain/dist/main.js

capacity: install $(PROTO) ## Prints the sizing for several rates, and the effects of a receiver's outage
	@$(BIN)/tsc -b deploy/capacity
	@node --enable-source-maps deploy/capacity/dist/main.js

# One image for each process, from its workspace.
IMAGES := $(shell PATH='$(PATH)' node -p 'Object.entries(require("./deploy/local/src/service-table.json")).map(([name, { workspace }]) => name + "=" + workspace).join(" ")' 2>/dev/null) \
	cli=deploy/cli emulator=test
REGISTRY ?=
TAG ?= $(shell PATH='$(PATH)' node -p 'require("./package.json").version')

# Docker's classic builder makes the same images where buildx is missing; provenance and SBOM need buildx.
images: ## Builds all images (REGISTRY=registry/path TAG=version PUSH=1); needs Docker; after make clients with the clients of all languages
	@docker info >/dev/null 2>&1 || { \
		echo 'make images needs a running Docker; make image-check tests the same Dockerfile without Docker'; exit 1; }
	@export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); \
	if docker buildx version >/dev/null 2>&1; then \
		build='docker buildx build $(if $(PUSH),--push --provenance=mode=max --sbom=true,--load)'; \
	else \
		export DOCKER_BUILDKIT=0; build='docker build'; \
		echo 'buildx is not installed: the images have neither provenance nor SBOM'; \
	fi; \
	for image in $(IMAGES); do \
		name=$${image%%=*}; target=service; [ $$name = emulator ] && target=emulator; \
		tag=$(if $(REGISTRY),$(REGISTRY)/)bmg-$$name:$(TAG); \
		$$build -f deploy/Dockerfile --target $$target --build-arg WORKSPACE=$${image#*=} \
			--build-arg VERSION=$(TAG) --build-arg REVISION=$$(git rev-parse HEAD) \
			$(if $(NODE_IMAGE),--build-arg NODE_IMAGE=$(NODE_IMAGE)) \
			$(if $(BUILD_NETWORK),--network $(BUILD_NETWORK)) --tag $$tag . || exit 1; \
		[ -z '$(PUSH)' ] || [ -z "$$DOCKER_BUILDKIT" ] || docker push $$tag || exit 1; \
	done

sign-images: ## Signs the pushed images by their digests (REGISTRY=registry/path TAG=version); needs Docker and cosign
	@for image in $(IMAGES); do \
		name=$(REGISTRY)/bmg-$${image%%=*}; \
		digest=$$(docker buildx imagetools inspect $$name:$(TAG) --format '{{.Manifest.Digest}}') && \
			cosign sign --yes $$name@$$digest || exit 1; \
	done

image-check: install build-tests ## Runs the Dockerfile's instructions in a plain folder, without Docker, and starts the results
	@BMG_IMAGE=full $(BIN)/jest test/helm/images --selectProjects long

helm-check: install ## Checks the chart and the compose files: lint, rules, schemas (needs Go and Python)
	@$(BIN)/jest --selectProjects chart

helm-diff: ## Prints what changed in the rendered chart since BASE=<ref> (after make helm-check)
	@node test/helm/diff.mjs $(BASE)

generate: install $(PROTO) ## Generates the code of the protos, if they have changed

# `npm install --no-save` follows the lockfile without changing it. `npm ci` would refuse a lockfile
# that lacks the optional binaries of platforms that a registry does not carry. The install is skipped
# when node_modules matches the lockfile: our copy of it is equal, or npm wrote there later.
install: ## Installs the npm packages if they have changed
	@if cmp -s package-lock.json node_modules/.installed-lock || \
		[ node_modules/.package-lock.json -nt package-lock.json ]; then :; \
	else \
		echo 'installing the npm packages ...'; \
		npm install --no-save --progress && cp package-lock.json node_modules/.installed-lock; \
	fi

# Leaves a folder without Git, and a checkout that has hooks already, unchanged.
install: hooks
hooks:
	@[ ! -e .git ] || git config core.hooksPath >/dev/null || git config core.hooksPath .githooks

local: install $(PROTO)
	@$(BIN)/tsc -b deploy/local

# Files unchanged since the last run are skipped; a fresh clone checks everything.
CACHE := node_modules/.cache

check-format: install
	@echo 'format ...'
	@$(BIN)/prettier --check --log-level warn --cache .

check-lint: install build
	@echo 'lint ...'
	@$(BIN)/eslint --cache --cache-strategy content --cache-location $(CACHE)/eslint .

check-imports: install build
	@echo 'imports ...'
	@$(BIN)/depcruise --config .dependency-cruiser.cjs --output-type err proto services gateway deploy test

check-words: install
	@echo 'words ...'
	@$(BIN)/cspell lint --no-progress --no-summary --cache --cache-location $(CACHE)/cspell .
	@node test/words/check.mjs && node test/words/comments.mjs

check-types: install build
	@echo 'types of the tests ...'
	@$(BIN)/tsc -p tsconfig.tests.json

check-proto: install
	@echo 'protos ...'
	@$(BIN)/buf lint proto

check-documents: install build
	@echo 'documents ...'
	@$(BIN)/jest --selectProjects documents
