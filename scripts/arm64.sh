#!/bin/sh
# arm64.sh BNCTL [RECIPE...]: the README's recipe, trained by bnctl and its CPU device as built for
# arm64, both run by qemu-user (Debian: qemu-user), beside BNCTL on this machine: one template, to the
# bit. RECIPE is two steps of it if nothing is said; with --epochs 2 --val glyphs it is the whole, and
# the sum must be the one in README.md. A step takes qemu a minute of one core.
set -e
bnctl=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- --steps 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in cmd/bnctl plugins/cpu/bnctl-device-cpu; do
	GOARCH=arm64 CGO_ENABLED=0 ${GO:-go} build -o "$work/" ./$program
done
# The kernel of this machine starts no process of another, but a script that does.
printf '#!/bin/sh\nexec qemu-aarch64 %s/bnctl-device-cpu "$@"\n' "$work" >"$work/bnctl-device-arm64"
chmod +x "$work/bnctl-device-arm64"
readme=$(sed -n 's/^wrote glyphs.bnm  sha256 \([0-9a-f]*\).*/\1/p' README.md)
cd "$work"

# sum NAME WORDS...: what bnctl, started as WORDS, says of the template that it has trained.
sum() {
	name=$1
	shift
	"$@" --data glyphs -o "$name.bnm" >"$name.log" 2>&1 || { cat "$name.log" >&2; exit 1; }
	echo "$name: $(sed -n 's/^wrote [^ ]* *//p' "$name.log")"
}

sum here "$bnctl" train "$@"
sum arm64 qemu-aarch64 "$work/bnctl" train "$@" --devices arm64 --threads 1 \
	--device-plugin "$work/bnctl-device-arm64" --allow-unlocked --device-timeout 36000
cmp here.bnm arm64.bnm
case " $* " in
*" --epochs 2 --val glyphs "*) grep -q "$readme" arm64.log || { echo "README.md says $readme" >&2; exit 1; } ;;
esac
