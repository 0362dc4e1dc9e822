# SPDX-License-Identifier: GPL-2.0-or-later
# culprit: which commit made this benchmark slower?
#
#   make            build/culprit and build/culprit-agent
#   make demo       a real bisection of a kernel history (installs what is missing)
#   make check      all tests but those that boot kernels;  make check-kernel  those
#   make check-long many bisections, counted from outside
#   make help       the other targets

VERSION   := 0.1
PREFIX    ?= /usr/local
DATADIR    = $(PREFIX)/share/culprit
LIBEXECDIR = $(PREFIX)/libexec/culprit
CC        ?= gcc
CFLAGS    ?= -O2 -g
PKGS      := libgit2 sqlite3 yaml-0.1 jansson libpcre2-8 libRmath nettle libelf libcurl
JOBS      := $(shell nproc)

# a sanitized or clang build lives beside the plain one
BUILD := build$(if $(SANITIZE),/san)$(if $(findstring clang,$(CC)),/clang)

WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter \
	-Wno-missing-field-initializers -Wpointer-arith -Wwrite-strings -Wundef
ifdef DEVELOPER
WARN += -Werror -Wshadow -Wformat=2 -Wredundant-decls -Wold-style-definition \
	-Wimplicit-fallthrough
endif
# asked for lazily: `make deps` must work before pkg-config is there
PKG_CFLAGS = $(eval PKG_CFLAGS := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PKGS))))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)
CPPFLAGS_ALL = -I. -I$(BUILD)/gen -D_GNU_SOURCE -DCULPRIT_VERSION='"$(VERSION)"' \
	-DCULPRIT_DATADIR='"$(DATADIR)"' -DCULPRIT_LIBEXECDIR='"$(LIBEXECDIR)"' $(PKG_CFLAGS) $(CPPFLAGS)
SAN := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS_ALL = -std=gnu11 -MMD -MP $(WARN) $(CFLAGS) $(SAN)
LDLIBS_ALL = $(PKG_LIBS) -lm

ROOMS     := harness/base harness/stats harness/job db harness/kernel runners runners/power runners/console \
	harness/measure harness/search harness/nightly reports harness/verbs
LIB_SRC   := $(wildcard $(ROOMS:=/*.c)) $(addprefix runners/agent/,proto.c facts.c)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
AGENT_SRC := $(wildcard runners/agent/*.c) $(addprefix harness/base/,util.c buf.c err.c clock.c)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/agent/%.o)
UNIT      := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ      := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH     := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/bench_*.c))
GEN       := $(patsubst db/%.sql,$(BUILD)/gen/%_sql.h,$(wildcard db/*.sql))
BINS      := $(BUILD)/culprit $(BUILD)/culprit-agent $(if $(SANITIZE),$(BUILD)/culprit-agent-san)

all: $(BINS)

$(BUILD)/culprit: $(BUILD)/obj/harness/main.o $(BUILD)/libculprit.a
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LDLIBS_ALL)

$(BUILD)/libculprit.a: $(LIB_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/obj/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<

# The agent is static: it runs in guests that have no libraries. AddressSanitizer cannot be static, so
# there it takes only the undefined-behaviour checks; its parsers run under both in the unit tests.
AGENT_SAN := $(if $(findstring undefined,$(SANITIZE)),-fsanitize=undefined -fno-sanitize-recover=all)
$(BUILD)/culprit-agent: $(AGENT_OBJ)
	$(CC) -static $(CFLAGS) $(AGENT_SAN) $(LDFLAGS) -o $@ $^ -lm

# the same, not static and with all of them, for the tests of the local runner
$(BUILD)/culprit-agent-san: $(AGENT_SRC) $(wildcard runners/agent/*.h harness/base/*.h)
	@mkdir -p $(@D)
	$(CC) -I. -D_GNU_SOURCE -std=gnu11 $(WARN) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $(filter %.c,$^) -lm

$(BUILD)/agent/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -I. -D_GNU_SOURCE -std=gnu11 -MMD -MP $(WARN) $(CFLAGS) $(AGENT_SAN) -c -o $@ $<

$(BUILD)/gen/%_sql.h: db/%.sql
	@mkdir -p $(@D)
	{ echo 'static const char $*_sql[] ='; sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $<; echo ';'; } > $@

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libculprit.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $< $(BUILD)/libculprit.a $(LDLIBS_ALL)

$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libculprit.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $< $(BUILD)/libculprit.a $(LDLIBS_ALL)

# libFuzzer: clang's own main, a minute a target
$(BUILD)/fuzz/%: tests/fuzz/%.c $(LIB_SRC) | $(GEN)
	@mkdir -p $(@D)
	clang -fsanitize=fuzzer,address,undefined $(CPPFLAGS_ALL) -std=gnu11 -g -O1 -o $@ $< $(LIB_SRC) $(LDLIBS_ALL)

# --- what a newcomer types; each installs what is missing first ---

deps:
	@tests/deps

# `make -j` is for the build only: the tests are started with two at a time
check:
	@tests/deps
	$(MAKE) -s -j$(JOBS) all unit
	BUILD=$(BUILD) tests/run $(UNIT) $(wildcard tests/t/*.t)

check-long:
	@tests/deps
	$(MAKE) -s -j$(JOBS) all
	BUILD=$(BUILD) tests/run --jobs 1 $(wildcard tests/long/*.t)

check-kernel:
	@tests/deps
	$(MAKE) -s -j$(JOBS) all unit
	BUILD=$(BUILD) tests/run --jobs 1 $(wildcard tests/kernel/*.t)

demo:
	@tests/deps
	$(MAKE) -s -j$(JOBS) all
	jobs/demo/run

demo-quick:
	@tests/deps
	$(MAKE) -s -j$(JOBS) all
	jobs/demo/run --quick

unit: $(UNIT)

lint:
	tests/lint/run

fuzz: $(FUZZ)
	set -e; for f in $(FUZZ); do $$f -max_total_time=$${FUZZ_SECONDS:-60} -print_final_stats=0; done

bench: all $(BENCH)
	set -e; for b in $(wildcard tests/bench/*.sh); do BUILD=$(BUILD) $$b; done

# takes minutes: TRIALS=200 for a quick look
bench-search: all
	BUILD=$(BUILD) tests/bench/search

# --- the manual: what people wrote below docs/man, with tables that the program prints ---

MAN := $(BUILD)/man

man: all
	docs/man/generate $(BUILD)/culprit $(MAN)

install: all man
	install -D -m 755 $(BUILD)/culprit $(DESTDIR)$(PREFIX)/bin/culprit
	install -D -m 755 $(BUILD)/culprit-agent $(DESTDIR)$(LIBEXECDIR)/culprit-agent
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(MAN)/*.1
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man5 $(MAN)/*.5
	install -D -m 644 docs/completion/culprit.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/culprit
	find jobs -type f -exec install -D -m 644 {} $(DESTDIR)$(DATADIR)/{} \;

clean:
	rm -rf build

help:
	@sed -n 's/^#   //p' Makefile; echo "man lint fuzz bench bench-search install (PREFIX, DESTDIR) clean deps"
	@echo "SANITIZE=address,undefined  DEVELOPER=1  CC=clang"

.PHONY: all man deps check check-long check-kernel demo demo-quick unit lint fuzz bench bench-search install clean help
.DELETE_ON_ERROR:
.SECONDARY:
-include $(LIB_OBJ:.o=.d) $(AGENT_OBJ:.o=.d) $(BUILD)/obj/harness/main.d $(UNIT:=.d)
