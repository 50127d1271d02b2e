#!/usr/bin/env python3
"""Prints the figures of BCCD that TestBCCD compares: python3 bccd.py bccd.tar.gz"""
import collections, sys, tarfile
import xml.etree.ElementTree as ET

figures, boxes, pictures = collections.Counter(), collections.Counter(), collections.Counter()
with tarfile.open(sys.argv[1]) as archive:
    for member in archive:
        if not member.name.endswith(".xml"):
            continue
        root = ET.parse(archive.extractfile(member)).getroot()
        width, height = (int(root.find("size/" + side).text) for side in ("width", "height"))
        seen, classes = collections.Counter(), set()
        figures["pictures"] += 1
        for o in root.findall("object"):
            name = o.find("name").text
            x1, y1, x2, y2 = (int(o.find("bndbox/" + c).text) for c in ("xmin", "ymin", "xmax", "ymax"))
            area = (x2 - x1 + 1) * (y2 - y1 + 1)
            figures["boxes"] += 1
            figures["area"] += area
            figures["empty"] += area == 0
            figures["outside"] += x1 < 1 or y1 < 1 or x2 > width or y2 > height
            figures["small"] += area < 32 * 32
            figures["medium"] += 32 * 32 <= area < 96 * 96
            figures["duplicates"] += seen[name, x1, y1, x2, y2] > 0
            seen[name, x1, y1, x2, y2] += 1
            boxes[name] += 1
            classes.add(name)
        pictures.update(classes)
        figures["without"] += not seen
print(dict(figures), dict(boxes), dict(pictures))
