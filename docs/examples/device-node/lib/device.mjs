// The device: what it is, its group, and what it has loaded. The calls of the service and of the session that
// are not made to an executable have methods of their names.
import { Executable } from './executable.mjs';
import { OPERATIONS } from './operations.mjs';

const INFO = {
  id: '0', name: 'node', description: `Node.js ${process.versions.node}, float64 inside`, threads: 1,
  kernels: 'javascript', features: ['deterministic', 'exact-updates', 'finite-updates'], levels: ['stream/1'],
  ops: Object.keys(OPERATIONS),
};

// failure is an error that travels in a reply.
export function failure(kind, message, refusals) {
  return Object.assign(new Error(message), { reply: { kind: 'KIND_' + kind, message, refusals } });
}

export class Device {
  executables = new Map();
  last = 0; // number of an executable
  canceled = 0; // calls up to this one are
  group = null; // the replicas that it holds, of all leaves; null: it holds all of whatever it runs

  constructor(schema) { this.schema = schema; }

  Describe() { return { name: 'node', version: '1', about: 'an example: plain loops in JavaScript' }; }

  List() { return { devices: [INFO] }; }

  Open({ id, kernels, precision }) {
    const no = (kind, message) => ({ error: failure(kind, message).reply });
    if (this.opened) return no('INVALID', 'this process has opened a device already');
    if (id !== INFO.id) return no('UNAVAILABLE', `no device "${id}"; the only one is "0"`);
    if (!['', 'auto', INFO.kernels].includes(kernels)) return no('UNSUPPORTED', `kernel class "${kernels}"`);
    if (!['', 'f32'].includes(precision)) return no('UNSUPPORTED', `precision "${precision}": this is f32`);
    this.opened = true;
    return { info: INFO, level: 'stream/1' };
  }

  Cancel({ call }) {
    this.canceled = Math.max(this.canceled, call);
    return {};
  }

  Close() { return this.Cancel({ call: Infinity }); }

  checkCanceled(call) {
    if (call <= this.canceled) throw failure('CANCELED', 'the call was cancelled');
  }

  executable(number) {
    if (!this.executables.has(number)) throw failure('INVALID', `there is no executable ${number}`);
    return this.executables.get(number);
  }

  load({ capacity }, [{ array }]) {
    const program = this.schema.decode('Program', Buffer.from(array));
    const refusals = program.functions.flatMap((f) => f.nodes.map((n) => {
      const given = n.attributes.map(({ key, ...value }) => [key, Object.values(value)[0]]);
      n.attributes = Object.fromEntries(given.map(([key, v]) => [key, v.values ?? v])); // values of a list
      return { function: f.name, node: f.values[n.out[0]].name, op: n.op, why: refusal(n) };
    })).filter((r) => r.why);
    if (refusals.length > 0) throw failure('UNSUPPORTED', `cannot run ${refusals.length} nodes`, refusals);
    const x = new Executable(this, program, ++this.last);
    this.executables.set(x.number, x);
    return x.grow({ capacity });
  }

  join({ generation, rank, members, leaves }) {
    const held = members.map((m) => m.replicas);
    const all = held.flat();
    const size = leaves || all.length;
    const increase = (list) => list.every((r, i) => i === 0 || list[i - 1] < r);
    const once = new Set(all).size === all.length && all.every((r) => r >= 0 && r < size);
    if (!held[rank] || !once || !held.every(increase)) {
      throw failure('INVALID', `rank ${rank} of ${JSON.stringify(held)} of ${size} replicas`);
    }
    const alone = held.length === 1 && all.length === size;
    this.group = { generation, held: held[rank], leaves: size, alone };
  }
}

// refusal says why this device cannot run a node, if it cannot.
function refusal({ op, attributes }) {
  if (!OPERATIONS[op]) return 'this device does not have the operation';
  const unknown = Object.keys(attributes).filter((key) => !OPERATIONS[op].attributes.includes(key));
  if (unknown.length > 0) return `this device does not know the attribute ${unknown.join(', ')}`;
  return op === 'OP_ACTIVATION_GRAD' && attributes.of !== 'relu' ? 'it has the derivative of relu alone' : '';
}
