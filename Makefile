# SPDX-License-Identifier: Apache-2.0
# Every entry point of the project. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

export SLED_CACHE ?= $(HOME)/.cache/sled
# Users of Debian have no sbin in PATH, where depmod and mke2fs are.
export PATH := $(SLED_CACHE)/bin:$(SLED_CACHE)/venv/bin:/usr/lib/ccache:$(PATH):/usr/sbin:/sbin
# What was compiled and linted in one checkout is found in the cache from another: -trimpath, and no folder in ccache's keys.
export CCACHE_DIR := $(SLED_CACHE)/ccache
export CCACHE_NOHASHDIR := 1
export GOFLAGS := -buildvcs=false -trimpath
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
JOBS := $(shell nproc)
NODES ?= 2
KEEP ?=
# Also what takes long: stories of the lab, interrupted runs.
LONG ?=
export LONG
VERSION := $(file <VERSION)

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo 'Arguments, such as KEEP=1: README.md, tests/README.md, bench/README.md'

## The two commands
# Of what build makes, the demo needs one of the two initrds.
demo: ## two machines from bare to running, in the lab
	tools/setup build demo
	tools/step Sled built $(MAKE) -j$(JOBS) programs initrd collection provider-here FLAVOURS=cloud
	tools/as-root tools/demo --nodes $(NODES) $(if $(KEEP),--keep)

demo-down: ## take down a lab that KEEP=1 left
	tools/as-root tools/demo --down

# Not unit-go, unit-c and unit-shell: test-go and test-c are the same with the race detector and with sanitizers, and
# test-initrd begins with the third.
test: ## all but the long tests; as root or with sudo
	tools/stages setup programs+check-program $(TESTS)

## The quick loop
check: setup build lint unit ## lint and unit tests, without root

# Side by side: most of them use one processor.
LINT := lint-ansible lint-go lint-c lint-python lint-terraform lint-generated lint-shell lint-prose lint-commits lint-sizes
lint: collection
	$(MAKE) -j$(JOBS) --output-sync=target $(LINT)

lint-go:
	golangci-lint run ./...

lint-c:
	find initrd -name "*.[ch]" ! -name "*.gen.h" -exec clang-format --dry-run --Werror {} +

lint-shell:
	shellcheck $(shell tools/shell-files)
	initrd/test/lint/border.py

