#!/usr/bin/env python3
"""Build wheels with Python's standard library alone.

wheel.py --version 0.1.0 --platform manylinux_2_17_x86_64 --licences FILE --output DIR PROGRAM...

The wheel is py3-none-PLATFORM: the package of python/bnctl, and the programs as scripts, which pip
puts on the PATH of the environment. Equal input gives equal bytes: files are sorted, and their time
is SOURCE_DATE_EPOCH, or 1980.
"""

import argparse
import base64
import hashlib
import os
import re
import stat
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

METADATA = """\
Metadata-Version: 2.1
Name: bnctl
Version: {version}
Summary: Train batch-normalised networks on any devices with the same bits, and predict with them
Author: The authors of bnctl
License: Apache-2.0
License-File: LICENSE
License-File: LICENSES-OF-MODULES
Project-URL: Source, https://github.com/bnctl/bnctl
Project-URL: Documentation, https://github.com/bnctl/bnctl/blob/main/docs/python.md
Keywords: machine-learning,batch-normalization,inference,reproducibility
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Framework :: Pytest
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Programming Language :: Go
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Programming Language :: Python :: 3.9
Classifier: Programming Language :: Python :: 3.11
Classifier: Programming Language :: Python :: 3.13
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy>=1.20
Provides-Extra: pictures
Requires-Dist: Pillow; extra == "pictures"
Provides-Extra: torch
Requires-Dist: torch>=1.13; extra == "torch"
Provides-Extra: test
Requires-Dist: pytest; extra == "test"
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: bnctl (python/wheel.py)
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""

ENTRY_POINTS = "[pytest11]\nbnctl = bnctl.pytest_plugin\n"


def version_of(text):
    """Return a version as PEP 440 has it: 0.1.0 for v0.1.0, and 0.1+dirty for others."""
    found = re.match(r"v?(\d+(?:\.\d+)*)(?:-rc\.?(\d+))?(.*)$", text)
    if not found:
        raise SystemExit(f"wheel: {text!r} is no version; want for example 0.1.0")
    number, candidate, rest = found.groups()
    local = ".".join(re.findall(r"[a-z0-9]+", rest.lower()))
    return number + (f"rc{candidate}" if candidate else "") + (f"+{local}" if local else "")


def members(version, platform, licences, programs):
    """Return the files of a wheel: name, bytes, and whether each is a program. RECORD is not among them."""
    info = f"bnctl-{version}.dist-info"
    files = []
    for path in sorted((HERE / "bnctl").rglob("*")):
        if path.suffix in (".py", ".typed"):
            files.append((path.relative_to(HERE).as_posix(), path.read_bytes(), False))
    for path in programs:
        files.append((f"bnctl-{version}.data/scripts/{Path(path).name}", Path(path).read_bytes(), True))
    metadata = METADATA.format(version=version, description=(HERE / "README.md").read_text("utf-8"))
    for name, text in [("METADATA", metadata), ("WHEEL", WHEEL.format(platform=platform)),
                       ("entry_points.txt", ENTRY_POINTS)]:
        files.append((f"{info}/{name}", text.encode(), False))
    files.append((f"{info}/licenses/LICENSE", (HERE.parent / "LICENSE").read_bytes(), False))
    files.append((f"{info}/licenses/LICENSES-OF-MODULES", Path(licences).read_bytes(), False))
    return files


def record(files, name):
    """Return the text of RECORD."""
    lines = []
    for file, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{file},sha256={digest},{len(data)}")
    return "\n".join(lines + [f"{name},,"]) + "\n"


def write(path, files):
    """Write the archive."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
    moment = time.gmtime(max(epoch, 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data, program in files:
            entry = zipfile.ZipInfo(name, moment)
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | (0o755 if program else 0o644)) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--platform", required=True, help="manylinux_2_17_x86_64, musllinux_1_2_aarch64 ...")
    parser.add_argument("--licences", required=True, help="the licences of the programs' modules")
    parser.add_argument("--output", default=".", help="the folder to write to")
    parser.add_argument("programs", nargs="+")
    given = parser.parse_args()
    version = version_of(given.version)
    files = members(version, given.platform, given.licences, given.programs)
    name = f"bnctl-{version}.dist-info/RECORD"
    files.append((name, record(files, name).encode(), False))
    Path(given.output).mkdir(parents=True, exist_ok=True)
    path = Path(given.output) / f"bnctl-{version}-py3-none-{given.platform}.whl"
    write(path, files)
    print(path)


if __name__ == "__main__":
    main()
