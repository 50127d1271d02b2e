'use strict'
const $ = (id) => document.getElementById(id)
const say = (text) => { $('state').textContent = text }

// A page from file:// may not fetch a worker, so it is made of the text in this page.
const worker = new Worker(URL.createObjectURL(new Blob([$('exec').textContent, $('worker').textContent])))
worker.onerror = (e) => say(e.message)
const waiting = new Map() // calls without an answer
worker.onmessage = ({ data: [id, result] }) => {
  waiting.get(id)(result)
  waiting.delete(id)
}
let calls = 0
const call = (...message) => new Promise((answer) => {
  waiting.set(++calls, answer)
  worker.postMessage([calls, ...message])
})
const bnctl = {
  load: (template, kernels) => call('load', template, kernels),
  predict: (file) => call('predict', file),
  camera: (pixels, width, height) => call('camera', pixels, width, height)
}

async function start() {
  const { error } = await call('start', $('program').textContent)
  say(error ?? 'Choose a template.')
}

const bytes = async (file) => new Uint8Array(await file.arrayBuffer())

async function load(file) {
  delete document.body.dataset.loaded
  say('The template is being loaded.')
  const r = await bnctl.load(await bytes(file), $('kernels').value)
  say(r.error ?? `${file.name}: input ${r.input}, ${(r.memory / 2 ** 20).toFixed(1)} MiB at most.`)
  document.body.dataset.loaded = r.error ? 'no' : 'yes'
}

// show predicts, and draws the picture with the answer.
async function show(predict, picture) {
  say('The picture is being predicted.')
  const began = performance.now()
  const r = await predict()
  const took = performance.now() - began
  globalThis.bnctlAnswer = r // for tests
  $('classes').replaceChildren()
  if (r.error) return say(r.error)
  say(`${took.toFixed(1)} ms`)
  const view = $('view')
  view.width = picture.width
  view.height = picture.height
  const draw = view.getContext('2d')
  draw.drawImage(picture, 0, 0)
  for (const c of r.classes ?? []) {
    const row = $('classes').insertRow()
    row.insertCell().textContent = c.label
    const bar = document.createElement('progress')
    bar.value = c.p
    row.insertCell().append(bar)
    row.insertCell().textContent = (100 * c.p).toFixed(1) + ' %'
  }
  if (r.mask) drawMask(draw, r.mask)
  if (r.boxes) drawBoxes(draw, r.boxes)
}

// predictFile hands the file itself to bnctl: a canvas decodes other pixels. The canvas only shows it.
async function predictFile(file) {
  const input = await bytes(file)
  const picture = await createImageBitmap(file).catch(() => new OffscreenCanvas(1, 1))
  await show(() => bnctl.predict(input), picture)
}

async function predictCamera() {
  const video = $('video')
  if (!video.srcObject) {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true })
    video.hidden = false
    await video.play()
    $('camera').textContent = 'Take this picture'
    return
  }
  const frame = new OffscreenCanvas(video.videoWidth, video.videoHeight)
  frame.getContext('2d').drawImage(video, 0, 0)
  await predictCanvas(frame)
}

// predictCanvas predicts the RGBA of a canvas as it is.
async function predictCanvas(canvas) {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  globalThis.bnctlFrame = { width: canvas.width, height: canvas.height, data } // for tests
  await show(() => bnctl.camera(new Uint8Array(data.buffer), canvas.width, canvas.height), canvas)
}

const loadChosen = () => $('template').files[0] && load($('template').files[0])
$('template').onchange = loadChosen
$('kernels').onchange = loadChosen
$('picture').onchange = (e) => e.target.files[0] && predictFile(e.target.files[0])
$('camera').onclick = () => predictCamera().catch((e) => say(String(e)))
$('drop').ondragover = (e) => e.preventDefault()
$('drop').ondrop = (e) => {
  e.preventDefault()
  if (e.dataTransfer.files[0]) predictFile(e.dataTransfer.files[0])
}
start()
