# bloomtype: Bloom filters as PostgreSQL values
#
#	make, make install			build and install, for the server of PG_CONFIG
#	make installcheck			test what is installed, on the server of PGHOST
#	make dist					an archive of the last commit
#
# The products of set/ and scan/ have Makefiles of their own, which do the same for
# these alone.  This one calls them.  REGRESS, ISOLATION and PROVE_TESTS choose among
# the tests of all.
#
# A build outside of the source tree is make -f /path/to/Makefile, in a folder
# that is not the source tree.

# where the sources are
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
# PGXS finds it by itself only if the server was built so, too
ifneq ($(abspath $(here)),$(CURDIR))
here := $(abspath $(here))
VPATH = $(here)
endif

MODULE_big = bloomtype
OBJS = bloomtype.o $(patsubst $(here)/%.c,%.o,$(sort $(wildcard $(here)/src/*/*.c)))

EXTENSION = bloomtype
DATA = bloomtype--1.0.sql

# the tests below these folders, by their names
sql_in = $(sort $(notdir $(basename $(wildcard $(addsuffix /sql/*.sql,$(1))))))
specs_in = $(sort $(notdir $(basename $(wildcard $(addsuffix /isolation/specs/*.spec,$(1))))))
all_sql := $(call sql_in,$(here) $(here)/set $(here)/scan)
all_specs := $(call specs_in,$(here)/test $(here)/set $(here)/scan)
REGRESS = $(all_sql)
ISOLATION = $(all_specs)
$(foreach test,$(filter-out $(all_sql),$(REGRESS)),$(error There is no $(test).sql))
$(foreach test,$(filter-out $(all_specs),$(ISOLATION)),$(error There is no $(test).spec))
asked_sql := $(REGRESS)
asked_specs := $(ISOLATION)
override REGRESS := $(filter $(call sql_in,$(here)),$(asked_sql))
override ISOLATION := $(filter $(call specs_in,$(here)/test),$(asked_specs))
# so that each file runs alone; with --use-existing, create the extension first
REGRESS_OPTS = --load-extension=bloomtype
ISOLATION_OPTS = --inputdir=$(here)/test/isolation
PROVE_TESTS = $(sort $(wildcard $(here)/test/tap/*.pl $(here)/set/tap/*.pl $(here)/scan/tap/*.pl))
TAP_TESTS := $(if $(PROVE_TESTS),1)

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

# what we call or set by name is ours, also where another library that the server has
# loaded has a function of that name
ifneq ($(filter linux freebsd netbsd openbsd,$(PORTNAME)),)
SHLIB_LINK += -Wl,-Bsymbolic
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

# the other products: scan is built for the servers that it knows, no others
others = set $(if $(filter 15 16 17 18 19,$(MAJORVERSION)),scan)
call_other = +@mkdir -p $(1) && $(MAKE) -C $(1) -f $(abspath $(here))/$(1)/Makefile \
	VPATH=$(if $(VPATH),$(abspath $(here))/$(1))

all: $(others:%=all-%)
install: $(others:%=install-%)
uninstall: $(others:%=uninstall-%)
clean distclean maintainer-clean: $(others:%=clean-%)
# one after the other: they use the same databases
installcheck: $(others:%=installcheck-%)

$(others:%=all-%): all-%: bloomtype$(DLSUFFIX)
	$(call call_other,$*) all
$(others:%=install-%): install-%: all-%
	$(call call_other,$*) install
$(others:%=uninstall-%): uninstall-%:
	$(call call_other,$*) uninstall
$(others:%=clean-%): clean-%:
	$(call call_other,$*) clean
$(others:%=installcheck-%): installcheck-%:
	$(call call_other,$*) installcheck TAP_TESTS= \
		REGRESS='$(filter $(call sql_in,$(here)/$*),$(asked_sql))' \
		ISOLATION='$(filter $(call specs_in,$(here)/$*),$(asked_specs))'
ifeq ($(others),set scan)
installcheck-scan: | installcheck-set
endif
.PHONY: $(foreach target,all install uninstall clean installcheck,$(others:%=$(target)-%))

# the version of the release
version = $(shell sed -n '/"version"/{s/.*: *"\(.*\)".*/\1/p;q}' $(here)/META.json)

dist:
	git -C $(here) archive --format=zip --prefix=bloomtype-$(version)/ \
		-o $(CURDIR)/bloomtype-$(version).zip HEAD
.PHONY: dist
