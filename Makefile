# SPDX-License-Identifier: Apache-2.0
# Every entry point of the project. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

export SLED_CACHE ?= $(HOME)/.cache/sled
# Users of Debian have no sbin in PATH, where depmod and mke2fs are.
export PATH := $(SLED_CACHE)/bin:$(SLED_CACHE)/venv/bin:$(PATH):/usr/sbin:/sbin
export GOFLAGS := -buildvcs=false
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
NODES ?= 2
KEEP ?=

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

## The two commands
demo: setup build ## the main job, in the lab: two machines from bare to running (NODES=2 KEEP=1)
	tools/as-root tools/demo --nodes $(NODES) $(if $(KEEP),--keep)

demo-down: ## take down a lab that KEEP=1 left
	tools/as-root tools/demo --down

test: setup check test-root ## everything, with the lab; as root or with sudo

## The quick loop
check: build lint unit ## lint and unit tests, without root

lint: lint-go lint-shell lint-ansible lint-python lint-generated

lint-go:
	test -z "$$(gofmt -l contract sledd ipxe)"
	golangci-lint run ./...

lint-shell:
	shellcheck $(shell tools/shell-files)

lint-ansible: collection
	yamllint --strict .
	ansible-lint --offline --profile production

lint-python:
	ruff check . && ruff format --check .
	mypy
	MYPYPATH=bench:contract/reader mypy --strict bench/*.py

lint-generated:
	tools/generated --check

unit: unit-go unit-c unit-shell unit-python

unit-go:
	go vet ./...
	go test ./...

unit-c:
	$(MAKE) -C initrd/src check

unit-shell:
	$(MAKE) -C initrd check

unit-python: collection
	pytest -q

## Building
setup: ## install what is missing: Debian packages, Python and Go tools
	tools/setup

build: collection build/bin/sledd build/bin/sledctl initrd ## sledd, sledctl, sledc, initrd

build/bin/%: FORCE
	@mkdir -p $(@D)
	CGO_ENABLED=0 go build -trimpath -o $@ ./sledd/cmd/$*

initrd:
	$(MAKE) -C initrd all

collection: build/collections/ansible_collections/sled/fleet

build/collections/ansible_collections/sled/fleet:
	mkdir -p $(@D) && ln -sfn $(CURDIR) $@

generate: build ## files made from code: openapi.json, role READMEs
	tools/generated

## Tests that need root, time or a lab
test-root: test-go test-c test-images test-api test-initrd test-boot-server test-lab

test-go:
	go test -race ./...

test-c:
	$(MAKE) -C initrd/src test

# Every filesystem and table, from disk to image and back; loop devices need root.
DISK_TESTS := initrd/test/pack/test_pack.py initrd/test/pack/test_capture.py initrd/test/matrix/test_matrix.py
test-images:
	$(MAKE) -C initrd/src check-program
	for test in $(DISK_TESTS); do tools/as-root env SLEDC=$(CURDIR)/build/obj/sledc-test/plain/sledc python3 $$test; done

test-api:
	sledd/test/schemathesis.sh

test-initrd:
	$(MAKE) -C initrd test

test-boot-server:
	tools/as-root molecule/run boot_server

test-lab:
	tools/as-root molecule/run lab

## Benchmarks (root; some minutes; bench/README.md)
bench-write: build ## an image onto a disk, beside dd, partclone and bmaptool (ROUNDS=5)
bench-pack: build ## a disk into an image, beside partclone and zstd
bench-write bench-pack: bench-%:
	tools/as-root bench/run $*

clean: ## remove build/
	rm -rf build 2>/dev/null || tools/as-root rm -rf build

FORCE:
.PHONY: help demo demo-down test check lint lint-go lint-shell lint-ansible lint-python lint-generated unit unit-go unit-c unit-shell \
	unit-python setup build initrd collection generate test-root test-go test-c test-images test-api test-initrd test-boot-server test-lab clean FORCE
