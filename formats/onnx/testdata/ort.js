// Runs a model in ONNX Runtime (npm: onnxruntime-node) and prints its outputs.
//
//	node ort.js MODEL TYPE DIMS INPUT
//
// TYPE is float32 or uint8, DIMS are joined by commas, INPUT is a file of raw
// elements. The answer is one line of JSON: an object of {type, dims, data} by
// name, data being the raw elements in base64.
const fs = require("fs");
const ort = require("onnxruntime-node");

async function main([model, type, dims, input]) {
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const raw = fs.readFileSync(input);
  const bytes = new Uint8Array(raw).buffer; // aligned, unlike a small Buffer
  const data = type === "uint8" ? new Uint8Array(bytes) : new Float32Array(bytes);
  const feeds = { [session.inputNames[0]]: new ort.Tensor(type, data, dims.split(",").map(Number)) };
  const answer = {};
  for (const [name, t] of Object.entries(await session.run(feeds))) {
    const view = Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength);
    answer[name] = { type: t.type, dims: t.dims, data: view.toString("base64") };
  }
  console.log(JSON.stringify(answer));
}

main(process.argv.slice(2));
