// predictpage.js opens the page of make page from its file in headless Chromium, without a network. It loads
// templates and predicts a picture: by file, by drop, by a canvas and by the camera. The outputs have the
// sums of bnctl predict, which the list contains. The camera's picture is written for the caller, with its sum.
//
//   node predictpage.js PAGE NETWORKS.json CAMERA.json
'use strict'
const assert = require('node:assert')
const crypto = require('node:crypto')
const fs = require('node:fs')
const { chromium } = require('playwright-core')

const [pageFile, listFile, cameraFile] = process.argv.slice(2)

// answer returns the last answer of the page, with the sum of its outputs.
async function answer(page) {
  await page.waitForFunction(() => window.bnctlAnswer)
  const r = await page.evaluate(() => {
    const a = window.bnctlAnswer
    window.bnctlAnswer = undefined
    return { ...a, outputs: a.outputs?.map((o) => ({ ...o, bytes: Array.from(o.bytes) })),
      mask: a.mask && Array.from(a.mask.pixels) }
  })
  assert.equal(r.error, undefined)
  const hash = crypto.createHash('sha256')
  for (const o of r.outputs) hash.update(Buffer.from(o.bytes))
  return { ...r, sum: hash.digest('hex') }
}

// load chooses a template by the button of the page.
async function load(page, n) {
  await page.setInputFiles('#template', [])
  await page.selectOption('#kernels', n.kernels || 'auto')
  await page.setInputFiles('#template', n.model)
  await page.waitForFunction(() => document.body.dataset.loaded)
  assert.equal(await page.evaluate(() => document.body.dataset.loaded), 'yes', await page.textContent('#state'))
}

// byFile chooses the picture by the button of the page.
async function byFile(page, file) {
  await page.setInputFiles('#picture', [])
  await page.setInputFiles('#picture', file)
  return answer(page)
}

// byDrop drops the picture on the page.
async function byDrop(page, file) {
  await page.evaluate((bytes) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([new Uint8Array(bytes)], 'picture.png', { type: 'image/png' }))
    document.getElementById('drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }))
  }, Array.from(fs.readFileSync(file)))
  return answer(page)
}

// byCanvas predicts the RGBA of an opaque canvas with the picture. PNG has no loss, so it has the sum of the file.
async function byCanvas(page, file) {
  await page.evaluate(async (bytes) => {
    const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]), { colorSpaceConversion: 'none' })
    const canvas = new OffscreenCanvas(picture.width, picture.height)
    canvas.getContext('2d').drawImage(picture, 0, 0)
    predictCanvas(canvas)
  }, Array.from(fs.readFileSync(file)))
  return answer(page)
}

// byCamera takes a picture with the test camera of Chromium, and writes its pixels and sum.
async function byCamera(page) {
  await page.click('#camera')
  await page.waitForFunction(() => document.getElementById('camera').textContent === 'Take this picture')
  await page.click('#camera')
  const { sum } = await answer(page)
  const frame = await page.evaluate(() => ({ ...bnctlFrame, data: Array.from(bnctlFrame.data) }))
  fs.writeFileSync(cameraFile, JSON.stringify({ ...frame, data: Buffer.from(frame.data).toString('base64'), sum }))
}

// milliseconds returns the processor time of a prediction of the picture, with decoding, over about three
// seconds after a first one. It does not depend on other programs, as the time of the clock does.
async function milliseconds(page, file) {
  const tools = await page.context().newCDPSession(page)
  await tools.send('Performance.enable')
  const processor = async () => (await tools.send('Performance.getMetrics')).metrics
    .find((m) => m.name === 'ProcessTime').value
  const repeat = (bytes) => page.evaluate(async (bytes) => {
    const input = new Uint8Array(bytes)
    let n = 0
    for (const until = performance.now() + 3000; performance.now() < until || n < 3; n++) await bnctl.predict(input)
    return n
  }, bytes)
  const input = Array.from(fs.readFileSync(file))
  await repeat(input)
  const before = await processor()
  const n = await repeat(input)
  return 1000 * (await processor() - before) / n
}

