'use strict'
// drawMask paints each class but 0 over the picture.
function drawMask(draw, mask) {
  const layer = new OffscreenCanvas(mask.width, mask.height)
  const image = new ImageData(mask.width, mask.height)
  mask.pixels.forEach((c, i) => {
    const hue = c * 2.399963 // the golden angle
    const at = [128 + 127 * Math.cos(hue), 128 + 127 * Math.cos(hue - 2.094), 128 + 127 * Math.cos(hue + 2.094), c ? 140 : 0]
    image.data.set(at, 4 * i)
  })
  layer.getContext('2d').putImageData(image, 0, 0)
  draw.drawImage(layer, 0, 0, draw.canvas.width, draw.canvas.height)
}

// drawBoxes draws outputs of detectors with boxes [N,4], corners from 0 to 1, and scores [N,C] with the
// background first.
function drawBoxes(draw, outputs) {
  const floats = (o) => new Float32Array(o.bytes.slice().buffer)
  const boxes = outputs.find((o) => o.shape.length === 2 && o.shape[1] === 4 && /box/i.test(o.name))
  const scores = boxes && outputs.find((o) => o !== boxes && o.shape.length === 2 && o.shape[0] === boxes.shape[0])
  if (!scores) return
  const at = floats(boxes), of = floats(scores), classes = scores.shape[1]
  const found = []
  for (let i = 0; i < boxes.shape[0]; i++) {
    for (let c = 1; c < classes; c++) {
      if (of[i * classes + c] > 0.5) found.push({ score: of[i * classes + c], box: at.slice(4 * i, 4 * i + 4), c })
    }
  }
  found.sort((a, b) => b.score - a.score)
  const kept = []
  for (const f of found) {
    if (kept.every((k) => k.c !== f.c || overlap(k.box, f.box) < 0.5)) kept.push(f)
  }
  draw.lineWidth = 3
  draw.strokeStyle = '#e6007a'
  for (const { box: [x0, y0, x1, y1] } of kept) {
    const { width, height } = draw.canvas
    draw.strokeRect(x0 * width, y0 * height, (x1 - x0) * width, (y1 - y0) * height)
  }
  globalThis.bnctlBoxes = kept.length // for tests
}

// overlap is the intersection of two boxes over their union.
function overlap(a, b) {
  const w = Math.min(a[2], b[2]) - Math.max(a[0], b[0]), h = Math.min(a[3], b[3]) - Math.max(a[1], b[1])
  const both = Math.max(w, 0) * Math.max(h, 0)
  const area = (c) => (c[2] - c[0]) * (c[3] - c[1])
  return both / (area(a) + area(b) - both)
}
