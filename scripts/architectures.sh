#!/usr/bin/env bash
# architectures.sh [ARCHITECTURE...]: builds bnctl for each GOARCH, runs it and its CPU device, under qemu-user where this
# machine is another, and prints a sum for each of seven cases: two steps on pictures with augmentation, an int8 template
# with its logits, the prediction of a JPEG picture, the golden vectors by the CPU device and by device/ref (the sum of
# their list), two steps of README's recipe, and reproduce of the template that the first architecture made of it. It
# fails unless the sums of a case are one. amd64v1 and amd64v3 are amd64 with that GOAMD64: the compiler fuses
# multiply-adds in v3, as it does on arm64, riscv64, ppc64le and s390x. s390x is big-endian. 386 and arm have 32 bits, for
# which the compiler ends with a sentence. README's recipe has 64 samples and batches of 8 here: a step of
# 128 takes qemu a minute; RECIPE='--data glyphs' restores it. CASES picks some of the cases, JSON=FILE keeps the sums for
# docs/results, BUILDS=FOLDER the builds.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
architectures=("$@")
[ ${#architectures[@]} -gt 0 ] || architectures=(amd64v1 amd64v3 arm64 riscv64 ppc64le s390x)
[ -z "${JSON:-}" ] || json=$(realpath "$JSON")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
builds=${BUILDS:-$work}
mkdir -p "$builds"
builds=$(realpath "$builds")
cd "$root"
CGO_ENABLED=0 ${GO:-go} run ./docs/examples/pictures "$work/pictures"
cp data/testdata/progressive.jpg spec/SHA256SUMS "$work/"
declare -A emulators=([arm64]=qemu-aarch64 [riscv64]=qemu-riscv64 [ppc64le]=qemu-ppc64le [s390x]=qemu-s390x [386]=qemu-i386
	[arm]=qemu-arm)

# build ARCHITECTURE PROGRAM: a program, if it is not there.
build() {
	local name=$builds/$(basename "$2")-$1 target=(GOARCH="$1")
	case $1 in amd64v*) target=(GOARCH=amd64 GOAMD64="${1#amd64}") ;; esac
	[ -e "$name" ] || env "${target[@]}" CGO_ENABLED=0 nice -n 19 ${GO:-go} build -tags urfave_cli_no_docs -o "$name" "./$2"
}

# case_of NAME: runs a case in the folder of an architecture and prints its sum. A part that fails ends the case: bash
# ignores set -e here.
case_of() {
	local devices=(--devices here --device-plugin ./bnctl-device-here --allow-unlocked --threads 1)
	local patient=(--device-timeout 36000 --quiet)
	case $1 in
	definitions)
		(cd "$root" && ${run/bnctl-/vectors-} -check) >differ && sha256sum <../SHA256SUMS ;;
	recipe)
		$run train --steps 2 ${RECIPE:---data glyphs:64 --batch 8} "${devices[@]}" "${patient[@]}" -o recipe.bnm &&
			sha256sum <recipe.bnm ;;
	reproduce) # the template of the first architecture
		[ -e ../reproduce ] || cp -r . ../reproduce
		$run reproduce ../reproduce/recipe.bnm "${devices[@]}" --quiet >equal && sha256sum <../reproduce/recipe.bnm ;;
	augmentation)
		$run train --model mlp-bn --data folder:../pictures/train --label-smoothing 0.1 --batch 4 --replicas 2 --steps 2 \
			--augment 'resizedcrop flip rotate jitter randaugment:2,9 erase mixup:0.2 cutmix:1' "${devices[@]}" "${patient[@]}" \
			-o augmentation.bnm && sha256sum <augmentation.bnm ;;
	int8)
		$run quantize augmentation.bnm -o int8.bnm --quiet &&
			$run predict int8.bnm ../progressive.jpg --logits "${devices[@]}" --quiet -o int8.npy &&
			cat int8.bnm int8.npy | sha256sum ;;
	prediction)
		$run predict augmentation.bnm ../progressive.jpg --logits "${devices[@]}" --quiet -o prediction.npy &&
			sha256sum <prediction.npy ;;
	vectors)
		$run devices verify here "${devices[@]:2}" --limit 0 >verified && sha256sum <../SHA256SUMS ;;
	esac
}

failed=0
for architecture in "${architectures[@]}"; do
	build "$architecture" cmd/bnctl && build "$architecture" scripts/vectors || {
		echo "$architecture: bnctl does not compile" >&2
		failed=1
		continue
	}
	run="${emulators[$architecture]:-} $builds/bnctl-$architecture"
	rm -rf "$work/run" && mkdir "$work/run" && cd "$work/run"
	printf '#!/bin/sh\nexec %s serve-device cpu\n' "$run" >bnctl-device-here
	chmod 755 bnctl-device-here
	for name in ${CASES:-augmentation int8 prediction vectors definitions recipe reproduce}; do
		began=$SECONDS
		sum=$(case_of "$name" 2>err) || { cat err >&2; sum=failed; }
		sum=${sum##*$'\n'} sum=${sum%% *}
		! grep -qs big-endian err || sum="refused: big-endian"
		printf '%s\t%s\t%s\n' "$name" "$architecture" "$sum" >>"$work/sums"
		printf '%-12s %-8s %s  %d s\n' "$name" "$architecture" "$sum" $((SECONDS - began))
		first=$(awk -F'\t' -v n="$name" '$1 == n { print $3; exit }' "$work/sums")
		case $sum in failed) failed=1 ;; "$first" | refused*) ;; *) failed=1 ;; esac
	done
	cd "$root"
done
[ -z "${json:-}" ] || python3 - "$json" "$work/sums" <<'END'
import json, sys, time
rows = {}
for line in open(sys.argv[2]):
    name, architecture, total = line.rstrip("\n").split("\t")
    rows.setdefault((name, total), []).append(architecture)
processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
json.dump({"processor": processor, "command": "make sums-architectures", "measured": time.strftime("%Y-%m-%d"),
           "conditions": "the CPU device, class fma; other processors than amd64 by qemu-user; the first digits of the sha256 of "
                         "the template, and of the logits", "columns": ["case", "architectures", "sha256"],
           "rows": [[name, ", ".join("`%s`" % a for a in of), total[:16] if ":" not in total else total] for (name, total), of in rows.items()]},
          open(sys.argv[1], "w"), indent=1)
END
[ $failed = 0 ] || { echo "the sums differ" >&2; exit 1; }
