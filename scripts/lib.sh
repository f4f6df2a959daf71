# scripts/lib.sh
#
#     What scripts/demo and scripts/test have in common; sourced, never run.
#
# Everything happens in one temporary directory, the workshop:
#
#     $work/src       a copy of the checkout, built there
#     $work/pg        a private copy of the PostgreSQL installation; the
#                     extension is installed into it, not into the machine
#     $work/data      a throw-away cluster, reached by a socket in $work/sock
#     $work/log       the output of each step
#
# The workshop's owner is the caller, or, when the caller is root, an
# unprivileged user: the server refuses to run as root.  Leaving the script,
# in whatever way, stops every server below $work and removes it.
#
# The private copy works because PostgreSQL finds its libraries and its share
# directory relative to the place of the running program: below $work/pg the
# absolute paths of the installation are repeated, programs are copied, and
# everything else is a symbolic link to the original.

# shellcheck shell=bash disable=SC2034
set -euo pipefail
umask 022               # packages and the server's user rely on it

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pg_config=''            # of the PostgreSQL that we build for
work=''                 # the workshop
run_as=''               # the workshop's owner, if we are root
bindir=''               # programs of the private PostgreSQL
child=''                # process group of the step that is running
ticker=''               # process that prints how far the step is
invocation="$0${*:+ $*}" # the script and its options, as they were typed
installed=()            # packages that were missing
port=54329              # names the socket only; nothing listens on TCP
workshop_path=/usr/local/bin:/usr/bin:/bin
workshop_environment=() # more of NAME=value for what runs in it
apt_leftovers=()        # files that keep apt-get from creating clusters
remover=''              # process that takes them away if this one is killed

# What a build needs, by the names of Debian's packages.  SERVER and HEADERS
# stand for the two packages whose names contain PostgreSQL's version.
build_packages=(SERVER HEADERS libxxhash-dev gcc libc6-dev make gzip)

# What the tests of clients/ and of drivers need, by the same names.
client_packages=(nodejs npm chromium golang-go cargo default-jdk-headless
    python3-xxhash python3-venv python3-setuptools python3-wheel
    python3-psycopg2 python3-psycopg python3-asyncpg python3-sqlalchemy
    python3-django python3-scrapy golang-github-jackc-pgx-v4-dev
    golang-github-lib-pq-dev libpostgresql-jdbc-java libdbd-pg-perl)


#
# Messages
#

# say TEXT: one line of progress.
say() { printf '%s\n' "$*"; }

# release_version: what META.json says.
release_version() { sed -n '/"version"/{s/.*: *"\(.*\)".*/\1/p;q}' "$top/META.json"; }

# start_ticker TEXT LOG: from now on, print every 15 seconds how far it is.
start_ticker() {
    local began=$SECONDS
    (
        while :; do
            # sleeps without a process that would survive this one
            read -rt 15 <> <(:) || true
            say "      $1: $((SECONDS - began)) s  $(tail -qn 1 "$2" 2>/dev/null |
                tr -cd '[:print:]' | cut -c 1-60)"
        done
    ) 2>/dev/null &
    ticker=$!
}

# stop_ticker: no more of that.
stop_ticker() {
    [ -n "$ticker" ] || return 0
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    ticker=''
}

# die TEXT...: one line per argument on stderr, then leave.
die() {
    printf '%s\n' "$@" >&2
    exit 1
}


#
# Finding PostgreSQL
#

# is_complete PG_CONFIG: are both the server and its headers there?
is_complete() {
    local bin
    bin=$("$1" --bindir 2>/dev/null) || return 1
    [ -x "$bin/postgres" ] && [ -x "$bin/pg_config" ] &&
        [ -f "$("$1" --pgxs)" ] &&
        [ -f "$("$1" --includedir-server)/postgres.h" ]
}

