#!/bin/sh
# pythonsystems.sh BNCTL [SYSTEM...]: the Python wheel in systems of its users, debian12, debian13 and arm64, each in a
# virtual environment of its own and without network: installs it from a folder of wheels, runs the sessions of
# docs/python.md, and uninstalls it; no file may be left. arm64 is Debian 12 under qemu-user: the wheel is installed, and
# predicts with the bits of BNCTL. Needs root, Debian's mirror, and kernel 6.7 for arm64, whose programs only this script's
# user namespace can start. Prints a line for each system; the first failure ends it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here") bnctl=$(realpath "$1") go=${GO:-go}
shift
[ $# -gt 0 ] || set -- debian12 debian13 arm64
cache=${PEERS_DIR:-$HOME/.cache/bnctl-peers}
work=${WORK:-$(mktemp -d)}
[ -n "${INSIDE:-}" ] || trap 'rm -rf "$work"' EXIT
SESSIONS=${SESSIONS:-} PREPARE=${PREPARE:-} WITHOUT_PIP=${WITHOUT_PIP:-} LIBRARIES=${LIBRARIES:-}
mkdir -p "$cache"
fail() { echo "FAILED   $*"; exit 1; }
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1; }

# wheel ARCH MACHINE PROGRAM...: a wheel into $work/wheels.
wheel() {
	arch=$1 machine=$2
	shift 2
	mkdir -p "$work/$arch"
	for program; do
		GOARCH=$arch CGO_ENABLED=0 $go build -trimpath -ldflags=-s -o "$work/$arch/" "$root/$program"
	done
	(cd "$root" && GO=$go bash scripts/release/licences.sh "linux-$arch") >"$work/licences"
	version=$("$bnctl" --version)
	/usr/bin/python3 "$root/python/wheel.py" --version "${version#bnctl }" --platform "manylinux_2_17_$machine" \
		--licences "$work/licences" --output "$work/wheels" "$work/$arch"/* >/dev/null
}
programs="./cmd/bnctl ./plugins/cuda/bnctl-device-cuda ./plugins/opencl/bnctl-device-opencl ./plugins/mpi/bnctl-fabric-mpi"
cd "$root"
# The head of a program of arm64, and the bits of it that matter.
elf='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

# user DIR: what runs in the system: /wheels, /checkout and /model are there. Prints versions and figures.
[ -n "${INSIDE:-}" ] || cat >"$work/user.sh" <<'END'
set -e
cd "$(mktemp -d)"
python3 -m venv --system-site-packages ${WITHOUT_PIP:+--without-pip} venv
pip() { if [ -n "$WITHOUT_PIP" ]; then venv/bin/python -m pip "$@"; else venv/bin/pip "$@"; fi; }
files() { python3 -c 'import pathlib
print(*sorted(str(p) for p in pathlib.Path("venv").rglob("*") if "__pycache__" not in p.parts), sep="\n")'; }
eval "$PREPARE"
files >before
PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK PYTHONDONTWRITEBYTECODE
pip install -q --no-index --find-links /wheels bnctl
pip check >check || ! grep bnctl check # packages of Debian may lack others
venv/bin/bnctl --version >version
eval "$SESSIONS"
pip uninstall -q -y bnctl
files >after
[ "$(cat before)" = "$(cat after)" ] || { echo "files are left:"; cat after; exit 1; }
[ ! -e venv/bin/bnctl ]
venv/bin/python -c 'import sys, numpy; print("Python %d.%d.%d, numpy %s" % (*sys.version_info[:3], numpy.__version__))'
END
prepare='venv/bin/python -m ipykernel install --sys-prefix >kernel 2>&1 || { cat kernel; exit 1; }' # notebooks run in the environment
sessions='BNCTL_INSTALLED=1 venv/bin/python -m pytest -q -p no:cacheprovider /checkout/python/tests/test_docs.py >tests 2>&1 ||
	{ cat tests; exit 1; }; grep -q "^6 passed\|[^0-9]6 passed" tests && ! grep -q skipped tests || { cat tests; exit 1; }'


# inside LOWER...: runs user.sh in a system that is put together of folders, the last one lowest, which stay as they are.
# It is called in namespaces of its own: the mounts end with it, and there is no network but the loopback.
inside() {
	layer=$work/layer-$$
	mkdir -p "$layer" && mount -t tmpfs tmpfs "$layer" && mkdir "$layer/upper" "$layer/work" "$layer/root"
	mount -t overlay overlay -o "lowerdir=$1,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
	at=$layer/root
	mkdir -p "$at/wheels" "$at/checkout" "$at/model" "$at/proc" "$at/dev" "$at/tmp"
	mount --bind "$work/wheels" "$at/wheels" && mount --bind "$root" "$at/checkout" && mount --bind "$work/model" "$at/model"
	mount --rbind /proc "$at/proc" && mount --rbind /dev "$at/dev"
	/usr/bin/python3 -c 'import fcntl, socket, struct  # the loopback, for the kernel of the notebook
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, struct.pack("16sH14x", b"lo", 1))'
	mount -t tmpfs tmpfs "$at/tmp" # an overlay of a user namespace renames no folders
	chroot "$at" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp LANG=C.UTF-8 OMP_NUM_THREADS=1 "SESSIONS=$SESSIONS" "PREPARE=$PREPARE" \
		"WITHOUT_PIP=$WITHOUT_PIP" ${LIBRARIES:+"LD_LIBRARY_PATH=$LIBRARIES"} sh /model/user.sh
}

if [ -n "${INSIDE:-}" ]; then
	if [ -n "${QEMU:-}" ]; then # programs of arm64 start in this namespace
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
		printf '%s' ":arm64:M::$elf:$mask:$QEMU:F" >/proc/sys/fs/binfmt_misc/register
	fi
	inside "$INSIDE"
	exit
fi

# The wheels, a template, and what arm64 has to predict.
wheel amd64 x86_64 $programs
mkdir "$work/model" && mv "$work/user.sh" "$work/model/"
"$bnctl" train --quiet --model mlp-bn --data glyphs:100 --epochs 1 -o "$work/model/digits.bnm" >/dev/null
/usr/bin/python3 -c 'import numpy, sys
numpy.save(sys.argv[1], numpy.random.default_rng(1).integers(0, 256, (5, 28, 28, 1)).astype(numpy.uint8))' "$work/model/x.npy"
"$bnctl" predict "$work/model/digits.bnm" "$work/model/x.npy" --quiet -o "$work/model/want.npy"

# ran SYSTEM LOWER [NAMESPACE-FLAG...]: the line of a system.
ran() {
	system=$1 lower=$2
	shift 2
	export SESSIONS PREPARE WITHOUT_PIP LIBRARIES
	line=$(INSIDE=$lower WORK=$work unshare --mount --net "$@" sh "$here/pythonsystems.sh" "$bnctl") || fail "$system: $line"
	echo "OK       $system: $line"
}

debian12() {
	[ "$(cut -d. -f1 /etc/debian_version)" = 12 ] || fail "debian12: this is Debian $(cat /etc/debian_version)"
	SESSIONS=$sessions PREPARE=$prepare
	ran debian12 /
}

debian13() {
	below=$(sh "$here/debian13.sh") above=$cache/python-trixie
	if [ ! -e "$above/usr/bin/pytest" ] && [ ! -e "$above/usr/bin/pytest-3" ]; then
		rm -rf "$above" && mkdir -p "$above" "$above.work" "$above.root"
		unshare --mount sh -ec 'mount -t overlay overlay -o "lowerdir=$0,upperdir=$1,workdir=$1.work" "$1.root"
			mount --bind /proc "$1.root/proc" && mount --bind /dev "$1.root/dev"
			cp /etc/apt/apt.conf.d/* "$1.root/etc/apt/apt.conf.d/" && cp /etc/resolv.conf "$1.root/etc/"
			chroot "$1.root" sh -c "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
				--no-install-recommends python3-venv python3-pytest python3-nbclient python3-ipykernel python3-pil"' \
			"$below" "$above" >&2
	fi
	SESSIONS=$sessions PREPARE=$prepare
	ran debian13 "$above:$below"
}

arm64() {
	wheel arm64 aarch64 $programs
	if [ ! -e "$cache/qemu-aarch64-static" ]; then
		(cd "$work" && apt-get update -q && apt-get download -q qemu-user-static && dpkg-deb -x qemu-user-static*.deb qemu) >&2
		cp "$work/qemu/usr/bin/qemu-aarch64-static" "$cache/"
	fi
	if [ ! -e "$cache/python-arm64/usr/bin/python3" ]; then
		rm -rf "$cache/python-arm64"
		# Its packages are unpacked and not configured: that would start programs of arm64 outside of the namespace.
		mmdebstrap --quiet --variant=extract --arch=arm64 --components=main \
			--include=python3,python3-numpy,python3-venv,python3-pip,dash,coreutils,diffutils,findutils,libblas3,liblapack3 \
			bookworm "$cache/python-arm64" "$(mirror)" >&2
	fi
	cat >"$work/model/predict.py" <<'END'
import bnctl, numpy, platform
assert platform.machine() == "aarch64"
with bnctl.Model("/model/digits.bnm") as model:
    numpy.save("/model/got.npy", model.predict(numpy.load("/model/x.npy")).probabilities)
END
	SESSIONS='venv/bin/python /model/predict.py' PREPARE='' WITHOUT_PIP=1
	LIBRARIES=/usr/lib/aarch64-linux-gnu/blas:/usr/lib/aarch64-linux-gnu/lapack
	QEMU=$cache/qemu-aarch64-static
	export QEMU
	ran arm64 "$cache/python-arm64" --user --map-root-user
	/usr/bin/python3 -c 'import numpy, sys
got, want = map(numpy.load, sys.argv[1:])
sys.exit((got.shape, got.tobytes()) != (want.shape, want.tobytes()))' "$work/model/got.npy" "$work/model/want.npy" ||
		fail "arm64: other bits than here"
	WITHOUT_PIP='' LIBRARIES='' QEMU=''
}
for system; do "$system"; done
