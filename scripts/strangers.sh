#!/usr/bin/env bash
# strangers.sh BNCTL FOLDER: ten networks of PyTorch's users (peers/strangers.py), by PyTorch 1.13 and, as root, by the
# 2.6 of Debian 13: exported to ONNX as it keeps batch norms and in the form of training, and through models draft;
# trained 20 steps, stripped, exported, and loaded by load_state_dict(strict=True). The draft's wiring is that of
# the ONNX graph. Prints a JSON line for each, and ends with 1 if outputs differ by more than 1e-5.
set -euo pipefail
BNCTL=$(realpath "$1") FOLDER=$2
here=$(cd "$(dirname "$0")" && pwd)
export OMP_NUM_THREADS=1
way() { # way NAME END: one network by one way
	local n=$1 e=$2 src=$1$2.onnx more=() input=3,16,16
	[ "$n" = one-d ] && input=4,32
	if [ "$e" = .draft ]; then
		"$BNCTL" models draft "$n.pth" --input "$input" -o "$n.drafted.graph" --quiet
		{ sed '/^func main/,$d' "$n.drafted.graph"; "$BNCTL" inspect "$n.onnx" --text --quiet | sed -n '/^func main/,$p'; } >"$n.draft.graph"
		src=$n.draft.graph more=(--init "$n.pth")
	fi
	[ "$n" = two-heads ] && more+=(--freeze 'where.*')
	"$BNCTL" train --model "$src" "${more[@]}" --data "npy:$n.x.npy,$n.y.npy" --steps 20 --batch 16 --replicas 2 --quiet \
		--overwrite -o "$n$e.bnm" >/dev/null
	"$BNCTL" strip "$n$e.bnc" -o "$n$e.clean.bnm" --quiet >/dev/null
	"$BNCTL" export "$n$e.clean.bnm" -o "$n$e.back.pth" --quiet >/dev/null
	"$BNCTL" predict "$n$e.clean.bnm" "$n.x.npy" --logits --format npy -o "$n$e.out.npy" --quiet
}
all() { # all FOLDER PYTHON...: every network, with a PyTorch, for which FOLDER is its last argument
	cd "$1"
	"${@:2}" make >&2
	for n in resnet vgg mobilenet densenet squeeze-excite unet groups dropout two-heads one-d; do
		for e in "" .training .draft; do
			way $n "$e" || echo "strangers: $n$e" >&2
		done
		[ $n = densenet ] && continue # its batch norms stand in front of convolutions: none can be folded
		"$BNCTL" train --model $n.folded.onnx --data npy:$n.x.npy,$n.y.npy --steps 1 --batch 16 --replicas 2 --overwrite \
			-o folded.bnm >/dev/null 2>folded.log || true
		grep -q 'batch norms are folded\|its exporter folded them\|does not influence' folded.log ||
			{ echo "strangers: of $n.folded.onnx nothing is said" >&2 && cat folded.log >&2; }
	done
	"${@:2}" check
}
mkdir -p "$FOLDER/1.13" "$FOLDER/2.6"
FOLDER=$(realpath "$FOLDER") wrong=0
(all "$FOLDER/1.13" /usr/bin/python3 "$here/peers/strangers.py" .) || wrong=1
debian=$(sh "$here/debian13.sh")
if [ -n "$debian" ]; then
	export MODELS=$FOLDER/2.6
	(all "$FOLDER/2.6" sh "$here/enter.sh" "$debian" python3 /peers/strangers.py /models) || wrong=1
fi
exit $wrong
