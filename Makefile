# bloomtype: Bloom filters as PostgreSQL values

MODULE_big = bloomtype
OBJS = \
	bloomtype.o \
	src/bloom_agg.o \
	src/bloom_chunks.o \
	src/bloom_fetch.o \
	src/bloom_first.o \
	src/bloom_format.o \
	src/bloom_hash.o \
	src/bloom_io.o \
	src/bloom_layout.o \
	src/bloom_query.o \
	src/bloom_selfuncs.o \
	src/bloom_set.o \
	src/bloom_setops.o \
	src/bloom_sizing.o \
	src/bloom_state.o \
	src/bloom_tell.o \
	src/bloom_window.o

EXTENSION = bloomtype
DATA = bloomtype--1.0.sql

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
# so that each file runs alone; with --use-existing, create the extension first
REGRESS_OPTS = --load-extension=bloomtype
ISOLATION = $(patsubst specs/%.spec,%,$(sort $(wildcard specs/*.spec)))
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
$(OBJS): $(wildcard src/*.h)
