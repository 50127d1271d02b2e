#!/usr/bin/env bash
# release.sh DIR: makes a release of the commit that is checked out, the same bytes in any folder and on any day:
#
#   bnctl-VERSION-SYSTEM.tar.gz, .zip   linux amd64 and arm64, macOS arm64, Windows amd64, each with its SBOM (CycloneDX)
#   bnctl_VERSION_ARCH.deb              Debian packages
#   bnctl-VERSION-linux-ARCH.oci.tar    the image of server/deploy/Dockerfile, as docker load and podman load take it
#   bnctl.rb                            the formula of Homebrew
#   bnctl-VERSION-py3-none-PLATFORM.whl Python wheels for the same systems, for musl bnctl alone
#   bnctl-VERSION.tgz, bnctl-SYSTEM-VERSION.tgz   the packages of npm: npx bnctl
#   SHA256SUMS, SHA256SUMS.sig          their sums, and a signature if KEY names a private key of ssh-keygen -t ed25519
#
# The version is the tag of the commit (v0.1.0): Go stamps it and the commit into the binaries. The bytes depend on
# the version of Go, which the SBOMs and "go version -m bnctl" name. Debian's dpkg-deb, zip and buildah pack.
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC
fail() { echo "release: $*" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "$1") key=${KEY:+$(realpath "$KEY")} go=${GO:-go}
cd "$here/../.."
[ -z "$(git status --porcelain)" ] || fail "files differ from the commit (git status): commit them, or take a clean clone"
tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) || fail "this commit has no tag: git tag v0.1.0"
version=${tag#v}
if ! command -v dpkg-deb >/dev/null || ! command -v zip >/dev/null || ! command -v buildah >/dev/null; then
	echo "release: installing dpkg, zip and buildah" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends dpkg zip buildah; } >&2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
# The toolchain of go.mod, from the module proxy, whatever Go starts it: GOTOOLCHAIN=local gives another.
GOTOOLCHAIN=${GOTOOLCHAIN_RELEASE:-$(sed -n 's/^toolchain //p' go.mod)}
export GOTOOLCHAIN SOURCE_DATE_EPOCH CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOWORK=off
export GOFLAGS="-trimpath -buildvcs=true -ldflags=-s -mod=readonly"
sbom=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty"

