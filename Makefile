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
# PGXS finds it by itself only if the server was built so, too
ifneq ($(abspath $(here)),$(CURDIR))
VPATH = $(here)
endif

MODULE_big = bloomtype
# src/scan is a library of its own
OBJS = bloomtype.o $(patsubst $(here)/%.c,%.o,$(sort \
	$(filter-out $(here)/src/scan/%,$(wildcard $(here)/src/*/*.c))))

EXTENSION = bloomtype bloomtype_unique
DATA = bloomtype--1.0.sql bloomtype_unique--1.0.sql

REGRESS = $(patsubst $(here)/sql/%.sql,%,$(sort $(wildcard $(here)/sql/*.sql)))
# so that each file runs alone; with --use-existing, create the extension first
REGRESS_OPTS = --load-extension=bloomtype --load-extension=bloomtype_unique
ISOLATION = $(patsubst $(here)/test/isolation/specs/%.spec,%,$(sort $(wildcard $(here)/test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=$(here)/test/isolation
TAP_TESTS = 1
PROVE_TESTS = $(sort $(wildcard $(here)/test/tap/*.pl))

# sql/golden.sql reads a file; pg_regress says where itself from PostgreSQL 15 on
export PG_ABS_SRCDIR = $(abspath $(here))

PG_CONFIG = pg_config

# our files have no warnings with -Wall -Wextra; the server's headers do
PG_CFLAGS = -Wall -Wextra
PG_CPPFLAGS = \
	-I$(here)/src \
	-isystem $(shell $(PG_CONFIG) --includedir-server) \
	-isystem $(shell $(PG_CONFIG) --pkgincludedir)/internal \
	$(shell pkg-config --cflags libxxhash 2>/dev/null)

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# what we call by name is ours, also where another library that the server has
# loaded has a function of that name
ifneq ($(filter linux freebsd netbsd openbsd,$(PORTNAME)),)
SHLIB_LINK += -Wl,-Bsymbolic-functions
endif

# PGXS does not know which files include which
$(OBJS): $(wildcard $(here)/src/*.h $(here)/src/*/*.h)

# the header of xxHash is all that we need beside the server's
has_xxhash = $(shell printf '\043include <xxhash.h>\nint has[XXH_VERSION_NUMBER >= 800 ? 1 : -1];\n' | \
	$(CC) $(CPPFLAGS) -fsyntax-only -x c - 2>/dev/null && echo yes)
no_xxhash = xxhash.h, version 0.8 or newer, is missing. Install libxxhash-dev (Debian, Ubuntu), \
	xxhash-devel (Fedora; RHEL and its kin: from EPEL), or xxhash (Homebrew)

# outside of the source tree, the folders for objects are not there yet
$(OBJS) $(OBJS:.o=.bc): | ready
ready:
	$(if $(has_xxhash),,$(error $(no_xxhash)))
	@mkdir -p $(sort $(dir $(OBJS)))
.PHONY: ready

# joins that filter: src/scan is built for the servers that it knows, no others
ifneq ($(filter 15 16 17 18 19,$(MAJORVERSION)),)
scan = +@mkdir -p src/scan && $(MAKE) -C src/scan -f $(abspath $(here))/src/scan/Makefile \
	VPATH=$(if $(VPATH),$(abspath $(here))/src/scan)
else
scan = @echo 'bloomtype_scan is left out: it knows PostgreSQL 15 to 19 alone' \#
endif
all: all-scan
install: install-scan
uninstall: uninstall-scan
clean distclean maintainer-clean: clean-scan
all-scan install-scan uninstall-scan clean-scan:
	$(scan) $(@:-scan=)
.PHONY: all-scan install-scan uninstall-scan clean-scan

# the version of the release
version = $(shell sed -n '/"version"/{s/.*: *"\(.*\)".*/\1/p;q}' $(here)/META.json)

dist:
	git -C $(here) archive --format=zip --prefix=bloomtype-$(version)/ \
		-o $(CURDIR)/bloomtype-$(version).zip HEAD
.PHONY: dist
