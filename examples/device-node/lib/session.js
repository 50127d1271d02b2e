// A session: one call after the other, and exchanges with the other devices in the middle of a run.
'use strict';
const tree = require('./tree');
const { arrayOf, bytesOf, TYPES } = require('./tensor');

const CHUNK = 1 << 20; // bytes of tensors in one message

class Session {
  constructor(schema, device, receive, send) {
    Object.assign(this, { schema, device, receive, sendBytes: send });
  }

  async serve() {
    for (let m; (m = await this.next()); ) {
      this.call = m.call;
      let reply;
      try {
        if (this.device.canceled >= this.call) throw this.device.fail('CANCELED', 'the call was cancelled');
        reply = await this.answer(m);
      } catch (e) {
        if (!e.wire) console.error(e.stack); // a mistake of this program
        const error = e.wire ?? { kind: 'KIND_OTHER', message: e.message };
        const body = m.load || m.grow ? 'loaded' : m.run ? 'outcome' : 'done';
        reply = { [body]: { error } };
      }
      await this.send(reply);
    }
  }

  // next returns the next message with its tensors, null at the end.
  async next() {
    const b = await this.receive();
    if (!b) return null;
    const m = this.schema.decode('Message', b);
    const size = (t) => t.shape.reduce((n, k) => n * k, 1) * TYPES[t.dtype].BYTES_PER_ELEMENT;
    const parts = [m.data];
    let missing = m.tensors.reduce((n, t) => n + size(t), 0) - m.data.length;
    while (missing > 0) {
      const more = this.schema.decode('Message', await this.receive());
      parts.push(more.data);
      missing -= more.data.length;
    }
    let at = 0;
    const data = parts.length > 1 ? Buffer.concat(parts) : m.data;
    m.values = m.tensors.map((t) => arrayOf(t.dtype, data.subarray(at, (at += size(t)))));
    return m;
  }

  // send sends a message; values are its tensors: { dtype, shape, array }.
  async send(m, values = m.values ?? []) {
    const data = Buffer.concat(values.map((v) => bytesOf(v.array)));
    const first = { ...m, call: this.call, data: data.subarray(0, CHUNK) };
    first.tensors = values.map((v) => ({ dtype: v.dtype, shape: v.shape }));
    await this.sendBytes(this.schema.encode('Message', first));
    for (let at = CHUNK; at < data.length; at += CHUNK) {
      await this.sendBytes(this.schema.encode('Message', { call: this.call, data: data.subarray(at, at + CHUNK) }));
    }
  }

  async answer(m) {
    const d = this.device;
    if (m.load) return { loaded: d.load(m.values[0], m.load.capacity ?? {}) };
    if (m.join) return { done: d.join(m.join) };
    const call = m.grow ?? m.unload ?? m.write ?? m.read ?? m.run ?? m.commit;
    const x = d.executables.get(call.executable);
    if (!x && m.unload) return { done: {} };
    if (!x) throw d.fail('INVALID', `there is no executable ${call.executable}`);
    if (m.grow) return { loaded: x.grow(m.grow.capacity ?? {}) };
    if (m.unload) d.executables.delete(call.executable);
    if (m.write) x.write(call.state, m.tensors[0], m.values[0]);
    if (m.read) return { done: {}, values: [x.read(call.state)] };
    if (m.commit) x.commit(call.version, call.hyper);
    if (!m.run) return { done: {} };
    const start = process.hrtime.bigint();
    this.blocked = 0n;
    const values = await x.run(this, call, m.tensors, m.values);
    return { outcome: { took: process.hrtime.bigint() - start, blocked: this.blocked }, values };
  }

  // allReduce reduces values over all replicas of the group: { op, dtype, shape, leaves }, where leaves has
  // an array for each replica held, null for one without rows. It returns arrays.
  async allReduce(tag, values) {
    const { alone, held, leaves } = this.device.place(values[0].leaves.length);
    const all = values.map((v) => tree.parts(v.op, leaves, held, v.leaves));
    if (alone) return all.map((parts, i) => parts[0]?.value ?? values[i].zeros);
    const exchange = { tag, values: [] };
    const tensors = [];
    values.forEach((v, i) => {
      const type = { dtype: v.dtype, shape: v.shape };
      const parts = all[i].map((p) => ({ from: p.from, to: p.to, absent: !p.value }));
      exchange.values.push({ op: v.op, parts, result: type });
      for (const p of all[i]) if (p.value) tensors.push({ ...type, array: p.value });
    });
    const start = process.hrtime.bigint();
    await this.send({ exchange }, tensors);
    const reply = await this.next();
    this.blocked += process.hrtime.bigint() - start;
    if (!reply) throw this.device.fail('CANCELED', 'the session ended');
    if (reply.reduced.error) throw Object.assign(new Error('exchange'), { wire: reply.reduced.error });
    return reply.values;
  }
}

module.exports = { Session };
