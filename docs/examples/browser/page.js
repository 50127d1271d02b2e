'use strict'
const $ = (id) => document.getElementById(id)
const say = (text) => { $('state').textContent = text }

// start runs the program, which is in this page as gzip in base64.
async function start() {
  const packed = Uint8Array.from(atob($('program').textContent), (c) => c.charCodeAt(0))
  const body = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  const wasm = await new Response(body).arrayBuffer()
  const go = new Go()
  const { instance } = await WebAssembly.instantiate(wasm, go.importObject)
  await new Promise((ready) => {
    globalThis.bnctlReady = ready
    go.run(instance)
  })
  say('Choose a template.')
}

const bytes = async (file) => new Uint8Array(await file.arrayBuffer())

async function load(file) {
  delete document.body.dataset.loaded
  const r = bnctl.load(await bytes(file), $('kernels').value)
  say(r.error ?? `${file.name}: input ${r.input}, ${(r.memory / 2 ** 20).toFixed(1)} MiB at most.`)
  document.body.dataset.loaded = r.error ? 'no' : 'yes'
}

// show predicts, and draws the picture with the answer.
function show(predict, picture) {
  const began = performance.now()
  const r = predict()
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
  show(() => bnctl.predict(input), picture)
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
  predictCanvas(frame)
}

// predictCanvas predicts the RGBA of a canvas as it is.
function predictCanvas(canvas) {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  globalThis.bnctlFrame = { width: canvas.width, height: canvas.height, data } // for tests
  show(() => bnctl.camera(new Uint8Array(data.buffer), canvas.width, canvas.height), canvas)
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
start().catch((e) => say(String(e)))
