'use strict'
// worker.js runs the program in a thread of its own, so that the page responds while it predicts. A message is a
// number, a function and its arguments; the answer is the number and the result.

let started

// start runs the program, which is gzip in base64.
async function start(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  const body = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  const go = new Go()
  const { instance } = await WebAssembly.instantiate(await new Response(body).arrayBuffer(), go.importObject)
  await new Promise((ready) => {
    globalThis.bnctlReady = ready
    go.run(instance)
  })
}

onmessage = async ({ data: [id, name, ...args] }) => {
  let result = {}
  try {
    if (name === 'start') started = start(args[0])
    await started
    if (name !== 'start') result = bnctl[name](...args)
  } catch (e) {
    result = { error: String(e) }
  }
  postMessage([id, result])
}
