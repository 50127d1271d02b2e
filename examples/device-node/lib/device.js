// The device, and what it has loaded.
'use strict';
const { OPERATIONS, ATTRIBUTES, Frame } = require('./operations');
const { TYPES, count } = require('./tensor');

class Device {
  constructor(schema) {
    this.schema = schema;
    this.executables = new Map();
    this.last = 0;
    this.group = null;
    this.canceled = 0; // calls up to this one are
    const ops = schema.enums.Op;
    this.names = Object.fromEntries(Object.entries(ops).map(([name, n]) => [n, name]));
  }

  info() {
    const { Op } = this.schema.enums;
    const ops = [...Object.keys(OPERATIONS), 'OP_ALL_REDUCE'].sort((a, b) => Op[a] - Op[b]);
    return {
      id: '0', name: 'node', description: `Node.js ${process.versions.node}, float64 inside`, kernels: 'javascript',
      threads: 1, ops, features: ['deterministic', 'exact-updates', 'finite-updates'], levels: ['stream/1'],
    };
  }

  error(kind, message, refusals) {
    return { kind: 'KIND_' + kind, message, refusals };
  }

  fail(kind, message, refusals) {
    return Object.assign(new Error(message), { wire: this.error(kind, message, refusals) });
  }

  // refuses says what is wrong with a request to open.
  refuses(r) {
    if (r.id !== '0') return this.error('UNAVAILABLE', `no device "${r.id}"; the only one is "0"`);
    if (!['', 'auto', 'javascript'].includes(r.kernels)) return this.error('UNSUPPORTED', `kernel class "${r.kernels}"`);
    if (!['', 'f32'].includes(r.precision)) return this.error('UNSUPPORTED', `precision "${r.precision}": this is f32`);
    return undefined;
  }

  cancel(call) {
    this.canceled = Math.max(this.canceled, call);
  }

  join(g) {
    const held = g.members.map((m) => m.replicas);
    const all = held.flat();
    const leaves = g.leaves || all.length;
    const rises = (list) => list.every((r, i) => i === 0 || list[i - 1] < r);
    const right = g.rank >= 0 && g.rank < held.length && held.every(rises) && new Set(all).size === all.length &&
      all.every((r) => r >= 0 && r < leaves);
    if (!right) {
      throw this.fail('INVALID', `rank ${g.rank} of members that hold ${JSON.stringify(held)} of ${leaves} replicas`);
    }
    const alone = held.length === 1 && all.length === leaves;
    this.group = { generation: g.generation, held: held[g.rank], leaves, alone };
    return {};
  }

  // place says which replicas a run of so many has here, of how many, and whether others have some.
  place(replicas) {
    return this.group ?? { alone: true, held: [...Array(replicas).keys()], leaves: replicas, generation: 0 };
  }

  load(bytes, capacity) {
    const program = this.schema.decode('Program', Buffer.from(bytes));
    const refusals = [];
    for (const f of program.functions) {
      for (const n of f.nodes) {
        n.name = this.names[n.op];
        const why = this.refusal(n);
        if (why) refusals.push({ function: f.name, node: f.values[n.out[0]].name, op: n.op, why });
      }
    }
    if (refusals.length > 0) throw this.fail('UNSUPPORTED', `cannot run ${refusals.length} nodes`, refusals);
    const x = new Executable(this, program, capacity, ++this.last);
    this.executables.set(x.number, x);
    return x.needs();
  }

  refusal(n) {
    if (!OPERATIONS[n.name] && n.name !== 'OP_ALL_REDUCE') return 'this device does not have the operation';
    const of = n.attributes.find((a) => a.key === 'of');
    if (n.name === 'OP_ACTIVATION_GRAD' && of.text !== 'relu') return `no derivative of ${of.text}`;
    const unknown = n.attributes.map((a) => a.key).filter((k) => !ATTRIBUTES[n.name].includes(k));
    return unknown.length > 0 ? `this device does not know the attribute ${unknown.join(', ')}` : '';
  }
}

// Executable is a program and its state.
class Executable {
  constructor(device, program, capacity, number) {
    Object.assign(this, { device, program, number, capacity: { rows: 0, replicas: 0 }, version: 0, kept: null });
    this.functions = new Map(program.functions.map((f) => [f.name, f]));
    this.state = new Map();
    this.types = new Map();
    for (const s of program.state) {
      this.types.set(s.name, s.type);
      this.state.set(s.name, new TYPES[s.type.dtype](count(s.type.shape)));
    }
    this.raise(capacity);
  }

