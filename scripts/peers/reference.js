// reference.js: outputs of ONNX models by ONNX Runtime, for families.py and survey.py.
//
// Says its version, then answers every line of standard input, {model, input: a file of numbers, shape, type: float32 or
// uint8}, with {outputs: [{name, shape, type, file}]} or {error}.
const fs = require('fs')
const readline = require('readline')
const ort = require('onnxruntime-node')

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')

async function answer({ model, input, shape, type = 'float32' }) {
  const session = await ort.InferenceSession.create(model, { executionProviders: ['cpu'] })
  const bytes = fs.readFileSync(input)
  const x = type === 'uint8' ? new Uint8Array(bytes) : new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  const result = await session.run({ [session.inputNames[0]]: new ort.Tensor(type, x, shape) })
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