# The contents of every archive: the page of the release, licences of modules, manual pages, shell completions.
common=$work/common
mkdir -p "$common/man" "$common/completion"
cp LICENSE README.md CHANGELOG.md "$common/"
cp docs/release.md "$common/RELEASE.md"
$go build -o "$work/here" ./cmd/bnctl # this build can write manual pages; the released programs cannot
"$work/here" completion man "$common/man" >/dev/null
for shell in bash zsh fish; do "$work/here" completion $shell >"$common/completion/bnctl.$shell"; done
# archive SYSTEM: programs and what belongs to them, packed.
archive() {
	local system=$1 name=bnctl-$version-$1 suffix=
	local dir=$work/$name programs=(cmd/bnctl plugins/cuda/bnctl-device-cuda plugins/opencl/bnctl-device-opencl)
	[ "${system%-*}" != linux ] || programs+=(plugins/mpi/bnctl-fabric-mpi)
	[ "${system%-*}" != windows ] || suffix=.exe
	mkdir -p "$dir"
	cp -r "$common/." "$dir/"
	for program in "${programs[@]}"; do
		local tags=
		[ "$program" != cmd/bnctl ] || tags=urfave_cli_no_docs
		GOOS=${system%-*} GOARCH=${system#*-} $go build -tags "$tags" -o "$dir/$(basename "$program")$suffix" "./$program"
	done
	GO=$go bash "$here/licences.sh" "$system" >"$dir/LICENSES-OF-MODULES"
	# Each program has an SBOM, with Go's library and licences: bnctl's has the archive's name. The day and
	# the tool's own file are left out: they would differ from build to build.
	for program in "${programs[@]}"; do
		local file=$out/$name.sbom.json
		[ "$program" = cmd/bnctl ] || file=$out/$name.$(basename "$program").sbom.json
		(cd "$work" && "$work/sbom" bin -json -std -noserial -version "$tag" "$dir/$(basename "$program")$suffix") |
			sed "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"$date\"/" |
			"${PYTHON:-/usr/bin/python3}" "$here/sbomlicences.py" "$dir/LICENSES-OF-MODULES" >"$file"
	done
	find "$dir" -exec touch -h -d "$date" {} +
	if [ "${system%-*}" = windows ]; then
		(cd "$work" && find "$name" | sort | zip -q -X "$out/$name.zip" -@)
	else
		tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
	fi
	echo "release: $name" >&2
}

# package ARCH: the archive's files where Debian has such.
package() {
	local from=$work/bnctl-$version-linux-$1 root=$work/deb-$1
	install -d "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/doc/bnctl" "$root/usr/share/man/man1" \
		"$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
		"$root/usr/share/fish/vendor_completions.d"
	install -m 755 "$from"/bnctl "$from"/bnctl-*-* "$root/usr/bin/"
	install -m 644 "$from"/{README.md,RELEASE.md} "$root/usr/share/doc/bnctl/"
	gzip -9nc "$from/CHANGELOG.md" >"$root/usr/share/doc/bnctl/changelog.gz"
	cat "$from/LICENSE" "$from/LICENSES-OF-MODULES" >"$root/usr/share/doc/bnctl/copyright"
	for page in "$from"/man/*; do gzip -9nc "$page" >"$root/usr/share/man/man1/$(basename "$page").gz"; done
	install -m 644 "$from/completion/bnctl.bash" "$root/usr/share/bash-completion/completions/bnctl"
	install -m 644 "$from/completion/bnctl.zsh" "$root/usr/share/zsh/vendor-completions/_bnctl"
	install -m 644 "$from/completion/bnctl.fish" "$root/usr/share/fish/vendor_completions.d/bnctl.fish"
	sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$1/" -e "s/@SIZE@/$(du -sk --apparent-size "$root/usr" | cut -f1)/" \
		"$here/control" >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
	find "$root" -exec touch -h -d "$date" {} +
	dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$root" "$out/bnctl_${version}_$1.deb" >/dev/null
	echo "release: bnctl_${version}_$1.deb" >&2
}

# image ARCH: as test-container builds it, around the archive's program.
image() {
	local build=$work/build-$1 storage="--storage-driver vfs --root $work/storage-$1 --runroot $work/run-$1"
	mkdir -p "$build/root-of-image"
	mkdir -m 1777 "$build/root-of-image/tmp"
	cp "$work/bnctl-$version-linux-$1/bnctl" "$build/root-of-image/bnctl"
	mkdir "$build/root-of-image/licenses"
	cp "$work/bnctl-$version-linux-$1"/{LICENSE,LICENSES-OF-MODULES} "$build/root-of-image/licenses/"
	find "$build" -exec touch -h -d "$date" {} +
	buildah $storage bud --quiet --isolation chroot --arch "$1" --timestamp "$SOURCE_DATE_EPOCH" \
		--build-context build="$build" -f server/deploy/Dockerfile -t "bnctl:$version" "$build" >/dev/null
	mkdir "$work/oci-$1"
	buildah $storage push --quiet "bnctl:$version" "oci:$work/oci-$1:bnctl:$version"
	tar -C "$work/oci-$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu --mode=u=rwX,go=rX \
		-cf "$out/bnctl-$version-linux-$1.oci.tar" .
	echo "release: bnctl-$version-linux-$1.oci.tar" >&2
}

# wheel SYSTEM PLATFORM [PROGRAM...]: the Python package with the archive's programs.
wheel() {
	local from=$work/bnctl-$version-$1 platform=$2
	shift 2
	(cd "$from" && "${PYTHON:-/usr/bin/python3}" "$here/../../python/wheel.py" --version "$version" --platform "$platform" \
		--licences LICENSES-OF-MODULES --output "$out" "$@" >/dev/null)
	echo "release: wheel for $platform" >&2
}

GOFLAGS=-trimpath GOBIN=$work/bin $go install "$sbom"
mv "$work/bin/cyclonedx-gomod" "$work/sbom"
for system in linux-amd64 linux-arm64 darwin-arm64 windows-amd64; do archive $system; done
for arch in amd64 arm64; do package $arch; image $arch; done
programs="bnctl bnctl-device-cuda bnctl-device-opencl"
wheel linux-amd64 manylinux_2_17_x86_64 $programs bnctl-fabric-mpi
wheel linux-arm64 manylinux_2_17_aarch64 $programs bnctl-fabric-mpi
wheel linux-amd64 musllinux_1_2_x86_64 bnctl # the plugins need glibc's loader
wheel linux-arm64 musllinux_1_2_aarch64 bnctl
wheel darwin-arm64 macosx_12_0_arm64 $programs
wheel windows-amd64 win_amd64 bnctl.exe bnctl-device-cuda.exe bnctl-device-opencl.exe
"${PYTHON:-/usr/bin/python3}" "$here/../../python/checkwheel.py" "$out"/*.whl >&2
mkdir "$work/npm" # the licences of each system
for pair in linux-x64=linux-amd64 linux-arm64=linux-arm64 darwin-arm64=darwin-arm64 win32-x64=windows-amd64; do
	cp "$work/bnctl-$version-${pair#*=}/LICENSES-OF-MODULES" "$work/npm/${pair%=*}"
done
"${PYTHON:-/usr/bin/python3}" "$here/npm.py" --version "$version" --licences "$work/npm" --output "$out" \
	"linux-x64=$work/bnctl-$version-linux-amd64/bnctl" "linux-arm64=$work/bnctl-$version-linux-arm64/bnctl" \
	"darwin-arm64=$work/bnctl-$version-darwin-arm64/bnctl" "win32-x64=$work/bnctl-$version-windows-amd64/bnctl.exe" >/dev/null
echo "release: packages of npm" >&2
sum() { sha256sum "$out/bnctl-$version-$1.tar.gz" | cut -d' ' -f1; }
sed -e "s/@VERSION@/$version/g" -e "s/@DARWIN_ARM64@/$(sum darwin-arm64)/" -e "s/@LINUX_AMD64@/$(sum linux-amd64)/" \
	-e "s/@LINUX_ARM64@/$(sum linux-arm64)/" "$here/bnctl.rb" >"$out/bnctl.rb"
cd "$out"
find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS
if [ -n "$key" ]; then
	ssh-keygen -q -Y sign -n bnctl-release -f "$key" SHA256SUMS
else
	echo "release: not signed: KEY=FILE names the private key" >&2
fi
cat SHA256SUMS
