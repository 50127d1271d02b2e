// qdqtable.js: outputs and times of ONNX models by ONNX Runtime, for qdqtable.py.
//
// Prints its version, then answers every line of standard input, {do: run or time, model, input: a file of numbers,
// shape, type, at: a folder, seconds, threads, level: how much is optimised}, with {outputs: [{name, shape, type, file}]},
// {p50: seconds} or {error}. A model runs on that number of threads, or one; u8 times i8 is computed without saturation (session.x64quantprecision).
const fs = require('fs')
const path = require('path')
const readline = require('readline')
const ort = require('onnxruntime-node')

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
const arrays = { float32: Float32Array, uint8: Uint8Array, int8: Int8Array }

async function answer(line) {
  const session = await ort.InferenceSession.create(line.model, { executionProviders: ['cpu'], intraOpNumThreads: line.threads ?? 1,
    interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: line.level ?? 'all', logSeverityLevel: 4,
    extra: { session: { x64quantprecision: '1' } } })
  const bytes = new Uint8Array(fs.readFileSync(line.input))
  const of = arrays[line.type]
  const count = line.shape.reduce((a, b) => a * b, 1)
  const feeds = { [session.inputNames[0]]: new ort.Tensor(line.type, new of(bytes.buffer, 0, count), line.shape) }
  try {
    if (line.do === 'time') return await measure(session, feeds, line.seconds)
    const result = await session.run(feeds)
    return { outputs: session.outputNames.map((name, i) => {
      const file = path.join(line.at, `ort${i}`)
      fs.writeFileSync(file, Buffer.from(result[name].data.buffer, result[name].data.byteOffset, result[name].data.byteLength))
      return { name, shape: result[name].dims, type: result[name].type, file }
    }) }
  } finally {
    await session.release()
  }
}

async function measure(session, feeds, seconds) {
  const now = () => Number(process.hrtime.bigint()) / 1e9
  await session.run(feeds)
  const took = []
  const began = now()
  while (took.length < 3 || now() - began < seconds) {
    const before = now()
    await session.run(feeds)
    took.push(now() - before)
  }
  took.sort((a, b) => a - b)
  return { p50: took[took.length >> 1] }
}

async function main() {
  say({ version: ort.env.versions.node })
  for await (const line of readline.createInterface({ input: process.stdin })) {
    say(await answer(JSON.parse(line)).catch((e) => ({ error: String(e).slice(0, 300) })))
  }
}

main()
