#!/usr/bin/env bash
# view.sh BNCTL FOLDER: shows a run in tmux at 80x24, 200x50, 60 columns and resized in mid-run, and wants of
# each screen what it must have: whole rows, no row twice, nothing left of a size before, and that it is the one of
# scripts/view but for numbers, times and the lengths of bars. Keeps the screens in FOLDER; KEEP=1 keeps those of scripts/view.
set -eu
here=$(dirname "$(realpath "$0")")
bnctl=$(realpath "$1") out=$2
mkdir -p "$out"
work=$(mktemp -d)
export LANG=C.UTF-8 LC_ALL=C.UTF-8
server=bnctl-view-$$-0
tm() { tmux -L "$server" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null || true; for _ in 1 2 3 4 5; do rm -rf "$work" 2>/dev/null && break; sleep 2; done' EXIT # a run saves as it ends
bad=0

# screen NAME: captures the screen, and looks at it.
screen() {
	for _ in 1 2 3 4 5; do # a row may be left out for a second: a terminal gets 4 KB/s at most
		tm capture-pane -p -t run >"$out/$1.txt"
		normal <"$out/$1.txt" | cmp -s "$here/view/$1.txt" - && break
		sleep 1.1
	done
	for text in 'where time goes' '^loss ' '^accuracy ' '^epoch [0-9]* of' '^run '; do
		n=$(grep -c "$text" "$out/$1.txt" || true)
		[ "$n" = 1 ] || { echo "view: $1: '$text' is there $n times, want once"; bad=1; }
	done
	golden=$here/view/$1.txt
	[ -z "${KEEP:-}" ] || normal <"$out/$1.txt" >"$golden"
	normal <"$out/$1.txt" | diff "$golden" - || { echo "view: $1: the screen is not that of $golden"; bad=1; }
}

# normal leaves of a screen what does not change from second to second: the view without numbers, times and the
# lengths of bars and curves; of the lines above it nothing.
normal() {
	sed -n '/^mlp-bn [^,0-9]*, /,$p' | sed -E 's/[0-9]+(h[0-9]+)?m[0-9]+s|[0-9]+:[0-9:]+|[0-9]+([.,][0-9]+)*/0/g; s/ +/ /g; s/ $//; /^$/d
		s/(·|-) [a-z0-9]+ f0/\1 kernels f0/; s/[ ━─█▁▂▃▄▅▆▇#=*+_.~-]+$//; /^$/d; s/^(epoch 0 of 0) .*/\1/; s/^(run) .*/\1/; s/^(cpu(:0)? 0 replicas) .*/\1/; s/^(loss|accuracy|rate) .* (val|lr) /\1 \2 /'
}

# start COLUMNS ROWS LANG: begins a run, with a view in any case.
start() {
	tm kill-server 2>/dev/null || true
	server=bnctl-view-$$-$1-$3 # the last may not be gone yet
	tm new-session -d -s run -x "$1" -y "$2" "cd $work && env CI= LC_ALL=$3 $bnctl train --view --model mlp-bn --data glyphs:2000 \
		--val glyphs:200 --epochs 100000 --batch 20 --devices 2xcpu --threads 1 -o $work/a$RANDOM.bnm; echo EXIT \$?; stty -a; sleep 60"
	wanted 'val [0-9]'
}

# wanted TEXT: waits until it is on the screen.
wanted() {
	for _ in $(seq 300); do
		tm capture-pane -p -t run | grep -q "$1" && return
		sleep 0.2
	done
	echo "view: no '$1' in a minute"; bad=1
}

# suspended: stops a run by Ctrl-Z in a shell, and goes on: the view is there once more, below what the shell says.
suspended() {
	tm kill-server 2>/dev/null || true
	server=bnctl-view-$$-suspended
	tm new-session -d -s run -x 100 -y 60 "cd $work && env CI= PS1='> ' bash --norc -i"
	tm send-keys -t run "$bnctl train --view --model mlp-bn --data glyphs:2000 --val glyphs:200 --epochs 100000 --batch 20 --threads 1 -o suspended.bnm" Enter
	wanted 'val [0-9]'; tm send-keys -t run C-z; wanted 'Stopped'
	tm send-keys -t run 'clear; fg' Enter; sleep 4
	screen continued
	tm send-keys -t run C-c; sleep 4
}

start 80 24 C.UTF-8
screen 80x24
tm resize-window -t run -x 60 -y 24; sleep 2.5
screen resized-60x24
tm resize-window -t run -x 120 -y 40; sleep 2.5
screen resized-120x40
tm send-keys -t run C-c; sleep 4
tm capture-pane -p -t run >"$out/stopped.txt"
grep -q 'EXIT 130' "$out/stopped.txt" || { echo "view: Ctrl-C: no EXIT 130"; bad=1; }
grep -q 'where time goes' "$out/stopped.txt" && { echo "view: it is left after the end"; bad=1; }
grep -q ' echo ' "$out/stopped.txt" || { echo "view: the terminal echoes no more"; bad=1; }
suspended
start 200 50 C.UTF-8; screen 200x50
start 60 30 C.UTF-8; screen 60x30
start 80 24 C; screen plain
grep -q '[━█▁]' "$out/plain.txt" && { echo "view: plain: there are characters that LANG=C does not have"; bad=1; }
[ $bad = 0 ] && echo "view: $(ls "$out" | wc -l) screens are in $out"
exit $bad
