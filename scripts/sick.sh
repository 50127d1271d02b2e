#!/usr/bin/env bash
# sick.sh BNCTL [FAULT...]: for each fault of scripts/sickdevice, a row of a table: how long the judge
# takes, the faults that it finds and the rule of the first, and what a training and a prediction
# beside the CPU device end with. "undisturbed": the model, or the prediction, has the outputs that
# come of the CPU device alone, in all digits, or beside the same device without a fault. (The file has another
# sum: the recipe in it names the kernel classes.) Where a device was lost meanwhile and comes back, the CPU
# device's share is another, and so are bits, since the two have not one class: then the same is trained on ref
# beside the sick device, which computes in class ref, and compared with ref alone.
set -euo pipefail
bnctl=$(realpath "$1")
shift
faults=("$@")
[ $# -gt 0 ] || faults=("" weights "row 64" class "borrowed class" absent count tensor "late tensor" NaN type shape
	"one more" "one less" "long name" describe sequence lane hang stall late panic prints leak)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bnctl-device-sick" ./scripts/sickdevice
cd "$work"
plugin=(--device-plugin ./bnctl-device-sick --allow-unlocked)
ulimit -v 16000000 # limits the device that leaks memory
train() { # OUT DEVICES [FLAG...]
	"$bnctl" train --model mlp-bn --data glyphs:512 --batch 128 --replicas 4 --epochs 3 --lr 0.05 \
		--class-weights 1,2,1,1,1,1,1,1,1,3 -o "$1" --overwrite --device-timeout 5 --devices "${@:2}"
}
predict() { # DEVICES [FLAG...]
	"$bnctl" predict well.bnm glyphs:200 --devices "$@"
}
beside_ref() { # whether a device was lost and the template of one class is the undisturbed one
	grep -q 'device sick lost' train.err || return 0
	BNCTL_SICK='' train ref.bnm ref >/dev/null 2>&1
	BNCTL_SICK_KERNELS=ref train one.bnm ref,sick "${plugin[@]}" >/dev/null 2>one.err || true
	cmp -s ref.bnm one.bnm && echo " of another placement; beside ref undisturbed" || echo "; beside ref $(short one.err)"
	rm -f one.bnm
}
outputs() { "$bnctl" predict "$1" glyphs:50 --devices cpu --json 2>/dev/null; }
short() { tail -1 "$1" | cut -c 1-200 | tr '|' '/'; }
train well.bnm cpu >/dev/null 2>&1
predict cpu >well.txt 2>/dev/null
BNCTL_SICK= train both.bnm cpu,sick "${plugin[@]}" >/dev/null 2>&1
BNCTL_SICK= predict cpu,sick "${plugin[@]}" >both.txt 2>/dev/null
echo "| fault | judge | its faults and the first rule | training beside cpu | prediction beside cpu |"
echo "|---|---|---|---|---|"
for fault in "${faults[@]}"; do
	export BNCTL_SICK=$fault
	began=$(date +%s.%N)
	"$bnctl" plugin test ./bnctl-device-sick --level stream/1 >judge.txt 2>judge.err || true
	took=$(echo "$(date +%s.%N) - $began" | bc)
	found=$(grep -c FAULT judge.txt || true)
	rule=$(grep -m 1 'rule:' judge.txt | sed 's/ *rule: //' | cut -c 1-160 || true)
	rc=0
	train out.bnm cpu,sick "${plugin[@]}" >train.txt 2>train.err || rc=$?
	trained="exit $rc: $(short train.err)"
	if [ $rc = 0 ]; then
		case $(outputs out.bnm) in
		"$(outputs well.bnm)" | "$(outputs both.bnm)") trained=undisturbed ;;
		*) trained="another template$(beside_ref)" ;;
		esac
		trained="$trained; $(grep -m 1 'lost' train.err | cut -c 1-160 || echo 'no device lost')"
	fi
	rc=0
	predict cpu,sick "${plugin[@]}" >out.txt 2>predict.err || rc=$?
	predicted="exit $rc: $(short predict.err)"
	if [ $rc = 0 ]; then
		cmp -s out.txt well.txt || cmp -s out.txt both.txt && predicted=undisturbed || predicted="other outputs"
		predicted="$predicted; $(grep -m 1 'lost' predict.err | cut -c 1-160 || echo 'no device lost')"
	fi
	printf '| %s | %.0f s | %s: %s | %s | %s |\n' "${fault:-none}" "$took" "$found" "${rule:-}" "$trained" "$predicted"
	rm -f out.bnm
done
