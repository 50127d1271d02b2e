// Writes golden.json: random inputs of NonMaxSuppression and the indices that ONNX Runtime selects.
//
// usage: NODE_PATH=node_modules node golden.js > golden.json
const ort = require('onnxruntime-node')

// A small writer of protobuf messages: [field, value] with numbers, strings and nested lists.
const varint = n => { const b = []; n = BigInt(n); do { b.push(Number(n & 127n) | (n > 127n ? 128 : 0)); n >>= 7n } while (n > 0n); return b }
const message = fields => fields.flatMap(([field, v]) => {
  if (typeof v === 'number') return [...varint(field << 3), ...varint(v)]
  const body = typeof v === 'string' ? [...Buffer.from(v)] : message(v)
  return [...varint(field << 3 | 2), ...varint(body.length), ...body]
})

const value = (name, type, shape) => [[1, name], [2, [[1, [[1, type], [2, shape.map(d => [1, [[1, d]]])]]]]]]

function model (opset, center, b, c, n, threshold) {
  const inputs = ['boxes', 'scores', 'most', 'overlap'].concat(threshold ? ['score'] : [])
  const node = [...inputs.map(i => [1, i]), [2, 'selected'], [4, 'NonMaxSuppression'],
    [5, [[1, 'center_point_box'], [3, center], [20, 2]]]]
  const graph = [[1, node], [2, 'g'], [11, value('boxes', 1, [b, n, 4])], [11, value('scores', 1, [b, c, n])],
    [11, value('most', 7, [1])], [11, value('overlap', 1, [1])], ...(threshold ? [[11, value('score', 1, [1])]] : []),
    [12, [[1, 'selected'], [2, [[1, [[1, 7]]]]]]]]
  return Uint8Array.from(message([[1, 6], [7, graph], [8, [[1, ''], [2, opset]]]]))
}

let state = 7 // a linear congruential generator: the same numbers everywhere
const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648

async function main () {
  const cases = []
  for (let k = 0; k < 40; k++) {
    const [b, c, n] = [1 + k % 2, 1 + k % 3, 1 + Math.floor(random() * 40)]
    const center = k >> 1 & 1; const threshold = k % 5 !== 0; const whole = k % 4 === 3
    const number = () => whole ? Math.floor(random() * 8) : random() * 8
    const boxes = Float32Array.from({ length: b * n * 4 }, number)
    const scores = Float32Array.from({ length: b * c * n }, () => k % 3 === 0 ? Math.floor(random() * 4) / 4 : random())
    const most = [0, 1, 3, 100][k % 7 === 6 ? 0 : 1 + k % 3]
    const overlap = [0, 0.25, 0.5, 0.9, 1][k % 5]; const score = [0.1, 0.25, 0.5][k % 3]
    const session = await ort.InferenceSession.create(model(10 + (k >> 2) % 2, center, b, c, n, threshold))
    const feeds = { boxes: new ort.Tensor('float32', boxes, [b, n, 4]), scores: new ort.Tensor('float32', scores, [b, c, n]),
      most: new ort.Tensor('int64', BigInt64Array.of(BigInt(most)), [1]), overlap: new ort.Tensor('float32', Float32Array.of(overlap), [1]) }
    if (threshold) feeds.score = new ort.Tensor('float32', Float32Array.of(score), [1])
    const out = (await session.run(feeds)).selected
    cases.push({ batch: b, classes: c, count: n, center: center === 1, most, overlap, score: threshold ? score : null,
      boxes: [...boxes], scores: [...scores], selected: [...out.data].map(Number) })
  }
  console.log('[' + cases.map(c => JSON.stringify(c)).join(',\n') + ']')
}
main()
