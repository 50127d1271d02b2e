// cold.js MODEL.onnx SIDE: loads a model and predicts one image, for the cold
// start of `make bench-peers`.
const ort = require('onnxruntime-node')
const side = Number(process.argv[3])
async function main() {
  const s = await ort.InferenceSession.create(process.argv[2], { intraOpNumThreads: 2, graphOptimizationLevel: 'all' })
  const x = new Float32Array(3 * side * side).fill(0.5)
  const { y } = await s.run({ x: new ort.Tensor('float32', x, [1, 3, side, side]) })
  console.log(y.data[0])
}
main()
