#!/usr/bin/env bash
# goldens.sh BNCTL FOLDER: what a release writes, to be kept: a template, a checkpoint in the middle of its training, and
# answers. TestFilesOfReleases (cmd/bnctl) reads them with every later release.
set -euo pipefail
bnctl=$(realpath "$1")
mkdir -p "$2" && cd "$2"
cat >tiny.graph <<'G'
bnctl graph 1
graph "tiny"

state conv.weight f32[4,1,3,3] weight he_normal(0)
state bn.weight f32[4] gamma ones
state bn.bias f32[4] beta zeros
state bn.running_mean f32[4] mean zeros
state bn.running_var f32[4] variance ones
state fc.weight f32[10,4] weight he_normal(0)
state fc.bias f32[10] bias zeros

func main(x rows u8[28,28,1]) {
  image = image(x, mean=[0.1307], std=[0.3081])
  conv = conv(image, @conv.weight, stride=[2,2])
  bn = batch_norm(conv, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  relu = relu(bn)
  mean = global_avg_pool(relu)
  flat = reshape(mean, shape=[4])
  fc = dense(flat, @fc.weight, @fc.bias)
  return logits rows = fc
}
G
"$bnctl" train --quiet --overwrite --model tiny.graph --data glyphs:2000 --batch 32 --replicas 4 --epochs 8 --checkpoint-every 1 \
	--devices cpu -o tiny.bnm >/dev/null &
until [ -s tiny.bnc ]; do sleep 0.05; done
kill -TERM $!
wait $! || [ $? = 143 ]
cp tiny.bnc middle.bnc
"$bnctl" train --quiet --resume tiny.bnc --devices cpu -o tiny.bnm >/dev/null
"$bnctl" predict tiny.bnm glyphs:8 --logits --format csv >answers.csv
rm tiny.bnc
