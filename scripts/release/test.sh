#!/usr/bin/env bash
# test.sh FOLDER: makes the release of HEAD twice, in two clones and on two days, and tries what came of it: the same
# bytes, signature and sums, each binary as far as this machine can run it, the Debian package in a system of its own,
# "go install" from a module proxy of files. A line with OK or SKIPPED for each. TAG is the tag of the trial (v0.1.0).
# The key is made for the trial. Needs Debian and root; qemu-user and Wine run what is not for this system.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath -m "$1") tag=${TAG:-v0.1.0} go=${GO:-go}
version=${tag#v}
ok() { echo "OK       $*"; }
skipped() { echo "SKIPPED  $*"; }
fail() { echo "FAILED   $*"; exit 1; }
rm -rf "$folder"
mkdir -p "$folder/one" "$folder/another/folder"
needs=()
for pair in faketime:faketime qemu-aarch64:qemu-user mmdebstrap:mmdebstrap lintian:lintian ruby:ruby; do
	command -v "${pair%:*}" >/dev/null || needs+=("${pair#*:}")
done
[ ${#needs[@]} = 0 ] || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${needs[@]}"; } >&2

# Two clones, two days, one key.
ssh-keygen -q -t ed25519 -N '' -C trial -f "$folder/key"
for clone in one another/folder; do
	git clone -q "$here/../.." "$folder/$clone/bnctl"
	git -C "$folder/$clone/bnctl" tag -f "$tag" >/dev/null
done
KEY=$folder/key GO=$go bash "$folder/one/bnctl/scripts/release/release.sh" "$folder/one/release" >/dev/null
(cd "$folder/another/folder" && KEY=$folder/key GO=$go faketime '+40 days' bash bnctl/scripts/release/release.sh "$folder/another/release" >/dev/null)
diff -r "$folder/one/release" "$folder/another/release" || fail "two builds of one commit differ"
release=$folder/one/release
ok "two builds, in two folders and 40 days apart: $(find "$release" -type f | wc -l) files, the same bytes"

echo "release $(cut -d' ' -f1,2 "$folder/key.pub")" >"$folder/allowed_signers"
ssh-keygen -q -Y verify -f "$folder/allowed_signers" -I release -n bnctl-release -s "$release/SHA256SUMS.sig" <"$release/SHA256SUMS" >/dev/null
(cd "$release" && sha256sum --quiet --check SHA256SUMS)
echo x >>"$release/SHA256SUMS"
! ssh-keygen -q -Y verify -f "$folder/allowed_signers" -I release -n bnctl-release -s "$release/SHA256SUMS.sig" <"$release/SHA256SUMS" >/dev/null 2>&1 ||
	fail "the signature holds for other sums"
sed -i '$d' "$release/SHA256SUMS"
ok "signature and sums; changed sums are found"

# The binaries. What runs in a home of its own must leave nothing there but what it measured of the processor, nor where
# it is installed.
mkdir "$folder/home"
run() { (cd "$folder/home" && env -i PATH=/usr/bin:/bin HOME="$folder/home" "$@"); }
unpack() { tar -C "$folder" -xzf "$release/bnctl-$version-$1.tar.gz"; }
says() { [ "$(run "$@" --version | cut -d' ' -f2)" = "$version" ] || fail "$* is $(run "$@" --version)"; }
demo() { sed -n 's/.*sha256 \([0-9a-f]*\).*/\1/p' "$1" | sort -u; }
unpack linux-amd64
program=$folder/bnctl-$version-linux-amd64/bnctl
case $(uname -m) in
x86_64)
	says "$program"
	chown 65534:65534 "$folder/home"
	nobody() { (cd "$folder/home" && setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin HOME="$folder/home" "$@"); }
	nobody test -w "$folder/bnctl-$version-linux-amd64" && fail "nobody may write to the folder of the programs"
	nobody "$program" demo >"$folder/demo.txt" 2>&1 || { cat "$folder/demo.txt"; fail "the demo"; }
	left=$(cd "$folder/home" && find . -type f ! -path './.cache/bnctl/*')
	[ -z "$left" ] || fail "the demo left $left"
	ok "linux-amd64: the demo, as a user who may not write where it is installed; it leaves nothing but .cache/bnctl"
	;;
*) skipped "linux-amd64: this is $(uname -m)" ;;
esac
recipe=(train --model mlp-bn --data glyphs:200 --epochs 1 --quiet --overwrite)
run "$program" "${recipe[@]}" -o here.bnm >/dev/null
unpack linux-arm64
says qemu-aarch64 "$folder/bnctl-$version-linux-arm64/bnctl"
# The device is a process of bnctl's own, which this kernel cannot start: a script does.
printf '#!/bin/sh\nexec qemu-aarch64 %s/bnctl-device-cpu "$@"\n' "$folder" >"$folder/bnctl-device-arm64"
chmod +x "$folder/bnctl-device-arm64"
(cd "$folder/one/bnctl" && GOARCH=arm64 CGO_ENABLED=0 $go build -o "$folder/" ./plugins/cpu/bnctl-device-cpu)
run qemu-aarch64 "$folder/bnctl-$version-linux-arm64/bnctl" "${recipe[@]}" -o arm64.bnm --devices arm64 --threads 1 \
	--device-plugin "$folder/bnctl-device-arm64" --allow-unlocked --device-timeout 36000 >/dev/null
cmp "$folder/home/here.bnm" "$folder/home/arm64.bnm"
ok "linux-arm64 under qemu: trains the template that amd64 trains"
# Wine is that of Debian 13: the one of Debian 12 lacks a library that Go's programs want.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
beside() { # beside SYSTEM COMMAND...: a command in a system that lies in that folder
	unshare --mount sh -c 'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" env -i -C /tmp \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp XDG_RUNTIME_DIR=/tmp WINEDEBUG=-all "$@"' "$@"
}
mmdebstrap --quiet --variant=apt --components=main --include=wine,wine64 trixie "$folder/wine" "$mirror"
unzip -q -d "$folder/wine/tmp" "$release/bnctl-$version-windows-amd64.zip"
windows() { beside "$folder/wine" wine "bnctl-$version-windows-amd64/bnctl.exe" "$@" 2>"$folder/windows.log"; }
[ "$(windows --version | tr -d '\r' | cut -d' ' -f2)" = "$version" ] || fail "Windows' is $(windows --version), $(cat "$folder/windows.log")"
windows "${recipe[@]}" -o windows.bnm >/dev/null || { cat "$folder/windows.log"; fail "Windows' training under Wine"; }
cmp "$folder/home/here.bnm" "$folder/wine/tmp/windows.bnm"
ok "windows-amd64 under Wine: trains the template that Linux trains"
unpack darwin-arm64
skipped "darwin-arm64: nothing here runs it; built: $(file -b "$folder/bnctl-$version-darwin-arm64/bnctl" 2>/dev/null | cut -c1-40)"
rm -rf "$folder/home"/*.bn*

# The package, in a Debian 13 of its own.
system=$folder/debian
mmdebstrap --quiet --variant=essential --components=main trixie "$system" "$mirror"
inside() { beside "$system" "$@"; }
files() { find "$system" -xdev ! -path "$system/var/lib/dpkg/*" ! -path "$system/var/log/*" ! -path "$system/proc/*" ! -path "$system/dev/*" \
	! -path "$system/tmp*" -printf '%P %s\n' | sort; }
cp "$release/bnctl_${version}_amd64.deb" "$system/tmp/"
files >"$folder/before"
inside dpkg --install "/tmp/bnctl_${version}_amd64.deb" >/dev/null
[ "$(inside bnctl --version | cut -d' ' -f2)" = "$version" ] || fail "the package's is $(inside bnctl --version)"
inside bnctl devices list >"$folder/devices.txt"
inside sh -c "cd /tmp && bnctl ${recipe[*]} -o deb.bnm >/dev/null && bnctl predict deb.bnm glyphs:1 >/dev/null"
inside dpkg --purge bnctl >/dev/null
files >"$folder/after"
diff "$folder/before" "$folder/after" || fail "the package leaves files"
lintian --fail-on error --suppress-tags no-changelog,statically-linked-binary,embedded-library,unstripped-binary-or-object,debian-changelog-file-missing,copyright-file-contains-full-apache-2-license \
	"$release/bnctl_${version}_amd64.deb" || fail "lintian"
ok "the Debian package installs, trains and predicts in Debian 13, and is removed without a trace"
ruby -c "$release/bnctl.rb" >/dev/null
ok "Homebrew's formula is Ruby; Homebrew itself is not here"

# go install, from a proxy that is a folder. The module's zip does not contain the other modules of the tree.
proxy=$folder/proxy/github.com/bnctl/bnctl/@v
mkdir -p "$proxy"
cd "$folder/one/bnctl"
nested=$(git ls-files '*/go.mod' | sed 's|/go.mod$||; s|^|:(exclude)|')
echo "$tag" >"$proxy/list"
echo "{\"Version\":\"$tag\",\"Time\":\"$(date -u -d "@$(git log -1 --format=%ct)" +%Y-%m-%dT%H:%M:%SZ)\"}" >"$proxy/$tag.info"
cp go.mod "$proxy/$tag.mod"
# shellcheck disable=SC2086 # each a word
git archive --format=zip --prefix="github.com/bnctl/bnctl@$tag/" -o "$proxy/$tag.zip" HEAD . $nested
# Without goindex: Go remembers the files of a version, which another trial had other ones of.
(cd "$folder" && GODEBUG=goindex=0 GOFLAGS=-modcacherw GOBIN=$folder/gobin GONOSUMDB=github.com/bnctl/bnctl GOPROXY="file://$folder/proxy,$($go env GOPROXY)" \
	GOMODCACHE=$folder/modules $go install "github.com/bnctl/bnctl/cmd/bnctl@$tag" "github.com/bnctl/bnctl/plugins/opencl/bnctl-device-opencl@$tag")
says "$folder/gobin/bnctl"
run "$folder/gobin/bnctl" "${recipe[@]}" -o installed.bnm >/dev/null
run "$program" "${recipe[@]}" -o here.bnm >/dev/null
cmp "$folder/home/here.bnm" "$folder/home/installed.bnm"
ok "go install from a file:// proxy: the same template"
rm -rf "$folder/modules"
