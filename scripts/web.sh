#!/bin/sh
# web.sh: installs what `make test-web` needs, as far as it is missing: Chromium from
# Debian, playwright-core and axe-core from npm. Prints what NODE_PATH has to be;
# nothing is written into the checkout.
set -e
dir=${WEB_DIR:-$HOME/.cache/bnctl-web}
missing=
command -v chromium >/dev/null || missing="chromium fonts-dejavu-core"
command -v npm >/dev/null || missing="$missing npm"
if [ -n "$missing" ]; then
	echo "web: installing $missing" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; } >&2
fi
if [ ! -d "$dir/node_modules/axe-core" ]; then
	echo "web: installing playwright-core and axe-core into $dir" >&2
	mkdir -p "$dir"
	(cd "$dir" && npm init -y && npm install --ignore-scripts playwright-core@1.65.1 axe-core@4.14.1) >&2
fi
echo "$dir/node_modules"