  invalid(message) {
    return this.device.fail('INVALID', message);
  }

  raise({ rows = 0, replicas = 0 }) {
    if (rows < 0 || replicas < 0) throw this.invalid(`capacity of ${rows} rows in ${replicas} replicas`);
    this.capacity = { rows: Math.max(rows, this.capacity.rows), replicas: Math.max(replicas, this.capacity.replicas) };
  }

  grow(capacity) {
    this.raise(capacity);
    return this.needs();
  }

  needs() {
    let fixed = 0;
    for (const t of this.state.values()) fixed += t.byteLength;
    return { executable: this.number, fixed, per_row: 1024 };
  }

  type(name) {
    if (!this.types.has(name)) throw this.invalid(`no state is called "${name}"`);
    return this.types.get(name);
  }

  read(name) {
    return { ...this.type(name), array: this.state.get(name) };
  }

  write(name, got, array) {
    const want = this.type(name);
    if (!same(got, want)) throw this.invalid(`${name} is ${show(want)}, got ${show(got)}`);
    this.state.set(name, array);
  }

  async run(session, call, types, inputs) {
    const f = this.functions.get(call.function);
    if (!f || f.name === 'commit') throw this.invalid(`there is no function "${call.function}" that can be run`);
    if (f.name === 'train') this.kept = null;
    this.checkRows(f, call.rows);
    const frame = new Frame(this, f, call.rows);
    if (inputs.length !== f.inputs.length) throw this.invalid(`${inputs.length} inputs, want ${f.inputs.length}`);
    f.inputs.forEach((v, i) => {
      const want = { dtype: f.values[v].type.dtype, shape: frame.shape(v) };
      if (!same(types[i], want)) throw this.invalid(`input ${f.values[v].name} is ${show(types[i])}, want ${show(want)}`);
      frame.values[v] = inputs[i];
    });
    await frame.run(session, call.step);
    if (f.name === 'train') {
      this.kept = new Map(f.outputs.filter((o) => o.keep).map((o) => [o.name, frame.values[o.value]]));
    }
    return f.outputs.filter((o) => !o.keep).map(({ value }) => (
      { dtype: f.values[value].type.dtype, shape: frame.shape(value), array: frame.values[value] }));
  }

  checkRows(f, rows) {
    const sum = rows.reduce((a, b) => a + b, 0);
    if (rows.some((n) => n < 0) || sum > this.capacity.rows || rows.length > this.capacity.replicas) {
      throw this.invalid(`rows ${rows}, the capacity is ${this.capacity.rows} in ${this.capacity.replicas} replicas`);
    }
    const reduces = f.nodes.some((n) => n.name === 'OP_ALL_REDUCE');
    const held = this.device.group?.held.length ?? rows.length;
    if (reduces && held !== rows.length) throw this.invalid(`${rows.length} replicas; the group gives this device ${held}`);
  }

  commit(version, hyper) {
    if (this.version === version + 1) return;
    if (this.version !== version || !this.kept) {
      throw this.invalid(`version ${version} is to be committed, the state is at ${this.version}` +
        (this.kept ? '' : ' and nothing is kept'));
    }
    const f = this.functions.get('commit');
    const given = new Map(hyper.map((h) => [h.name, Float32Array.of(h.value)]));
    const frame = new Frame(this, f, []);
    for (const v of f.inputs) {
      const name = f.values[v].name;
      frame.values[v] = this.kept.get(name) ?? given.get(name);
      if (!frame.values[v]) throw this.invalid(`input ${name} was neither kept nor given`);
    }
    for (const n of f.nodes) frame.compute(n);
    this.kept = null;
    for (const u of f.updates) {
      const bad = frame.values[u.value].findIndex((v) => !Number.isFinite(v));
      if (bad >= 0) throw this.device.fail('NON_FINITE', `${u.state}: element ${bad} is ${frame.values[u.value][bad]}`);
    }
    for (const u of f.updates) this.state.set(u.state, frame.values[u.value]);
    this.version = version + 1;
  }
}

const same = (a, b) => a && a.dtype === b.dtype && `${a.shape}` === `${b.shape}`;
const show = (t) => (t ? `type ${t.dtype}[${t.shape}]` : 'nothing');

module.exports = { Device };
