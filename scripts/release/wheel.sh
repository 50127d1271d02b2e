#!/usr/bin/env bash
# wheel.sh DIR: the wheel of this machine from the programs in bin, into DIR.
set -euo pipefail
go=${GO:-go} python=${PYTHON:-/usr/bin/python3}
cd "$(dirname "$0")/../.."
case $($go env GOARCH) in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) echo "wheel: there is no wheel for $($go env GOARCH)" >&2; exit 1 ;;
esac
licences=$(mktemp)
trap 'rm -f "$licences"' EXIT
GO=$go bash scripts/release/licences.sh "linux-$($go env GOARCH)" >"$licences"
version=$(bin/bnctl --version)
"$python" python/wheel.py --version "${version#bnctl }" --platform "manylinux_2_17_$machine" --licences "$licences" --output "$1" \
	bin/bnctl bin/bnctl-device-cuda bin/bnctl-device-opencl bin/bnctl-fabric-mpi
