#!/usr/bin/env bash
# licences.sh SYSTEM: prints the licences of the modules that the programs for a system (linux-amd64) are made of, and Go's.
set -euo pipefail
go=${GO:-go}
cd "$(dirname "$0")/../.."
GOOS=${1%-*} GOARCH=${1#*-} $go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' \
	./cmd/bnctl ./plugins/{cuda,opencl,mpi}/... | sort -u | while read -r path module dir; do
	for file in "$dir"/LICEN[CS]E* "$dir"/COPYING* "$dir"/NOTICE*; do
		[ ! -f "$file" ] || { echo "== $path $module: $(basename "$file")"; cat "$file"; echo; }
	done
done
echo "== Go, its standard library"
cat "$($go env GOROOT)/LICENSE" 2>/dev/null || cat "$($go env GOROOT)/../go/LICENSE"
