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

// drawBoxes draws boxes with corners from 0 to 1.
function drawBoxes(draw, boxes) {
  const { width, height } = draw.canvas
  draw.lineWidth = 3
  draw.strokeStyle = '#e6007a'
  for (const { x1, y1, x2, y2 } of boxes) {
    draw.strokeRect(x1 * width, y1 * height, (x2 - x1) * width, (y2 - y1) * height)
  }
}