// checkResponds checks that the page works while the program predicts: its timers wait much less than a prediction needs.
async function checkResponds(page, file) {
  const { longest, mean } = await page.evaluate(async (bytes) => {
    const predictions = 3
    const input = new Uint8Array(bytes)
    const began = performance.now()
    let longest = 0
    let done = false
    const tick = (last) => {
      longest = Math.max(longest, performance.now() - last)
      if (!done) setTimeout(tick, 1, performance.now())
    }
    tick(began)
    for (let n = 0; n < predictions; n++) await bnctl.predict(input)
    const mean = (performance.now() - began) / predictions
    done = true
    return { longest, mean }
  }, Array.from(fs.readFileSync(file)))
  const text = `the page waited for ${longest.toFixed(0)} ms, and a prediction needed ${mean.toFixed(0)} ms`
  assert.ok(longest < mean / 2, text)
  console.log(text)
}

// checkMask compares the mask with the class that has the highest score at each pixel.
function checkMask({ mask, outputs: [{ shape: [classes, h, w], bytes }] }) {
  const scores = new Float32Array(Uint8Array.from(bytes).buffer)
  for (let i = 0; i < h * w; i++) {
    let best = 0
    for (let c = 1; c < classes; c++) if (scores[c * h * w + i] > scores[best * h * w + i]) best = c
    assert.equal(mask[i], best, 'pixel ' + i)
  }
}

// drawn returns the number of pixels of the canvas with the color of boxes.
const drawn = (page) => page.evaluate(() => {
  const { data } = document.getElementById('view').getContext('2d').getImageData(0, 0, 150, 110)
  let n = 0
  for (let i = 0; i < data.length; i += 4) n += data[i] === 0xe6 && data[i + 1] === 0 && data[i + 2] === 0x7a
  return n
})

async function checkNetworks(page, networks) {
  for (const n of networks) {
    await load(page, n)
    const r = await byFile(page, n.picture)
    assert.equal(r.sum, n.sum, n.name)
    if (r.mask) checkMask(r)
    if (n.name.startsWith('boxes')) {
      assert.ok(r.boxes.length > 0 && r.boxes.every((b) => b.score > 0.5 && b.class > 0), 'boxes')
      assert.ok(await drawn(page) > 0, 'boxes are not drawn')
    }
    console.log(n.name.padEnd(32), r.sum.slice(0, 16), n.time ? `${(await milliseconds(page, n.picture)).toFixed(1)} ms` : '')
  }
}

async function main() {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] })
  try {
    const page = await (await browser.newContext({ offline: true })).newPage()
    page.setDefaultTimeout(300000)
    const faults = []
    page.on('pageerror', (e) => faults.push(String(e)))
    page.on('request', (r) => { if (!/^(file|blob|data):/.test(r.url())) faults.push('request of ' + r.url()) })
    await page.goto('file://' + pageFile)
    await page.waitForFunction(() => document.getElementById('state').textContent === 'Choose a template.')
    const networks = JSON.parse(fs.readFileSync(listFile))
    await checkNetworks(page, networks)
    const slow = networks.find((n) => n.name.startsWith('mobilenetv2'))
    if (slow) { // the others are too fast to tell
      await load(page, slow)
      await checkResponds(page, slow.picture)
    }
    const n = networks[0]
    await load(page, n)
    assert.equal((await byDrop(page, n.picture)).sum, n.sum, 'by drop')
    assert.equal((await byCanvas(page, n.picture)).sum, n.sum, 'by canvas')
    assert.ok(await page.evaluate(() => document.getElementById('classes').rows.length) > 0)
    await byCamera(page)
    await page.setInputFiles('#picture', n.model)
    await page.waitForFunction(() => window.bnctlAnswer?.error)
    await page.setInputFiles('#template', n.picture)
    await page.waitForFunction(() => document.body.dataset.loaded === 'no')
    assert.deepEqual(faults, [])
    console.log('file, drop, canvas and camera have answers, offline')
  } finally {
    await browser.close()
  }
}
main().catch((e) => { console.error(e); process.exit(1) })
