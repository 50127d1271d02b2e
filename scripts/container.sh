#!/bin/sh
# container.sh BNCTL: builds the image of server/deploy/Dockerfile with buildah around a
# static binary that is there already, and probes what is served in it, in a
# chroot. What the Dockerfile's first stage makes, which compiles that binary in
# an image of a registry, comes from this machine; no such image is fetched.
#
# A chroot has the image's files and its user, and this machine's network and
# processes: limits of memory and cores, a network of its own and a read-only
# root are not proved here.
set -e
bnctl=$1
work=$(mktemp -d)
root="buildah --storage-driver vfs --root $work/root --runroot $work/run"
if ! command -v buildah >/dev/null || ! command -v curl >/dev/null; then
	echo "container: installing buildah and curl" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends buildah curl; } >&2
fi
container=
server=
clean() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$container" ] || $root rm "$container" >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap clean EXIT
fail() {
	echo "container: $*" >&2
	[ ! -f "$work/errors" ] || tail -5 "$work/errors" >&2
	exit 1
}

mkdir -p "$work/build/root-of-image" "$work/models"
mkdir -m 1777 "$work/build/root-of-image/tmp"
cp "$bnctl" "$work/build/root-of-image/bnctl"
chmod 755 "$work" "$work/models"
"$bnctl" train --model mlp-bn --data glyphs:200 --epochs 1 --quiet -o "$work/models/glyphs.bnm" >/dev/null
chmod 644 "$work/models/glyphs.bnm"
$root bud --quiet --isolation chroot --build-context build="$work/build" -f server/deploy/Dockerfile -t bnctl \
	"$work/build" >/dev/null
container=$($root from bnctl)
files=$(cd "$($root mount "$container")" && find . -mindepth 1 | sort | tr '\n' ' ')
[ "$files" = "./bnctl ./tmp " ] || fail "the image has $files"
says() { $root inspect --type image --format "{{.OCIv1.Config.$1}}" bnctl; }
[ "$(says User)" = 65532:65532 ] || fail "its user is $(says User)"
[ "$(says Entrypoint)" = "[/bnctl serve]" ] || fail "its entry point is $(says Entrypoint)"
echo "container: $files, user $(says User)"

$root run --isolation chroot --volume "$work/models:/models:ro" "$container" -- \
	/bnctl serve /models --json --http 127.0.0.1:0 --grpc 127.0.0.1:0 --host "probe-$$" \
	>"$work/out" 2>"$work/errors" &
server=$!
for i in $(seq 300); do
	[ ! -s "$work/out" ] || break
	kill -0 "$server" 2>/dev/null || fail "the server ended"
	sleep 0.1
done
address=$(sed -n 's/.*"http":"\([^"]*\)".*/\1/p' "$work/out")
[ -n "$address" ] || fail "the server does not say where it is"
curl -sf "http://$address/v2/health/ready" >/dev/null || fail "it is not ready"
head -c 784 /dev/zero >"$work/row"
curl -sf "http://$address/v2/models/glyphs/infer" -H 'Inference-Header-Content-Length: 0' --data-binary "@$work/row" \
	-o "$work/answer" || fail "it gives no answer"
grep -q '"name":"logits"' "$work/answer" || fail "its answer is another"
inside=$(pgrep -f "^/bnctl serve .*--host probe-$$" | head -1)
[ "$(awk '/^Uid:/ { print $2 }' "/proc/$inside/status")" = 65532 ] || fail "it runs as another user"
kill "$inside"
code=0
wait "$server" || code=$?
server=
[ "$code" = 0 ] || fail "it ended with $code, want 0 after SIGTERM"
echo "container: built, answered as user 65532, ended in order"
echo "container: not proved here, for want of a registry and a cluster: the first stage, podman or Docker, Kubernetes, KServe"
