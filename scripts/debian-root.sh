# scripts/debian-root.sh
#
#     A minimal Debian in a folder, and commands run in it; sourced, never run.
#
# Commands run in namespaces of their own: whatever happens, no mount and no
# process stays behind.  Needs root, debootstrap, and to mount.  Packages come
# from where this machine's apt has its own.

# shellcheck shell=bash

inside=''               # the process that runs isolated

# make_debian_root RELEASE ROOT PACKAGE...: make the folder, with these packages.
# RELEASE+OTHER takes from OTHER what RELEASE does not have.
make_debian_root() {
    local release=${1%%+*} root=$2 script mirror
    script=/usr/share/debootstrap/scripts/$release
    # Scripts of all newer releases are the same as that of sid.
    [ -e "$script" ] || script=${script%/*}/sid
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        echo "This machine's apt has no Debian packages; has apt-get update run?"
        return 1
    fi
    isolated debootstrap --variant=minbase "$release" "$root" "$mirror" "$script" &&
        prepare_apt "$root" &&
        add_release "$root" "$mirror" "${1#"$release"}" &&
        enter "$root" apt-get update &&
        enter "$root" apt-get install -y --no-install-recommends \
            -o Dpkg::Options::=--force-confold "${@:3}" &&
        enter "$root" apt-get clean
}

# debian_mirror: the address that this machine has Debian's own packages from.
debian_mirror() {
    apt-get indextargets --format "\$(LABEL) \$(REPO_URI)" \
        'Created-By: Packages' | sed -n 's/^Debian //p' | head -n 1
}

# prepare_apt ROOT: the same proxy and checks as on this machine; no cluster, no services.
prepare_apt() {
    apt-config dump --no-empty |
        { grep -E '^Acquire::(Check-|https?::)' || true; } \
            >"$1/etc/apt/apt.conf.d/80bloomtype"
    mkdir -p "$1/etc/postgresql-common"
    echo 'create_main_cluster = false' \
        >"$1/etc/postgresql-common/createcluster.conf"
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
}

# add_release ROOT MIRROR +RELEASE: PostgreSQL from there too, and what only that one has.
add_release() {
    [ -n "$3" ] || return 0
    echo "deb $2 ${3#+} main" >"$1/etc/apt/sources.list.d/${3#+}.list"
    printf '%s\n' 'Package: libpq* src:postgresql*' "Pin: release a=${3#+}" \
        'Pin-Priority: 500' >"$1/etc/apt/preferences.d/${3#+}"
}

# enter ROOT COMMAND...: run it there, in a clean environment.
enter() {
    # shellcheck disable=SC2016 # the inner shell is to expand these
    isolated sh -c '
        mount -t proc proc "$1/proc" &&
        mount -t tmpfs tmpfs "$1/dev/shm" &&
        exec chroot "$@"' sh "$1" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${@:2}"
}

# isolated COMMAND...: run it in namespaces of its own; with it ends all that it started.
isolated() {
    local status=0
    unshare --mount --pid --ipc --fork --kill-child "$@" </dev/null 9>&- &
    inside=$!
    wait "$inside" || status=$?
    inside=''
    return "$status"
}

# need_mounts: leave with the reason, if we may mount nothing here.
need_mounts() {
    local reason
    [ "$(id -u)" -eq 0 ] || die "Only root can make and enter a Debian root."
    reason=$(isolated mount -t tmpfs tmpfs /mnt 2>&1) ||
        die "$reason" \
            "A Debian root needs mounts: root on a machine, or in a container that may" \
            "mount (docker run --privileged), and not in a plain chroot."
}

# at_exit: end what runs isolated, then clean up.
at_exit() {
    # Only this signal reaches the first process of a namespace in any case.
    [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true
    cleanup
}

trap at_exit EXIT
