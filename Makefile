# bloomtype: Bloom filters as PostgreSQL values
#
#	make, make install			build and install, for the server of PG_CONFIG
#	make installcheck			test what is installed, on the server of PGHOST
#	make dist					an archive of the last commit
#
# A build outside of the source tree is make -f /path/to/Makefile, in a folder
# that is not the source tree.

# where the sources are
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

MODULE_big = bloomtype
OBJS = \
	bloomtype.o \
	src/bloom_agg.o \
	src/bloom_chunks.o \
	src/bloom_fetch.o \
	src/bloom_first.o \
	src/bloom_format.o \
	src/bloom_hash.o \
	src/bloom_hash_container.o \
	src/bloom_hash_scalar.o \
	src/bloom_hasher.o \
	src/bloom_index.o \
	src/bloom_io.o \
	src/bloom_key_type.o \
	src/bloom_layout.o \
	src/bloom_query.o \
	src/bloom_selfuncs.o \
	src/bloom_setops.o \
	src/bloom_shard.o \
	src/bloom_sizing.o \
	src/bloom_sort.o \
	src/bloom_state.o \
	src/bloom_tell.o \
	src/bloom_toast.o \
	src/bloom_window.o \
	src/counting.o \
	src/counting_ops.o \
	src/counting_state.o \
	src/set.o \
	src/set_define.o \
	src/set_keys.o \
	src/set_rows.o

EXTENSION = bloomtype
DATA = bloomtype--1.0.sql

REGRESS = $(patsubst $(here)/sql/%.sql,%,$(sort $(wildcard $(here)/sql/*.sql)))
# so that each file runs alone; with --use-existing, create the extension first
REGRESS_OPTS = --load-extension=bloomtype
ISOLATION = $(patsubst $(here)/specs/%.spec,%,$(sort $(wildcard $(here)/specs/*.spec)))
TAP_TESTS = 1

PG_CONFIG = pg_config

# our files have no warnings with -Wall -Wextra; the server's headers do
PG_CFLAGS = -Wall -Wextra
PG_CPPFLAGS = \
	-isystem $(shell $(PG_CONFIG) --includedir-server) \
	-isystem $(shell $(PG_CONFIG) --pkgincludedir)/internal

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS does not know which files include which
$(OBJS): $(wildcard $(here)/src/*.h)

# outside of the source tree, the folder for objects is not there yet
$(OBJS) $(OBJS:.o=.bc): | objects
objects:
	@mkdir -p src
.PHONY: objects

# the version of the release
version = $(shell sed -n '/"version"/{s/.*: *"\(.*\)".*/\1/p;q}' $(here)/META.json)

dist:
	git -C $(here) archive --format=zip --prefix=bloomtype-$(version)/ \
		-o $(CURDIR)/bloomtype-$(version).zip HEAD
.PHONY: dist
