// What is loaded: a program and its state, which commits take from version to version. A call has the method
// of its name, which gets the call and its tensors, and returns what the answer says.
import { failure } from './device.mjs';
import { Frame } from './frame.mjs';
import { zeros } from './tensor.mjs';

export class Executable {
  rows = 0; // the capacity
  replicas = 0;
  version = 0;
  kept = null; // for the commit, by the last run of train

  constructor(device, program, number) {
    Object.assign(this, { device, number });
    this.functions = new Map(program.functions.map((f) => [f.name, f]));
    this.state = new Map(program.state.map(({ name, type }) => [name, { ...type, array: zeros(type) }]));
  }

  grow({ capacity: { rows, replicas } = this }) {
    if (rows < 0 || replicas < 0) throw failure('INVALID', `capacity: ${rows} rows, ${replicas} replicas`);
    this.rows = Math.max(rows, this.rows);
    this.replicas = Math.max(replicas, this.replicas);
    const fixed = [...this.state.values()].reduce((n, t) => n + t.array.byteLength, 0);
    return { executable: this.number, fixed, per_row: 1024 };
  }

  unload() { this.device.executables.delete(this.number); }

  read({ state }) {
    if (!this.state.has(state)) throw failure('INVALID', `no state is called "${state}"`);
    return { tensors: [this.state.get(state)] };
  }

  write({ state }, [tensor]) {
    check(state, tensor, this.read({ state }).tensors[0]);
    this.state.set(state, tensor);
  }

  async run({ function: name, rows, step }, inputs, session) {
    const start = process.hrtime.bigint();
    const f = this.functions.get(name);
    if (!f || name === 'commit') throw failure('INVALID', `there is no function "${name}" that can be run`);
    if (name === 'train') this.kept = null;
    this.checkRows(f, rows);
    const frame = new Frame(this, f, rows);
    if (inputs.length > f.inputs.length) throw failure('INVALID', `${inputs.length} inputs for "${name}"`);
    f.inputs.forEach((v, i) => {
      check(f.values[v].name, inputs[i], frame.type(v));
      frame.values[v] = inputs[i].array;
    });
    await frame.run(session, step);
    const kept = f.outputs.filter((o) => o.keep).map((o) => [o.name, frame.values[o.value]]);
    if (name === 'train') this.kept = new Map(kept);
    const sent = f.outputs.filter((o) => !o.keep);
    const tensors = sent.map(({ value: v }) => ({ ...frame.type(v), array: frame.values[v] }));
    return { tensors, took: process.hrtime.bigint() - start, blocked: frame.blocked };
  }

  checkRows(f, rows) {
    const sum = rows.reduce((a, b) => a + b, 0);
    if (rows.some((n) => n < 0) || sum > this.rows || rows.length > this.replicas) {
      throw failure('INVALID', `rows ${rows}; the capacity is ${this.rows} in ${this.replicas} replicas`);
    }
    const held = this.device.group?.held.length ?? rows.length;
    if (held !== rows.length && f.nodes.some((n) => n.op === 'OP_ALL_REDUCE')) {
      throw failure('INVALID', `${rows.length} replicas; the group gives this device ${held}`);
    }
  }

  commit({ version, hyper }) {
    if (this.version === version + 1) return; // again
    if (this.version !== version) throw failure('INVALID', `commit of ${version}: it is at ${this.version}`);
    if (!this.kept) throw failure('INVALID', `commit of ${version}: nothing is kept`);
    const f = this.functions.get('commit');
    const frame = new Frame(this, f, []);
    const given = new Map(hyper.map((h) => [h.name, Float32Array.of(h.value)]));
    for (const v of f.inputs) {
      const { name } = f.values[v];
      frame.values[v] = this.kept.get(name) ?? given.get(name);
      if (!frame.values[v]) throw failure('INVALID', `input ${name} was neither kept nor given`);
    }
    for (const n of f.nodes) frame.compute(n);
    this.kept = null;
    for (const { state, value } of f.updates) {
      const bad = frame.values[value].find((v) => !Number.isFinite(v));
      if (bad !== undefined) throw failure('NON_FINITE', `${state} would have an element of ${bad}`);
    }
    for (const { state, value } of f.updates) this.state.get(state).array = frame.values[value];
    this.version = version + 1;
  }
}

function check(name, got, want) {
  const show = (t) => (t ? `type ${t.dtype}[${t.shape}]` : 'nothing');
  if (show(got) !== show(want)) throw failure('INVALID', `${name} is ${show(want)}, got ${show(got)}`);
}
