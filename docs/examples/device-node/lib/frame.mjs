// A run of a function: its values, and its nodes one after the other.
import { OPERATIONS, Node } from './operations.mjs';
import { TYPES, count, parts, zeros } from './tensor.mjs';

export class Frame {
  sequence = [0, 0]; // exchanges so far, by lane
  blocked = 0n; // nanoseconds in them

  constructor(executable, f, rows) {
    const owner = rows.flatMap((n, r) => Array(n).fill(r)); // the replica of each row
    Object.assign(this, { device: executable.device, f, rows, owner });
    this.values = f.values.map((v) => executable.state.get(v.state)?.array);
  }

  // type is that of a value with its leading axis.
  type(v) {
    const { relation, type: { dtype, shape } } = this.f.values[v];
    const lead = { RELATION_REPLICA: [this.rows.length], RELATION_ROWS: [this.owner.length] }[relation] ?? [];
    return { dtype, shape: [...lead, ...shape] };
  }

  // run runs all nodes. Consecutive all-reduces are one exchange.
  async run(session, step) {
    const { nodes } = this.f;
    for (let at = 0; at < nodes.length; ) {
      await new Promise(setImmediate); // so that Cancel is heard
      this.device.checkCanceled(session.call);
      const reduces = [];
      while (nodes[at]?.op === 'OP_ALL_REDUCE') reduces.push(nodes[at++]);
      if (reduces.length > 0) await this.allReduce(session, step, reduces);
      else this.compute(nodes[at++]);
    }
  }

  // compute runs a node: in float64, rounded once where results are stored.
  compute(n) {
    const types = n.out.map((v) => this.type(v));
    const results = types.map((t) => new Float64Array(count(t.shape)));
    const operands = n.in.map((v) => this.values[v]);
    const stored = OPERATIONS[n.op].compute(new Node(this, n), operands, results) ?? results;
    n.out.forEach((v, i) => { this.values[v] = TYPES[types[i].dtype].from(stored[i]); });
  }

  // allReduce sends what this device contributes, if it is not alone, and takes what all have together.
  async allReduce(session, step, nodes) {
    const here = this.rows.map((_, r) => r);
    const group = this.device.group ?? { generation: 0, held: here, leaves: here.length, alone: true };
    const values = nodes.map((n) => {
      const [x, result] = [this.values[n.in[0]], this.f.values[n.out[0]].type];
      const size = count(result.shape);
      const leaf = (r, i) => [r, this.rows[i] > 0 ? x.slice(i * size, (i + 1) * size) : null];
      const op = n.attributes.of === 'moments' ? 'REDUCTION_MERGE_MOMENTS' : 'REDUCTION_SUM';
      return { op, result, parts: parts(op, 0, group.leaves, new Map(group.held.map(leaf))) };
    });
    let reduced = values.map((v) => v.parts[0]?.array ?? zeros(v.result));
    if (!group.alone) {
      const results = new Set(nodes.map((n) => n.out[0]));
      const lane = this.f.nodes.some((n) => n.in.some((v) => results.has(v))) ? 0 : 1; // moments, gradients
      const { name } = this.f.values[nodes[0].in[0]];
      const tag = { generation: group.generation, step, lane, sequence: this.sequence[lane]++, name };
      const present = (v) => v.parts.filter((p) => !p.absent).map((p) => ({ ...v.result, ...p }));
      const start = process.hrtime.bigint();
      session.send({ exchange: { tag, values } }, values.flatMap(present));
      const reply = await session.next();
      this.blocked += process.hrtime.bigint() - start;
      if (reply.body?.error) throw Object.assign(new Error('exchange'), { reply: reply.body.error });
      reduced = reply.tensors.map((t) => t.array);
    }
    nodes.forEach((n, i) => { this.values[n.out[0]] = reduced[i]; });
  }
}