# Pages in which every word and line counts. Generated pages are judged by what they are made from.
PROSE := README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md $(wildcard changelogs/fragments/*.md) contract/*.md docs/*.md bench/README.md terraform-provider/DESIGN.md \
	initrd/README.md lab/README.md examples/README.md tests/README.md roles/*/README.md
GUIDES := terraform-provider/templates/guides/*.md.tmpl
lint-prose:
	tools/lint_tables.py
	tools/changelog.py
	tools/fill.py --check $(PROSE) $(GUIDES)
	vale --output=line $(PROSE) $(GUIDES)
	tools/prose.py

lint-commits:
	tools/lint_commits.py

lint-sizes:
	tools/sizes.py

lint-ansible: collection
	yamllint --strict .
	ansible-lint --offline --profile production

lint-python:
	ruff check . && ruff format --check .
	mypy
	MYPYPATH=bench:contract/reader:initrd/test/net mypy --strict --python-version 3.11 bench/*.py bench/callback/*.py
	MYPYPATH=packaging mypy --strict --python-version 3.11 packaging/*.py
	MYPYPATH=packaging/init mypy --strict --python-version 3.11 packaging/init/*.py

lint-terraform:
	terraform-provider/tools/lint

lint-generated:
	tools/generated --check

unit: unit-go unit-c unit-shell unit-python test-hostile

unit-go:
	go vet ./...
	go test ./...

unit-c:
	$(MAKE) -j$(JOBS) -C initrd/src check

unit-shell:
	$(MAKE) -C initrd check

unit-python: collection
	pytest -q

## Building
setup: ## install all that building and testing need
	tools/setup

setup-%: FORCE
	tools/setup $(subst -, ,$*)

build: setup-build collection programs initrd ## sledd, sledctl, sledc, initrd

programs: build/bin/sledd build/bin/sledctl

build/bin/%: FORCE
	@mkdir -p $(@D)
	CGO_ENABLED=0 go build -trimpath -ldflags '-X main.version=$(VERSION)' -o $@ ./sledd/cmd/$*

initrd:
	$(MAKE) -j$(JOBS) -C initrd/src all
	$(MAKE) -C initrd all

initrd-arm64: setup-build-arm64 ## sledc and initrd for arm64
	$(MAKE) -j$(JOBS) -C initrd/src all ARCH=arm64
	$(MAKE) -C initrd all ARCH=arm64

# build/share is a mirror of its own: with it in XDG_DATA_DIRS, `terraform init` and `tofu init` find the provider there.
MIRROR := build/share/terraform/plugins
provider: ## the Terraform provider as zips, in build/share
	$(MAKE) provider-linux_amd64 provider-linux_arm64

# Asked in the recipe: $(shell) of GNU make before 4.4 has not the PATH above.
provider-here:
	platform=$$(go env GOHOSTOS GOHOSTARCH | paste -sd _) && $(MAKE) provider-$$platform

provider-%: FORCE
	go run ./terraform-provider/tools/package -version $(VERSION) -to $(MIRROR) $*

# Both CLIs look there without being told: ~/.terraform.d/plugins, or PREFIX=/usr/local for all users.
install-provider: provider-here ## the provider for `init` without a network
	terraform-provider/tools/install $(MIRROR) "$(if $(PREFIX),$(PREFIX)/share/terraform/plugins,$(HOME)/.terraform.d/plugins)"

collection: build/collections/ansible_collections/sled/fleet

build/collections/ansible_collections/sled/fleet:
	mkdir -p $(@D) && ln -sfn "$(CURDIR)" $@

# One page for each command of sledctl.
build/man: FORCE
	mkdir -p $@
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) go run ./sledd/tools/man $(VERSION) $@

archive: setup-build-demo build provider-here build/man ## all for a controller without a checkout
	rm -rf build/archive && mkdir build/archive
	ansible-galaxy collection build --output-path build/archive
	tar -C build -czf build/archive/sled-programs-$(VERSION).tar.gz bin/sledd bin/sledctl bin/sledc initrd share man

# SLED_RELEASE_KEY: the RSA key of gpg's that signs it.
SYSTEMS := linux darwin windows freebsd
release: setup-build-demo-release build build/ipxe/ipxe.deb ## packages, archives, sources, SPDX, in build/release
	go run ./terraform-provider/tools/package -version $(VERSION) -to $(MIRROR) $(SYSTEMS:%=%_amd64) $(SYSTEMS:%=%_arm64)
	packaging/release.py build/release $(SLED_RELEASE_KEY)

test-release: ## the packages of a release, in containers
	lintian --fail-on error build/release/*.deb
	tools/as-root pytest -q tests/release

build/ipxe/ipxe.deb:
	tools/fetch-deb $(@D)

generate: setup build ## rewrite the files that are made from others
	tools/generated

pictures: ## paint the dashboard for docs/screenshots
	tools/pictures

## Tests that need root, time or a lab
# Those joined by + run side by side, the next when one ends: first what fails soon; then the lab and all else that waits
# for machines and disks, the long ones first, because each fills the pauses of the others.
TESTS := lint+unit-python+initrd+test-go+test-c+test-hostile+test-readers \
	test-lab+test-initrd+test-images+test-boot-server+test-rollout+test-web+test-terraform+test-power+test-ipxe+test-dhcp+test-api

# The race detector makes it ten times as long. It has nothing to find in these, which start no goroutine: packages, and
# tests of sledctl that print much.
ALONE := ./contract/... ./terraform-provider/tools/...
PRINTED := LargeFleet|HostileTextIsPrintedCleaned|NoByteOfARecordCanBeChanged|NamedCommandsExist|OutputsFitAnyTerminal
test-go:
	go test -race -timeout 30m -skip '$(PRINTED)' $$(go list ./... | grep -vFxf <(go list $(ALONE)))
	go test $(ALONE)
	go test -run '$(PRINTED)' ./sledd/internal/ctl

test-terraform: ## the provider, with terraform and with tofu
	terraform-provider/tools/acceptance

test-hostile: programs collection ## attacks of a stranger on the boot network
	tests/hostile/run table.py docs/security.md
	tests/hostile/run killed.py

# Long: MINUTES for each number of ADDRESSES.
test-flood: programs collection ## a site under a flood of claims (20 minutes)
	tests/hostile/run flood.py $(if $(MINUTES),--minutes $(MINUTES)) $(if $(ADDRESSES),--addresses $(ADDRESSES))

test-c:
	$(MAKE) -j$(JOBS) -C initrd/src test

# What test-c and test-images share: made before they run side by side.
check-program:
	$(MAKE) -j$(JOBS) -C initrd/src check-program

# Every filesystem and table, from disk to image and back; loop devices need root. One at a time: no filesystem is mounted twice.
DISK_TESTS := initrd/test/matrix/test_matrix.py initrd/test/pack/test_pack.py initrd/test/pack/test_btrfs.py \
	initrd/test/pack/test_in_use.py initrd/test/pack/test_mapper.py initrd/test/pack/test_capture.py \
	initrd/test/pack/test_recovery.py initrd/test/pack/test_ntfs.py initrd/test/pack/test_odd.py initrd/test/pack/test_foreign.py \
	initrd/test/pack/test_asleep.py initrd/test/pack/test_ufs.py initrd/test/pack/test_age.py initrd/test/pack/test_growth.py initrd/test/border/test_border.py \
	initrd/test/border/test_mounts.py initrd/test/pack/test_ndz.py initrd/test/pack/test_not_a_disk.py
# Mounts and processes of a killed test go with the test, and so do its loop devices.
ENCLOSED := unshare --mount --pid --fork --kill-child --mount-proc
test-images: check-program
	tools/as-root $(ENCLOSED) env JOBS=1 initrd/test/c/run "$(CURDIR)/build/obj/sledc-test/plain" $(DISK_TESTS)

# The readers of images on changed images: sledc, both reference readers, zstd (tests/differential/run.py).
READERS := tests/differential/run.py "$(CURDIR)/build/obj/sledc-test/plain/sledc" build/bin/image-reader --keep build/differential
build/bin/image-reader: FORCE
	@mkdir -p $(@D)
	CGO_ENABLED=0 go build -o $@ ./contract/reader/go

test-readers: check-program build/bin/image-reader
	python3 $(READERS) --cases 400

fuzz-differential: check-program build/bin/image-reader ## readers of images on changed images (30 minutes)
	python3 $(READERS) --seconds $$(($(or $(MINUTES),30) * 60)) --seed $(or $(SEED),1)

# Beside the fuzzers, unit-go and test-c run all of it.
test-loaders: ## GRUB and systemd-boot in the trees of kexec's tests
	initrd/test/boot/grub.py
	initrd/test/boot/systemd_boot.py

test-selector: ## which disk a selector means, in C and Go
	go test -count=1 ./sledd/internal/disk
	$(MAKE) -C initrd/src selector FUZZ_SECONDS=$(or $(SECONDS_EACH),60)
	go test -run '^$$' -fuzz FuzzChoose -fuzztime $(or $(SECONDS_EACH),60)s ./sledd/internal/disk

# In test-c too. The second is of namespaces that a command reaches.
test-keep: check-program ## plans that would cost a disk which is kept
	$(MAKE) -C initrd/src keep

# Virtual machines. CUTS=20: power cuts in a wipe, at moments chosen by SEED.
test-erase: build/bin/sledd initrd ## disks wiped to each level, power cuts, images after
	initrd/test/boot/erase build
	initrd/test/boot/many build
	initrd/test/boot/wiped build

# Six virtual machines, each behind a BMC that forgets the boot device.
test-flags: collection build/bin/sledd build/bin/sled-double initrd ## network boots by BMCs that forget the device
	initrd/test/boot/flags build

# A virtual machine that nobody declared, and Chromium.
test-dashboard: build/bin/sledd initrd ## a machine imaged by the dashboard, by keys alone
	initrd/test/boot/dashboard build

# A virtual machine.
test-job-cuts: build/bin/sledd initrd ## power cuts of jobs, and a kernel that panics
	initrd/test/boot/job_cuts build

# A virtual machine, and systemd's own programs. IMAGES=5: how often it is imaged.
test-data-disks: build/bin/sledd initrd ## data disks of a machine that is imaged five times
	initrd/test/boot/data build

# A virtual machine. Root makes the image, a Debian that stays in $SLED_CACHE.
test-lvm: build/bin/sledd initrd ## a root on LVM beside a clone of its volume group
	tools/as-root initrd/test/boot/lvm build

test-multicast: check-program ## multicast to 1,000 nodes in virtual time
	$(MAKE) -C initrd/src simulate growth
	tools/as-root env SLEDC="$(CURDIR)/build/obj/sledc-test/plain/sledc" SLED_VECTORS="$(CURDIR)/contract/vectors" \
		sh -c 'python3 initrd/test/net/test_multicast_net.py && python3 initrd/test/net/test_mcast_test.py'

# Long: foreign disk files with damaged headers; test-images runs a few.
test-foreign: check-program ## damaged files of foreign disk formats (minutes)
	MUTANTS=$(or $(MUTANTS),1000) SEED=$(or $(SEED),1) JOBS=1 initrd/test/c/run "$(CURDIR)/build/obj/sledc-test/plain" initrd/test/pack/test_foreign.py

test-age: check-program ## filesystems after days of work, each file compared
	tools/as-root $(ENCLOSED) env SLEDC="$(CURDIR)/build/obj/sledc-test/plain/sledc" python3 initrd/test/pack/test_age.py \
		--seeds $(or $(SEEDS),200) --first $(or $(FIRST),0) $(KINDS)

test-api:
	sledd/test/schemathesis.sh

test-initrd:
	$(MAKE) -C initrd test

# Real playbooks and a real sledd; the machines are processes (build/bin/sled-double).
test-rollout: collection build/bin/sledd build/bin/sledctl build/bin/sled-double ## runs over 8 nodes that fail and are interrupted
	PYTHONPATH="$(CURDIR)/molecule/shared/bytecode" SLED_BYTECODE="$(CURDIR)/build/bytecode" pytest -q tests/rollout $(if $(LONG),,-m 'not long')

# What waits for a minute of silence, beside the rest.
test-web: collection build/bin/sledd build/bin/sledctl build/bin/sled-double ## the dashboard in Chromium, over 40 nodes
	$(MAKE) --no-print-directory -j2 --output-sync=target web-views web-resumed
web-views: SELECT := --ignore=tests/web/test_rollout.py tests/web
web-resumed: SELECT := tests/web/test_rollout.py
web-views web-resumed:
	PYTHONPATH="$(CURDIR)/molecule/shared/bytecode" SLED_BYTECODE="$(CURDIR)/build/bytecode" pytest -q $(SELECT)

# Long: test-rollout has four. 40 nodes for each 40 of them.
test-interruptions: collection build/bin/sledd build/bin/sledctl build/bin/sled-double ## 200 seeded interruptions of rollouts (30 minutes)
	INTERRUPTIONS=$(or $(INTERRUPTIONS),200) PYTHONPATH="$(CURDIR)/molecule/shared/bytecode" SLED_BYTECODE="$(CURDIR)/build/bytecode" \
		pytest -q -s tests/rollout/test_interruptions.py

# Long: test-rollout has 24 with times divided by 20. 5 % are silent, 2 % lie.
test-bmcs: collection build/bin/sledd build/bin/sledctl build/bin/sled-double ## a wave of 400 slow BMCs (10 minutes)
	BMCS=$(or $(BMCS),400) SCALE=$(or $(SCALE),1) PYTHONPATH="$(CURDIR)/molecule/shared/bytecode" SLED_BYTECODE="$(CURDIR)/build/bytecode" \
		pytest -q -s tests/rollout/test_bmcs.py

# Long: each ansible-core of tests/collection/cores.txt. unit-python runs the same tests with the ansible-core of tools/setup.
test-collection: collection build/bin/sledd build/bin/sledctl build/bin/sled-double ## ansible-core 2.16 to 2.19, and sanity (40 minutes)
	tests/collection/cores
	for core in 2.16 2.17 2.18 2.19; do tests/collection/sanity $$core; done

test-collection-lab: archive ## the collection from its archive images a machine
	tools/as-root tests/collection/lab $(CORE)

test-boot-server:
	tools/as-root molecule/run boot_server

test-upgrade: build provider-here build/bin/sled-double ## a boot server upgraded, and back by itself on failure
	tools/as-root molecule/run upgrade

test-ipxe: build/ipxe/ipxe.deb ## autoexec.ipxe on UEFI machines of two NICs
	tools/as-root unshare --net --pid --fork --kill-child --mount-proc ipxe/test/autoexec build/ipxe

test-dhcp: build/dhcp ## each kind of client with each kind of DHCP server
	tools/as-root unshare --net --pid --fork --kill-child --mount-proc tests/dhcp/run build/dhcp

build/dhcp:
	tests/dhcp/servers $@

test-power: ## every power driver against its simulator
	tools/as-root molecule/run power

test-lab: build provider-here ## the lab; STORY="NAME..." in one that stays
	tools/as-root molecule/run lab $(if $(STORY),story $(STORY))

lab-down: ## take down the lab that STORY left
	tools/as-root molecule/run lab destroy

test-arm64: build/bin/sledd build/bin/sledctl initrd initrd-arm64 ## a virtual arm64 server (5 minutes)
	initrd/test/boot/arm64 build

test-power-cuts: ## a power cut in each phase (20 minutes)
	tools/as-root molecule/run lab faults molecule/lab/tests/power_cuts.yml -e mol_cuts_options=--again

test-faults: build provider-here build/bin/sled-double ## power cuts, waves, failed kexec ... (30 minutes)
	tools/as-root molecule/run lab faults

test-matrix: ## twelve kinds of machine: firmware, disk, network
	tools/as-root molecule/machines/run

## Benchmarks (root; some minutes; bench/README.md)
bench-write: build ## an image onto a disk, beside dd, partclone, bmaptool
bench-pack: build ## a disk into an image, beside partclone and zstd
bench-write bench-pack: bench-%:
	tools/as-root bench/run $*

bench-wipe: check-program ## disks overwritten and read back, beside fio
	tools/as-root bench/run wipe

bench-terraform: ## plans and applies of 1 to 10,000 machines
	bench/run terraform

bench-rollout: collection ## CPU of a rollout over 8 to 2,000 nodes
	bench/run rollout

bench-scale: ## sledd with 10,000 nodes
	bench/run scale

bench-multicast: build check-program ## one image to 1 to 80 nodes; CASES="scaling,late"
	$(MAKE) -C initrd/src bench-program
	tools/as-root bench/run multicast

bench-run: build provider-here ## jobs on a machine of the lab, beside podman
	tools/as-root bench/run run

soak: ## LOADS=200 with kills, cuts and flips; continues
	$(MAKE) -j$(JOBS) -C initrd/src all
	bench/run soak

audit: ## search for known vulnerabilities of dependencies
	tools/audit

requirements: ## pin the Python packages with hashes, by uv
	cd tools && for part in demo go test; do \
		[ $$part = test ] && with='-c requirements-demo.txt' || with=''; \
		uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate $$with \
			requirements-$$part.in -o requirements-$$part.txt; \
	done

clean: ## remove build/
	rm -rf build 2>/dev/null || tools/as-root rm -rf build

FORCE:
.PHONY: help demo demo-down test test-loaders test-selector test-keep test-erase test-flags test-job-cuts test-data-disks test-dashboard test-lvm test-release test-upgrade check lint lint-go lint-c lint-shell lint-ansible lint-python lint-terraform lint-generated lint-prose lint-commits lint-sizes unit unit-go unit-c unit-shell \
	unit-python setup build provider provider-here install-provider archive release initrd initrd-arm64 collection generate programs check-program test-readers fuzz-differential test-age test-hostile test-flood test-go test-terraform test-c test-images test-foreign test-multicast test-api \
	test-initrd test-ipxe test-dhcp test-power test-collection test-collection-lab test-rollout test-web test-interruptions test-bmcs test-arm64 test-boot-server test-matrix test-lab lab-down test-faults test-power-cuts bench-write bench-pack bench-wipe bench-terraform \
	bench-multicast bench-rollout bench-run bench-scale soak pictures audit requirements clean FORCE
