// Runs models in ONNX Runtime (npm: onnxruntime-node), one after the other.
// A line of JSON on the input is {model: base64, dims, data: base64 of f32};
// the line of the answer is {outputs: {name: {dims, type, data: base64}}} or
// {error}.
const ort = require("onnxruntime-node");

async function answer(line) {
  const { model, dims, data } = JSON.parse(line);
  const session = await ort.InferenceSession.create(new Uint8Array(Buffer.from(model, "base64")),
    { logSeverityLevel: 4, intraOpNumThreads: 1, graphOptimizationLevel: "disabled" });
  const x = new Float32Array(new Uint8Array(Buffer.from(data, "base64")).buffer);
  const got = await session.run({ [session.inputNames[0]]: new ort.Tensor("float32", x, dims) });
  const outputs = {};
  for (const [name, t] of Object.entries(got)) {
    outputs[name] = { dims: t.dims, type: t.type,
      data: Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength).toString("base64") };
  }
  await session.release();
  return { outputs };
}

async function main() {
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    let a;
    try {
      a = await answer(line);
    } catch (e) {
      a = { error: String(e.message || e) };
    }
    await new Promise((done) => process.stdout.write(JSON.stringify(a) + "\n", done));
  }
}

main();
