#!/usr/bin/env bash
# int8sums.sh BNCTL [WAY...]: makes an int8 template of plugins/internal/bitwise/int8.graph, which has all operations of
# int8 except for a dequantise, and predicts 1,000 made-up pictures of 16x16 in every WAY. Prints the sum of the logits of
# each, and fails unless they are one. JSON=FILE keeps the sums for docs/results. A WAY is devices, or one of
#   amx vnni avxvnni words avx2 sse2 purego neon neondot generic ref   what the CPU device multiplies with: sse2 and neon,
#         without and with the dot products of arm64, by qemu-user, purego the build without assembly
#   threads1 batch1 batch7 batch1000                                   that many threads, or samples at once
#   ptx                                                                the CUDA device on the interpreter of PTX
#   kill:DEVICES                                                       a plugin of them is killed on the way
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
bnctl=$(realpath "$1")
shift
ways=("$@")
[ ${#ways[@]} -gt 0 ] || ways=(amx vnni avxvnni words avx2 sse2 purego neon neondot generic ref threads1 batch1 batch7
	batch1000 2xcpu 3xcpu 4xcpu 5xcpu 6xcpu 7xcpu 8xcpu opencl:0 cpu,opencl:0 2xcpu,opencl:0,ref kill:cpu,opencl:0 ptx)
[ -z "${JSON:-}" ] || json=$(realpath "$JSON")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 "$root/scripts/sumsdata.py" .
mv pictures.npy x.npy
mv classes.npy y.npy
"$bnctl" train --model "$root/plugins/internal/bitwise/int8.graph" --data npy:x.npy,y.npy --batch 50 --steps 5 --quiet \
	--checkpoint m.bnc -o m.bnm >log 2>&1 && "$bnctl" quantize m.bnm -o q.bnm >>log 2>&1 || { cat log >&2; exit 1; }
echo "$(sha256sum <q.bnm | cut -c1-64)  the template"

# plugin NAME [BUILD FLAG...]: the CPU device in another build, as options.
plugin() {
	local name=$1
	shift
	(cd "$root" && CGO_ENABLED=0 ${GO:-go} build "$@" -o "$work/$name" ./plugins/cpu/bnctl-device-cpu)
	# The kernel of this machine starts no process of another, but a script that does.
	printf '#!/bin/sh\nexec %s %s/%s "$@"\n' "${EMULATOR:-}" "$work" "$name" >"bnctl-device-$name"
	chmod +x "bnctl-device-$name"
	options=(--devices "$name" --device-plugin "$work/bnctl-device-$name" --allow-unlocked)
}

# logits WAY: the sum of the logits, 40,000 bytes at the end of the file.
logits() {
	local way=$1 options=() godebug= host process
	case $way in
	amx) options=(--devices cpu) ;;
	vnni) godebug=cpu.amxtile=off ;;
	avxvnni) godebug=cpu.amxtile=off,cpu.avx512vnni=off ;;
	words) godebug=cpu.amxtile=off,cpu.avx512vnni=off,cpu.avxvnni=off ;;
	avx2) godebug=cpu.avx512f=off,cpu.avxvnni=off ;;
	sse2) EMULATOR='qemu-x86_64 -cpu qemu64' plugin sse2 ;;
	purego) plugin purego -tags purego ;;
	neon) EMULATOR='qemu-aarch64 -cpu cortex-a72' GOARCH=arm64 plugin neon ;;
	neondot) EMULATOR='qemu-aarch64 -cpu max' GOARCH=arm64 plugin neondot ;;
	generic) options=(--kernels generic) ;;
	threads1) options=(--threads 1) ;;
	batch*) options=(--batch "${way#batch}") ;;
	ptx)
		(cd "$root" && BNCTL_INT8_SUM=$work ${GO:-go} test -count=1 -timeout 10h -run TestInt8Sum \
			./plugins/cuda/internal/cuda) >log 2>&1 || { cat log >&2; return 1; } ;;
	kill:*) options=(--devices "${way#kill:}" --batch 1) ;;
	*) options=(--devices "$way") ;;
	esac
	if [ "$way" != ptx ]; then
		rm -f logits.npy
		GODEBUG=$godebug "$bnctl" predict q.bnm x.npy --logits -o logits.npy "${options[@]}" >log 2>&1 &
		host=$!
		case $way in kill:*)
			until process=$(pgrep -P $host -f bnctl-device); do sleep 0.1; done
			sleep "${BEFORE_KILL:-1}"
			kill -9 $process || true ;; # or it had come to its end, and none was lost
		esac
		wait $host || { cat log >&2; return 1; }
		case $way in kill:*) grep -q 'is lost' log || { cat log >&2; echo "$way: none was lost" >&2; return 1; } ;; esac
	fi
	tail -c 40000 logits.npy | sha256sum | cut -c1-64
}

first= failed=0
for way in "${ways[@]}"; do
	began=$SECONDS
	sum=$(logits "$way")
	[ -n "$first" ] || first=$sum
	printf '%s  %-20s %5d s\n' "$sum" "$way" $((SECONDS - began))
	[ "$first" = "$sum" ] || failed=1
done
[ -z "${json:-}" ] || [ $failed = 1 ] || python3 - "$json" "$first" "${ways[@]}" <<'END'
import json, re, sys, time
name = next(re.sub(r".*:\s*", "", line).strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
json.dump({"processor": name, "command": "make sums-int8", "measured": time.strftime("%Y-%m-%d"),
    "conditions": "1,000 pictures of noise; the first digits of the sha256 of all logits",
    "columns": ["ways", "sha256"], "rows": [[", ".join(f"`{w}`" for w in sys.argv[3:]), sys.argv[2][:16]]]},
    open(sys.argv[1], "w"), indent=1, ensure_ascii=False)
END
exit $failed
