// A session: one call after the other, and exchanges with the other devices in the middle of a run.
import { count, TYPES } from './tensor.mjs';

const CHUNK = 1 << 20; // bytes of tensors in one message
const REPLIES = { load: 'loaded', grow: 'loaded', run: 'outcome' }; // to all others: done

export class Session {
  constructor(schema, device, messages, sendBytes) {
    Object.assign(this, { schema, device, messages, sendBytes });
  }

  // serve answers each call by the method of its name, of the device or of the executable that it names.
  async serve() {
    for (let m; (m = await this.next()).name; ) {
      let [body, tensors] = [{}, []];
      try {
        this.device.checkCanceled(m.call);
        const callee = 'executable' in m.body ? this.device.executable(m.body.executable) : this.device;
        ({ tensors = [], ...body } = (await callee[m.name](m.body, m.tensors, this)) ?? {});
      } catch (e) {
        if (!e.reply) console.error(e.stack); // a mistake of this program
        body = { error: e.reply ?? { kind: 'KIND_OTHER', message: e.message } };
      }
      this.send({ [REPLIES[m.name] ?? 'done']: body }, tensors);
    }
    this.device.Close();
  }

  // next returns a message with all of its tensors: { dtype, shape, array }; at the end one without a name.
  async next() {
    const message = async () => this.schema.decode('Message', (await this.messages.next()).value ?? []);
    // This plugin accepts no turns, so lane is not set.
    const { call, data, tensors, lane: _, ...oneof } = await message();
    const size = (t) => count(t.shape) * TYPES[t.dtype].BYTES_PER_ELEMENT;
    const pieces = [data];
    let missing = tensors.reduce((n, t) => n + size(t), -data.length);
    for (; missing > 0; missing -= pieces.at(-1).length) pieces.push((await message()).data);
    const { buffer } = new Uint8Array(Buffer.concat(pieces));
    let at = 0;
    for (const t of tensors) t.array = new TYPES[t.dtype](buffer.slice(at, (at += size(t))));
    const [[name, body] = []] = Object.entries(oneof);
    this.call = call;
    return { call, tensors, name, body };
  }

  // send sends a message with tensors.
  send(message, tensors) {
    const bytes = ({ array: a }) => Buffer.from(a.buffer, a.byteOffset, a.byteLength);
    const data = Buffer.concat(tensors.map(bytes));
    for (let at = 0; at === 0 || at < data.length; at += CHUNK) {
      const part = { ...(at === 0 && { ...message, tensors }), call: this.call };
      this.sendBytes(this.schema.encode('Message', { ...part, data: data.subarray(at, at + CHUNK) }));
    }
  }
}
