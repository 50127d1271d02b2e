#!/usr/bin/env bash
# vulnerabilities.sh: prints the published vulnerabilities that code of the programs reaches. The reports are
# those of module golang.org/x/vulndb (VULNDB=VERSION, default latest), so only the module proxy is needed.
# Programs are checked with the release's version of Go; GOTOOLCHAIN selects another one.
set -euo pipefail
go=${GO:-go}
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOTOOLCHAIN=${GOTOOLCHAIN:-$(sed -n 's/^toolchain //p' go.mod)}
reports=$(cd "$work" && GOFLAGS=-mod=mod $go mod download -json "golang.org/x/vulndb@${VULNDB:-latest}" |
	sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')/data/osv
$go run ./scripts/vulndb "$reports" "$work/db"
GOBIN=$work/bin $go install "$govulncheck"
"$work/bin/govulncheck" -db "file://$work/db" -tags urfave_cli_no_docs "$@" ./cmd/bnctl ./plugins/...
