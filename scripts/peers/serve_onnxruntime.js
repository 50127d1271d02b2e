// serve_onnxruntime.js MODEL.onnx SIDE THREADS BATCH: a server as people write it
// with ONNX Runtime and Node's http, for `make bench-serve-peers`.
//
// A body is rows of float32, (N, 3, SIDE, SIDE); so is the answer, of outputs.
// What came while a batch was computed is the next one. Prints where it listens.
const http = require('http')
const ort = require('onnxruntime-node')

const [model, side, threads, most] = [process.argv[2], ...process.argv.slice(3).map(Number)]
const size = 3 * side * side
const waiting = []
let running = false

async function run(session) {
  running = true
  while (waiting.length > 0) {
    const batch = waiting.splice(0, most)
    const x = new Float32Array(batch.length * size)
    batch.forEach((r, i) => x.set(r.row, i * size))
    const { y } = await session.run({ x: new ort.Tensor('float32', x, [batch.length, 3, side, side]) })
    const n = y.data.length / batch.length
    batch.forEach((r, i) => r.response.end(Buffer.from(y.data.buffer, y.data.byteOffset + 4 * i * n, 4 * n)))
  }
  running = false
}

async function main() {
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1,
    executionMode: 'sequential', graphOptimizationLevel: 'all',
  })
  const server = http.createServer((request, response) => {
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts)
      if (body.length !== 4 * size || waiting.length >= 8 * most) {
        response.statusCode = body.length === 4 * size ? 429 : 400
        return response.end()
      }
      const row = new Float32Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.length))
      waiting.push({ row, response })
      if (!running) run(session)
    })
  })
  server.keepAliveTimeout = 60000
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ http: '127.0.0.1:' + server.address().port })))
}
main()
