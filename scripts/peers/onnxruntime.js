// onnxruntime.js FOLDER: predicts with ONNX Runtime for `make bench-peers`.
//
// Says what it is, then answers every line of standard input with a line: a
// JSON object {model, batch, threads, seconds} with {images_per_s, p50_ms}.
const fs = require('fs')
const path = require('path')
const readline = require('readline')
const ort = require('onnxruntime-node')

const folder = process.argv[2]
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
const now = () => Number(process.hrtime.bigint()) / 1e9

const loaded = { key: '', session: null }

// session returns the session of a model with so many threads; one is kept.
async function session(model, threads) {
  const key = model + '/' + threads
  if (loaded.key !== key) {
    if (loaded.session) await loaded.session.release()
    loaded.session = await ort.InferenceSession.create(path.join(folder, model + '.onnx'), {
      executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1,
      executionMode: 'sequential', graphOptimizationLevel: 'all',
    })
    loaded.key = key
  }
  return loaded.session
}

async function measure({ model, batch, threads, seconds }) {
  const s = await session(model, threads)
  const shape = [batch, ...s.inputMetadata[0].shape.slice(1)]
  const x = new Float32Array(shape.reduce((a, b) => a * b, 1))
  for (let i = 0; i < x.length; i++) x[i] = Math.sin(i * 0.37)
  const feed = { x: new ort.Tensor('float32', x, shape) }
  for (let i = 0; i < 2; i++) await s.run(feed)
  const took = []
  const began = now()
  while (took.length === 0 || now() - began < seconds) {
    const before = now()
    await s.run(feed)
    took.push(now() - before)
  }
  const all = now() - began
  took.sort((a, b) => a - b)
  return { images_per_s: batch * took.length / all, p50_ms: took[took.length >> 1] * 1000 }
}

async function main() {
  const about = path.join(path.dirname(require.resolve('onnxruntime-node')), '..', 'package.json')
  say({ peer: 'ONNX Runtime', version: JSON.parse(fs.readFileSync(about)).version })
  for await (const line of readline.createInterface({ input: process.stdin })) say(await measure(JSON.parse(line)))
}
main()
