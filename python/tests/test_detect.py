"""Boxes of a detector are those of bnctl predict."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import Any, List

import numpy as np
import pytest

import bnctl
from bnctl import _binary, _data


def scene(seed: int, height: int, width: int) -> Any:
    """A grey picture with a bright block, whose corners follow."""
    draw = np.random.default_rng(seed)
    x1, y1 = int(draw.integers(0, width // 2)), int(draw.integers(0, height // 2))
    x2, y2 = x1 + width // 3, y1 + height // 3
    pixels = np.full((height, width, 3), 20, np.uint8)
    pixels[y1:y2, x1:x2] = 220
    return pixels, (x1, y1, x2 - x1, y2 - y1)


@pytest.fixture(scope="module")
def detector(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("detector")
    images, boxes = [], []
    for i in range(3):
        pixels, box = scene(i, 60, 80)
        (folder / f"{i}.png").write_bytes(_data.png(pixels))
        images.append({"id": i, "file_name": f"{i}.png", "width": 80, "height": 60})
        boxes.append({"id": i, "image_id": i, "category_id": 1, "bbox": box})
    (folder / "train.json").write_text(json.dumps(
        {"images": images, "categories": [{"id": 1, "name": "block"}], "annotations": boxes}))
    subprocess.run([_binary.find(), "train", "--quiet", "--model", "yolox-nano", "--size", "64x64", "--data", "coco:train.json",
                    "--batch", "3", "--steps", "2", "-o", "detector.bnm"], check=True, capture_output=True, cwd=folder)
    return str(folder / "detector.bnm")


def said(model: str, path: str, *flags: str) -> Any:
    out = subprocess.run([_binary.find(), "predict", model, path, "--json", "--quiet", *flags], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def flat(boxes: List[bnctl.Box]) -> Any:
    return [{"label": b.label, "index": b.index, "score": b.score, "box": list(b.corners)} for b in boxes]


def test_boxes_of_predict(detector: str) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels, _ = scene(9, 50, 120)  # a picture of another size than the model's
    Path("a.png").write_bytes(_data.png(pixels))
    want = said(detector, "a.png", "--box-score", "0")
    assert len(want["boxes"]) > 1
    with bnctl.Model(detector, threads=1) as model:
        for x in ("a.png", Path("a.png"), Path("a.png").read_bytes(), pixels, image.open("a.png")):
            found = model.detect(x, score=0)
            assert isinstance(found, bnctl.Detection)
            assert flat(found.boxes) == want["boxes"] and (found.width, found.height) == (120, 50)
        few = model.detect("a.png")
        assert isinstance(few, bnctl.Detection) and flat(few.boxes) == said(detector, "a.png")["boxes"]
        several = model.detect(np.stack([pixels, pixels]), score=0)
        assert isinstance(several, list) and [flat(d.boxes) for d in several] == [want["boxes"]] * 2
        fits = model.detect(scene(9, 64, 64)[0])  # a picture of the model's size
        assert isinstance(fits, bnctl.Detection) and (fits.width, fits.height) == (64, 64)
        assert model.detect(np.stack([pixels])[:0]) == []


def test_draw(detector: str) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels, _ = scene(9, 50, 120)
    file = io.BytesIO()
    upright = image.fromarray(pixels).convert("RGB")
    exif = image.Exif()
    exif[0x0112] = 6  # it lies on its side
    upright.rotate(90, expand=True).save(file, "PNG", exif=exif)
    with bnctl.Model(detector, threads=1) as model:
        for x in (pixels, file.getvalue()):
            found = model.detect(x, score=0)
            assert isinstance(found, bnctl.Detection)
            drawn = np.asarray(found.draw())
            assert drawn.shape == (found.height, found.width, 3) and drawn.tobytes() != pixels.tobytes()
            x1, y1 = (int(v) for v in found.boxes[0].corners[:2])
            assert tuple(drawn[y1, x1]) == (0xd6, 0x27, 0x28)  # the colour of the first class
        assert "block" in found._repr_html_()
    with pytest.raises(bnctl.AnswerError, match="call Model.detect"):
        bnctl.Model(detector).predict(pixels).boxes


def test_no_detector(model: bnctl.Model, numbers: str, pictures: Any) -> None:
    with pytest.raises(bnctl.InputError, match="predicts no boxes"):
        model.detect(pictures[0])
    with bnctl.Model(numbers, threads=1) as other, pytest.raises(bnctl.InputError, match="accepts no pictures"):
        other.detect(np.zeros((1, 3, 8, 8), np.float32))


def test_limits(detector: str, pictures: Any) -> None:
    with bnctl.Model(detector, threads=1) as model, pytest.raises(bnctl.InputError, match="score .*from 0 to 1"):
        model.detect(scene(1, 40, 40)[0], score=2)
