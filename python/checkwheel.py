#!/usr/bin/env python3
"""Check the structure of wheels, of systems that are not here too: checkwheel.py WHEEL..."""

import base64
import csv
import email.parser
import hashlib
import io
import re
import struct
import sys
import zipfile
from pathlib import Path

FORMATS = {"manylinux_2_17_x86_64": ("elf", 62), "musllinux_1_2_x86_64": ("elf", 62), "manylinux_2_17_aarch64": ("elf", 183),
           "musllinux_1_2_aarch64": ("elf", 183), "macosx_12_0_arm64": ("macho", 0x0100000C), "win_amd64": ("pe", 0x8664)}


def format_of(data):
    """Return the format and the machine of a program."""
    if data[:4] == b"\x7fELF":
        return "elf", struct.unpack_from("<H", data, 18)[0]
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return "macho", struct.unpack_from("<I", data, 4)[0]
    if data[:2] == b"MZ":
        at = struct.unpack_from("<I", data, 60)[0]
        return "pe", struct.unpack_from("<H", data, at + 4)[0]
    return "unknown", 0


def interpreter(data):
    """Return the loader that an ELF program needs, or None if it is static."""
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind == 3:
            return data[at:at + length - 1].decode()
    return None


def faults(path):
    """Yield a sentence for each fault of a wheel."""
    name, version, python, abi, platform = Path(path).name[:-len(".whl")].split("-")
    if (name, python, abi) != ("bnctl", "py3", "none") or platform not in FORMATS:
        yield f"the name {Path(path).name} is not bnctl-VERSION-py3-none-PLATFORM.whl"
        return
    archive = zipfile.ZipFile(path)
    info = f"bnctl-{version}.dist-info"
    files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    yield from of_record(files, info)
    metadata = email.parser.Parser().parsestr(files[f"{info}/METADATA"].decode())
    for field, want in [("Name", "bnctl"), ("Version", version), ("Metadata-Version", "2.1"), ("License", "Apache-2.0"),
                        ("Requires-Python", ">=3.9"), ("Description-Content-Type", "text/markdown")]:
        if metadata[field] != want:
            yield f"METADATA has {field}: {metadata[field]}, want {want}"
    if not metadata["Summary"] or len(metadata.get_payload()) < 200:
        yield "METADATA has no summary or description"
    if "numpy>=1.20" not in metadata.get_all("Requires-Dist"):
        yield "METADATA does not require numpy"
    for licence in metadata.get_all("License-File"):
        if len(files.get(f"{info}/licenses/{licence}", b"")) < 1000:
            yield f"the licence {licence} is missing"
    if f"Tag: py3-none-{platform}\n".encode() not in files[f"{info}/WHEEL"]:
        yield "WHEEL has another tag than the name"
    if files[f"{info}/entry_points.txt"] != b"[pytest11]\nbnctl = bnctl.pytest_plugin\n":
        yield "entry_points.txt lacks the plugin of pytest"
    for needed in ("bnctl/__init__.py", "bnctl/py.typed", "bnctl/pytest_plugin.py"):
        if needed not in files:
            yield f"{needed} is missing"
    yield from of_programs(archive, files, version, platform)


def of_record(files, info):
    """Yield the faults of RECORD."""
    rows = list(csv.reader(io.StringIO(files[f"{info}/RECORD"].decode())))
    if sorted(r[0] for r in rows) != sorted(files):
        yield "RECORD does not list all files, and each once"
    for name, digest, size in rows:
        if name == f"{info}/RECORD":
            continue
        data = files.get(name, b"")
        want = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if (digest, size) != (want, str(len(data))):
            yield f"RECORD has another sum or size of {name}"
    if list(files)[-1] != f"{info}/RECORD":
        yield "RECORD is not the last file"


def of_programs(archive, files, version, platform):
    """Yield the faults of the programs."""
    scripts = f"bnctl-{version}.data/scripts/"
    programs = {name[len(scripts):]: data for name, data in files.items() if name.startswith(scripts)}
    suffix = ".exe" if platform == "win_amd64" else ""
    want = {"bnctl" + suffix}
    if not platform.startswith("musllinux"):
        want |= {"bnctl-device-cuda" + suffix, "bnctl-device-opencl" + suffix}
    if platform.startswith("manylinux"):
        want.add("bnctl-fabric-mpi")
    if set(programs) != want:
        yield f"the programs are {sorted(programs)}, want {sorted(want)}"
    for name, data in programs.items():
        if format_of(data) != FORMATS[platform]:
            yield f"{name} is {format_of(data)}, want {FORMATS[platform]}"
        if archive.getinfo(scripts + name).external_attr >> 16 != 0o100755:
            yield f"{name} is not executable"
        if platform.startswith("musllinux") and interpreter(data):
            yield f"{name} needs {interpreter(data)}, which musl does not have"
        if platform.startswith("manylinux"):
            for wanted in set(re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", data)):
                if int(wanted) > 17:
                    yield f"{name} needs glibc 2.{int(wanted)}, above 2.17"


def main():
    bad = False
    for path in sys.argv[1:]:
        for fault in faults(path):
            print(f"{path}: {fault}")
            bad = True
    if not bad:
        print(f"{len(sys.argv) - 1} wheels are as they should be")
    return bad


if __name__ == "__main__":
    sys.exit(main())
