#!/usr/bin/env python3
"""Write the packages of npm with Python's standard library alone.

npm.py --version 0.1.0 --licences FILE --output DIR SYSTEM=PROGRAM...

SYSTEM is linux-x64, linux-arm64, darwin-arm64 or win32-x64, as Node names it. Each has a package with the program
bnctl-SYSTEM, and the package bnctl has all of them of the same version as optional dependencies, of which npm installs
the one of its machine. Nothing runs at the installation. Equal input gives equal bytes.
"""

import argparse
import gzip
import io
import json
import os
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SYSTEMS = ("linux-x64", "linux-arm64", "darwin-arm64", "win32-x64")

LAUNCHER = r"""#!/usr/bin/env node
// Starts the program of this machine, which a package of its own has.
"use strict";
const { spawn } = require("node:child_process");
const system = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "bnctl.exe" : "bnctl";
let path;
try {
  path = require.resolve(`bnctl-${system}/bin/${program}`);
} catch {
  console.error(`bnctl: there is no package bnctl-${system}; install without --omit=optional, on one of SYSTEMS`);
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches both; the program decides when it ends.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (problem) => {
  console.error(`bnctl: ${path} does not start: ${problem.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});
""".replace("SYSTEMS", ", ".join(SYSTEMS))

README = """\
# bnctl

Train batch-normalised networks data-parallel on any mix of devices, and predict with the single template model that remains.

```
npx bnctl demo
```

The pages of the source describe it.
"""


def about(name, version, more):
    """Return a package.json."""
    fields = {"name": name, "version": version, "license": "Apache-2.0",
              "description": "Train batch-normalised networks on any devices with the same bits, and predict with them",
              "repository": {"type": "git", "url": "git+https://github.com/bnctl/bnctl.git"}}
    return (json.dumps({**fields, **more}, indent=2) + "\n").encode()


def write(path, files):
    """Write a package: the files, each with its bytes and whether it is a program."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, program in sorted(files):
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mtime, entry.mode = len(data), epoch, 0o755 if program else 0o644
            archive.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(packed.getvalue(), 6, mtime=0))
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--licences", required=True, help="a folder with the licences of each system: SYSTEM, or one file")
    parser.add_argument("--output", default=".", help="the folder to write to")
    parser.add_argument("programs", nargs="+", metavar="SYSTEM=PROGRAM")
    given = parser.parse_args()
    output = Path(given.output)
    output.mkdir(parents=True, exist_ok=True)
    licence = ("LICENSE", (ROOT / "LICENSE").read_bytes(), False)
    for pair in given.programs:
        system, _, program = pair.partition("=")
        if system not in SYSTEMS:
            raise SystemExit(f"npm: {system} is no system; want one of {', '.join(SYSTEMS)}")
        kind, processor = system.split("-")
        name = "bnctl.exe" if kind == "win32" else "bnctl"
        licences = Path(given.licences)
        licences = licences / system if licences.is_dir() else licences
        package = about(f"bnctl-{system}", given.version, {"os": [kind], "cpu": [processor], "files": ["bin", "LICENSES-OF-MODULES"]})
        write(output / f"bnctl-{system}-{given.version}.tgz",
              [("package.json", package, False), (f"bin/{name}", Path(program).read_bytes(), True), licence,
               ("LICENSES-OF-MODULES", licences.read_bytes(), False)])
    package = about("bnctl", given.version, {"bin": {"bnctl": "bin/bnctl.js"}, "engines": {"node": ">=16"}, "files": ["bin"],
                                             "optionalDependencies": {f"bnctl-{s}": given.version for s in SYSTEMS}})
    write(output / f"bnctl-{given.version}.tgz", [("package.json", package, False), ("bin/bnctl.js", LAUNCHER.encode(), True),
                                                  ("README.md", README.encode(), False), licence])


if __name__ == "__main__":
    main()