# debian_majors PROGRAM: major versions that have /usr/lib/postgresql/N/bin/PROGRAM, newest first.
debian_majors() {
    local path
    for path in /usr/lib/postgresql/*/bin/"$1"; do
        [ -x "$path" ] && echo "$path"
    done | cut -d/ -f5 | sort -rn
}

# find_postgres: set pg_config to $PG_CONFIG, or else to the newest complete installation.
find_postgres() {
    local major candidate
    pg_config=''
    if [ -n "${PG_CONFIG:-}" ]; then
        is_complete "$PG_CONFIG" || die \
            "PG_CONFIG=$PG_CONFIG does not lead to a PostgreSQL with server programs and headers."
        pg_config=$PG_CONFIG
        return
    fi
    for major in $(debian_majors postgres); do
        candidate=/usr/lib/postgresql/$major/bin/pg_config
        if is_complete "$candidate"; then
            pg_config=$candidate
            return
        fi
    done
    candidate=$(command -v pg_config) && is_complete "$candidate" &&
        pg_config=$candidate
}

# choose_major: the version to install: that of the newest server here, or Debian's own.
choose_major() {
    local major
    major=$(debian_majors postgres | head -n 1)
    [ -n "$major" ] || major=$(apt-cache depends postgresql 2>/dev/null |
        sed -n 's/.*Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1)
    echo "${major:-15}"
}

# find_clang: print the clang to use, the plain name before a versioned one.
find_clang() {
    command -v clang && return
    compgen -c clang- | grep -x 'clang-[0-9][0-9]*' | sort -t- -k2 -rn |
        head -n 1 | grep .
}


#
# Installing what is missing
#

# can_fuzz: does clang have libFuzzer and the sanitizers?
can_fuzz() {
    local clang
    clang=$(find_clang) &&
        echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        "$clang" -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null
}

# can_cross_compile COMPILER: is it there, with the C library of that machine?
can_cross_compile() {
    printf '#include <stdio.h>\nint main(void) { return 0; }\n' |
        "$1" -x c -o /dev/null - 2>/dev/null
}

# has_header NAME: does the C compiler find the header?
has_header() { printf '#include <%s>\n' "$1" | gcc -E - >/dev/null 2>&1; }

# runs_in_workshop PROGRAM: is it where the tests look for programs?
runs_in_workshop() { PATH=$workshop_path command -v "$1" >/dev/null; }

# lacks PACKAGE: is what the package brings missing?  Looks for the thing itself, however it got here.
lacks() {
    case $1 in
        SERVER) [ -z "$pg_config" ] && [ -z "$(debian_majors postgres)" ] ;;
        HEADERS) [ -z "$pg_config" ] ;;
        dpkg-dev) ! command -v dpkg-source >/dev/null ;;
        libicu-dev) ! has_header unicode/ucol.h ;;
        libc6-dev) ! has_header stdio.h ;;
        libxxhash-dev) ! has_header xxhash.h ;;
        libipc-run-perl) ! perl -MIPC::Run -e 1 2>/dev/null ;;
        python3-venv) ! /usr/bin/python3 -c 'import ensurepip' 2>/dev/null ;;
        python3-*) ! /usr/bin/python3 -c "import ${1#python3-}" 2>/dev/null ;;
        nodejs) ! runs_in_workshop node ;;
        golang-go) ! runs_in_workshop go ;;
        default-jdk-headless) ! runs_in_workshop javac ;;
        cargo | chromium) ! runs_in_workshop "$1" ;;
        libclang-rt-dev) ! can_fuzz ;;
        qemu-user) ! command -v qemu-s390x >/dev/null ;;
        gcc-*-linux-gnu) ! can_cross_compile "${1#gcc-}-gcc" ;;
        clang) [ -z "$(find_clang)" ] ;;
        binutils) ! command -v nm >/dev/null ;;
        debhelper) ! command -v dh >/dev/null ;;
        libdbd-pg-perl) ! /usr/bin/perl -MDBD::Pg -e 1 2>/dev/null ;;
        postgresql-all | build-essential | libpostgresql-jdbc-java | golang-*-dev)
            ! dpkg -s "$1" >/dev/null 2>&1 ;;
        perl) ! command -v prove >/dev/null ;;
        *) ! command -v "$1" >/dev/null ;;
    esac
}

# missing_of PACKAGE...: print those whose content is missing.
missing_of() {
    local package
    for package in "$@"; do
        if lacks "$package"; then echo "$package"; fi
    done
}

# debian_names PACKAGE...: the same list with the version filled in.
debian_names() {
    local major
    major=$(choose_major)
    printf '%s\n' "$@" |
        sed "s/^SERVER\$/postgresql-$major/; s/^HEADERS\$/postgresql-server-dev-$major/
            s/^gcc-i686-linux-gnu\$/&\nlibc6-dev-i386-cross/
            s/^gcc-s390x-linux-gnu\$/&\nlibc6-dev-s390x-cross/"
}

# ensure_packages PACKAGE...: set pg_config; have everything, with apt-get if we are root.
ensure_packages() {
    local missing names
    find_postgres || true
    mapfile -t missing < <(missing_of "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        die "Missing, and no apt-get here to install it: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        mapfile -t names < <(debian_names "${missing[@]}")
        die "Something is missing on this machine.  As root, this script installs it:" \
            "    sudo ${PG_CONFIG:+PG_CONFIG=$PG_CONFIG }$invocation" \
            "Or install it yourself, and start the script again:" \
            "    sudo apt-get update && sudo apt-get install ${names[*]}"
    fi
    apt_install "${missing[@]}"
    find_postgres || true
    mapfile -t missing < <(missing_of "$@")
    [ "${#missing[@]}" -eq 0 ] ||
        die "Still missing after the installation: ${missing[*]}"
}

# apt_install PACKAGE...: install, upgrading nothing, creating and starting no cluster.
apt_install() {
    local names log
    log=$(mktemp)
    apt_leftovers+=("$log")
    hold_back_clusters
    say "Updating the lists of packages"
    start_ticker "packages" "$log"
    # A stale foreign source must not stop us: the installation will tell.
    apt-get update -q >"$log" 2>&1 || true
    mapfile -t names < <(debian_names "$@")
    say "Installing ${names[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends --no-upgrade -o DPkg::Lock::Timeout=300 \
        "${names[@]}" >>"$log" 2>&1 </dev/null || {
        stop_ticker
        tail -n 40 "$log" >&2
        die "apt-get install failed."
    }
    stop_ticker
    installed+=("${names[@]}")
    release_clusters
}

# hold_back_clusters: keep Debian's packages from creating a main cluster or starting existing ones.
hold_back_clusters() {
    local conf_dir=/etc/postgresql-common/createcluster.d dir path reversed=()
    for dir in "${conf_dir%/*}" "$conf_dir"; do
        [ -d "$dir" ] || { mkdir "$dir"; apt_leftovers+=("$dir"); }
    done
    apt_leftovers+=("$conf_dir/zz-bloomtype.conf")
    echo 'create_main_cluster = false' >"$conf_dir/zz-bloomtype.conf"
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        apt_leftovers+=(/usr/sbin/policy-rc.d)
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod 755 /usr/sbin/policy-rc.d
    fi
    # a folder after what is in it
    for path in "${apt_leftovers[@]}"; do reversed=("$path" "${reversed[@]}"); done
    # in a session of its own: kill -9 ends this process, not that one
    setsid sh -c 'tail --pid="$1" -f /dev/null
        shift
        for path; do rmdir "$path" || rm -f "$path"; done' \
        sh "$$" "${reversed[@]}" </dev/null >/dev/null 2>&1 8>&- &
    remover=$!
}

# release_clusters: take away what hold_back_clusters made; directories only if empty.
release_clusters() {
    local i path
    if [ -n "$remover" ]; then
        # it leads its session
        kill -- "-$remover" 2>/dev/null || true
        wait "$remover" 2>/dev/null || true
        remover=''
    fi
    for ((i = ${#apt_leftovers[@]} - 1; i >= 0; i--)); do
        path=${apt_leftovers[i]}
        if [ -d "$path" ]; then
            rmdir --ignore-fail-on-non-empty "$path"
        else
            rm -f "$path"
        fi
    done
    apt_leftovers=()
}


#
# The workshop
#

# open_workshop: make $work with copies of the checkout and of PostgreSQL in it.
open_workshop() {
    if [ "$(id -u)" -eq 0 ]; then
        run_as=postgres
        id -u "$run_as" >/dev/null 2>&1 || run_as=nobody
    fi
    work=$(mktemp -d "${TMPDIR:-/tmp}/bloomtype.XXXXXX")
    [ "${#work}" -le 60 ] ||
        die "TMPDIR is too long: no room for a socket's name below $work"
    mkdir "$work"/{src,pg,sock,log,tmp}
    copy_checkout
    copy_postgres
    if [ -n "$run_as" ]; then
        chown -R --no-dereference "$run_as:" "$work"
    fi
}

# copy_checkout: copy what git knows or would add; without git, everything.
copy_checkout() {
    (
        cd "$top"
        if git -c safe.directory='*' rev-parse >/dev/null 2>&1; then
            git -c safe.directory='*' ls-files -z --cached --others \
                --exclude-standard | while IFS= read -r -d '' file; do
                    if [ -e "$file" ]; then printf '%s\0' "$file"; fi
                done | tar --null --no-recursion -cf - -T -
        else
            tar --exclude-vcs -cf - .
        fi
    ) | tar -C "$work/src" --no-same-owner -xf -
    copy_tags
}

# copy_tags: the tags of releases, with what they have, for test/tap/release.pl.
copy_tags() {
    local git=(git -c safe.directory='*')
    if [ -n "$("${git[@]}" -C "$top" tag -l 'v*' 2>/dev/null)" ]; then
        "${git[@]}" -C "$work/src" init -q
        "${git[@]}" -C "$work/src" fetch -q --depth 1 \
            --upload-pack "git -c safe.directory='*' upload-pack" \
            "$top" 'refs/tags/v*:refs/tags/v*'
    fi
}

# copy_postgres: repeat the installation below $work/pg; see the top of this file.
copy_postgres() {
    local dir
    dir=$("$pg_config" --bindir)
    bindir=$work/pg$dir
    mkdir -p "$bindir"
    find -L "$dir" -maxdepth 1 -type f -exec cp -t "$bindir" {} +
    # Tells the private paths always, however the installed one finds its own.
    rm "$bindir/pg_config"
    cat >"$bindir/pg_config" <<END
#!/bin/sh
'$dir/pg_config' "\$@" | sed 's#^/#$work/pg/#; s#^\([-A-Z]* = \)/#\1$work/pg/#'
END
    chmod 755 "$bindir/pg_config"
    for dir in pkglibdir sharedir; do
        dir=$("$pg_config" --$dir)
        mkdir -p "$work/pg$dir"
        cp -rs "$dir/." "$work/pg$dir"
        # A bloomtype installed on this machine must not be found by our tests.
        find "$work/pg$dir" -mindepth 1 -name 'bloomtype*' -prune \
            -exec rm -rf {} +
    done
    for dir in includedir includedir-server libdir; do
        dir=$("$pg_config" --$dir)
        if [ ! -e "$work/pg$dir" ]; then
            mkdir -p "$work/pg${dir%/*}"
            ln -s "$dir" "$work/pg$dir"
        elif [ ! "$work/pg$dir" -ef "$dir" ] &&
            [ "$dir" != "$("$pg_config" --pkglibdir)" ]; then
            # a real directory already, for the sake of pkglibdir in it
            find "$dir" -maxdepth 1 ! -type d -exec ln -s -t "$work/pg$dir" {} +
        fi
    done
}

# run COMMAND...: run it in $work/src as the workshop's owner, in a clean environment.
run() {
    local status=0
    (exec_in_workshop "$@") &
    child=$!
    wait "$child" || status=$?
    child=''
    return "$status"
}

# exec_in_workshop COMMAND...: become the command, in a session of its own, so that cleanup can end all of it.
exec_in_workshop() {
    local become=()
    [ -z "$run_as" ] || become=(setpriv --reuid "$run_as"
        --regid "$(id -g "$run_as")" --init-groups)
    cd "$work/src"
    exec setsid "${become[@]}" env -i \
        PATH="$bindir:$workshop_path" \
        HOME="$work" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TZ=UTC \
        PG_CONFIG="$bindir/pg_config" PGHOST="$work/sock" PGPORT="$port" \
        PGUSER=postgres PGDATABASE=postgres \
        "${workshop_environment[@]}" "$@" </dev/null 8>&-
}

# run_logged NAME COMMAND...: the same, output to $work/log/NAME.
run_logged() {
    local log=$work/log/$1
    shift
    run "$@" >"$log" 2>&1
}

# must NAME COMMAND...: the same; if it fails, show the end of the output and leave.
must() {
    start_ticker "$1" "$work/log/$1"
    run_logged "$@" || {
        stop_ticker
        tail -n 60 "$work/log/$1" >&2
        die "Failed: $1"
    }
    stop_ticker
}

# build_and_install OPTION...: build as a user would, and install into the private PostgreSQL.
build_and_install() {
    must build make -s -j "$(nproc)" "PG_CONFIG=$bindir/pg_config" "$@"
    must install make -s "PG_CONFIG=$bindir/pg_config" "$@" install
}

# start_cluster: a throw-away cluster that only a socket in $work leads to.
start_cluster() {
    must initdb initdb -D "$work/data" -U postgres -A trust -N -E UTF8
    must start pg_ctl -s -w -D "$work/data" -l "$work/log/server" \
        -o "-F -p $port -k $work/sock -c listen_addresses=''" start
}


#
# Cleaning up
#

# cleanup: end the running step, stop every server below $work, remove what we made.
cleanup() {
    local pidfile
    trap '' INT TERM HUP
    stop_ticker
    if [ -n "$child" ]; then
        kill -TERM -- "-$child" 2>/dev/null || true
        child=''
    fi
    if [ -n "$work" ]; then
        find "$work" -name postmaster.pid 2>/dev/null |
            while read -r pidfile; do
                run pg_ctl -s -w -m immediate -D "${pidfile%/*}" stop \
                    >/dev/null 2>&1 || true
            done
        cd /
        rm -rf "$work" || { sleep 1; rm -rf "$work"; }
    fi
    release_clusters
}

trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
