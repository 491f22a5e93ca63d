# SPDX-License-Identifier: Apache-2.0
# ARCH is Debian's name of the architecture. Files for another one than amd64 have it in their names; to build them, a
# cross compiler and Debian's packages are required.
ARCH ?= amd64
$(if $(filter amd64 arm64,$(ARCH)),,$(error ARCH is '$(ARCH)': amd64 or arm64))
SUFFIX := $(patsubst %,-%,$(filter-out amd64,$(ARCH)))
export TRIPLET := $(patsubst amd64,x86_64,$(patsubst arm64,aarch64,$(ARCH)))-linux-gnu
ifneq ($(SUFFIX),)
export SYSROOT := $(shell $(dir $(lastword $(MAKEFILE_LIST)))tools/sysroot $(ARCH))
CC := $(TRIPLET)-gcc --sysroot=$(SYSROOT)
endif
