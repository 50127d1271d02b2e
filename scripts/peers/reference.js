// reference.js: outputs of ONNX models by ONNX Runtime, for families.py and survey.py.
//
// Prints its version, then answers every line of standard input, {model, input: a file of numbers, shape, type: float32 or
// uint8}, or {model, inputs: [{name, input, shape, type}]} with any type, and how much is optimised, level.
// The answer is {outputs: [{name, shape, type, file}]} or {error}.
const fs = require('fs')
const readline = require('readline')
const ort = require('onnxruntime-node')

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')

const arrays = { float32: Float32Array, float64: Float64Array, int8: Int8Array, int16: Int16Array, int32: Int32Array,
  int64: BigInt64Array, uint8: Uint8Array, uint16: Uint16Array, bool: Uint8Array, float16: Uint16Array }

function tensorOf({ input, shape, type = 'float32' }) {
  const bytes = new Uint8Array(fs.readFileSync(input))
  return new ort.Tensor(type, new arrays[type](bytes.buffer), shape)
}

async function answer({ model, input, shape, type, inputs, level = 'all' }) {
  const session = await ort.InferenceSession.create(model,
    { executionProviders: ['cpu'], graphOptimizationLevel: level, logSeverityLevel: 4 })
  const feeds = {}
  for (const one of inputs ?? [{ name: session.inputNames[0], input, shape, type }]) feeds[one.name] = tensorOf(one)
  const result = await session.run(feeds)
  const outputs = session.outputNames.map((name, i) => {
    const file = `${model}.out${i}`
    fs.writeFileSync(file, Buffer.from(result[name].data.buffer, result[name].data.byteOffset, result[name].data.byteLength))
    return { name, shape: result[name].dims, type: result[name].type, file }
  })
  await session.release()
  return { outputs }
}

async function main() {
  say({ version: ort.env.versions.node })
  for await (const line of readline.createInterface({ input: process.stdin })) {
    say(await answer(JSON.parse(line)).catch((e) => ({ error: String(e).slice(0, 300) })))
  }
}

main()
