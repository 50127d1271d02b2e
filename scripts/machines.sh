#!/bin/sh
# machines.sh: the tests of what computes, as another machine runs them: arm64, and
# an x86-64 processor that has SSE2 and no more. Both are cross-compiled and run by
# qemu-user (Debian: qemu-user); without it they are only compiled, and that is said.
# A few minutes; what no other machine can change is left out: the precision of algorithms, whose
# bits are tested, and how rows are divided in package ref.
set -e
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# try EMULATOR ARCHITECTURE PACKAGE [FLAG...]: the short tests of a package.
try() {
	emulator=$1 arch=$2 package=$3
	shift 3
	test=$dir/$arch.$(echo "$package" | tr / -)
	GOARCH=$arch CGO_ENABLED=0 $go test -c -o "$test" "./$package"
	if ! command -v "${emulator%% *}" >/dev/null; then
		echo "$arch: $package: compiled; not run, for ${emulator%% *} is missing"
		return
	fi
	(cd "$package" && $emulator "$test" -test.short -test.timeout 20m "$@" >"$test.log" 2>&1) || {
		cat "$test.log"
		echo "$arch: $package: FAILED"
		exit 1
	}
	echo "$arch: $package: ok"
}

for package in tensor device/collective bn; do
	try qemu-aarch64 arm64 $package
done
try qemu-aarch64 arm64 plugins/cpu/internal/kernel -test.skip 'Winograd.*Precision$'
try qemu-aarch64 arm64 data -test.run 'Torchvision|AugmentedGolden|SharesAre'
try qemu-aarch64 arm64 device/devicetest -test.run '^TestRef$' -test.skip '/./^rows:'
try qemu-aarch64 arm64 plugins/cpu/internal/cpu -test.run 'Order|OpsAgainstRef|ReplicaAlone'

sse2="qemu-x86_64 -cpu qemu64"
try "$sse2" amd64 plugins/cpu/internal/kernel -test.skip 'Winograd.*Precision$'
try "$sse2" amd64 plugins/cpu/internal/cpu -test.run 'Order|ReplicaAlone'
