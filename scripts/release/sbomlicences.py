"""sbomlicences.py LICENSES-OF-MODULES <SBOM: adds the licences of modules, as SPDX identifiers, to an SBOM in CycloneDX.

The identifiers are those of the texts in LICENSES-OF-MODULES (licences.sh): every licence that a text has counts, but
those of documents alone (LICENSE.docs). A module without a text, or with one that is not known here, ends in an error.
"""
import json
import re
import sys

SIGNS = [  # phrases of a licence, without line breaks and spaces at once
    ("Apache-2.0", ["Apache License", "Version 2.0"]),
    ("MPL-2.0", ["Mozilla Public License", "2.0"]),
    ("MIT", ["Permission is hereby granted, free of charge, to any person obtaining a copy"]),
    ("BSD-3-Clause", ["Redistribution and use in source and binary forms", "Neither the name"]),
    ("BSD-2-Clause", ["Redistribution and use in source and binary forms"]),
]


def identifiers(text):
    """identifiers returns the SPDX identifiers of the licences in a text."""
    text = re.sub(r"[\s#*/]+", " ", text)
    found = [name for name, phrases in SIGNS if all(p.lower() in text.lower() for p in phrases)]
    if "BSD-3-Clause" in found:
        found.remove("BSD-2-Clause")
    return found


def licences(path):
    """licences returns the SPDX identifiers by module and version."""
    found, of = {}, None
    for part in re.split(r"(?m)^== (.*)$", open(path, encoding="utf-8").read())[1:]:
        if of is None:
            of = part
            continue
        module, _, file = of.partition(": ")
        of = None
        if module == "Go, its standard library":
            module = "std"
        if file.startswith("NOTICE") or file.endswith(".docs"):
            continue
        names = identifiers(part)
        if not names:
            raise SystemExit(f"sbomlicences: {module}: {file} is a licence that scripts/release/sbomlicences.py does not know; add it there")
        found.setdefault(module, []).extend(names)
    return found


def main():
    sbom, known = json.load(sys.stdin), licences(sys.argv[1])
    sbom["metadata"]["component"]["licenses"] = [{"license": {"id": "Apache-2.0"}}]  # the file LICENSE
    for c in sbom["components"]:
        of = "std" if c["name"] == "std" else f"{c['name']} {c['version']}"
        if of not in known:
            raise SystemExit(f"sbomlicences: {of} has no licence in {sys.argv[1]}")
        names = sorted(set(known[of]))
        c["licenses"] = [{"license": {"id": names[0]}}] if len(names) == 1 else [{"expression": " AND ".join(names)}]
    json.dump(sbom, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
