#!/usr/bin/env bash
# newuser.sh BNCTL CIFAR [FOLDER]: the first hour of a user with photos, and the time of each step. The photos
# are five classes of 300, 150, 80, 40 and 20 pictures of CIFAR, an archive of train/CLASS/*.jpg and
# test/CLASS/*.jpg, in a folder for each class; held out are 100 of each, which no step but the evaluation of
# them sees. SEED, EPOCHS and MODEL change the training.
set -euo pipefail
BNCTL=$(realpath "$1") CIFAR=$(realpath "$2") FOLDER=${3:-$(mktemp -d)}
SEED=${SEED:-0} EPOCHS=${EPOCHS:-40} MODEL=${MODEL:-resnet20}
mkdir -p "$FOLDER" && cd "$FOLDER"
step() { # step NAME COMMAND...: its output, and the seconds that it took
	local name=$1 began=$EPOCHREALTIME
	shift
	echo "== $*"
	"$@"
	awk -v a="$began" -v b="$EPOCHREALTIME" -v n="$name" 'BEGIN { printf "-- %s: %.1f s\n", n, b - a }'
}
list=$(tar tzf "$CIFAR" | sort)
for pick in airplane:300 cat:150 ship:80 horse:40 frog:20; do
	grep "train/${pick%:*}/.*jpg$" <<<"$list" | sed -n "1,${pick#*:}p"
	grep "test/${pick%:*}/.*jpg$" <<<"$list" | sed -n 1,100p
done >names.txt
tar xzf "$CIFAR" -T names.txt
root=$(dirname "$(dirname "$(dirname "$(head -1 names.txt)")")")
rm -rf photos held && mv "$root/train" photos && mv "$root/test" held

step look "$BNCTL" data info folder:photos
step train "$BNCTL" train --preset photos --model "$MODEL" --size 32x32 --data folder:photos --epochs "$EPOCHS" --seed "$SEED" \
	-o photos.bnm --overwrite
rm -rf wrong
step mistakes "$BNCTL" eval photos.bnm --data folder:photos@val --mistakes wrong
step held-out "$BNCTL" eval photos.bnm --data folder:held
answers() { "$BNCTL" predict photos.bnm held/cat --top 1 --format csv >predicted.csv; }
step predict answers
"$BNCTL" serve photos.bnm --http 127.0.0.1:18080 2>serve.log &
trap 'kill $!' EXIT
answer() {
	curl -sf --retry 30 --retry-delay 1 --retry-all-errors --data-binary @"$(find held/ship -name '*.jpg' | sort | head -1)" \
		http://127.0.0.1:18080/v2/models/photos/classify && echo
}
step serve answer
