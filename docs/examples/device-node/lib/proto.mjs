// Protocol buffers: reads a .proto file, and by it the messages that it describes. A 64-bit integer is a
// Number: what this plugin gets stays below 2^53.
import fs from 'node:fs';

// Of each type: its wire type (0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes), its value where
// a field is absent, and how it is read from a BigInt or from bytes.
const INTEGER = { wire: 0, initial: 0, read: (n) => Number(BigInt.asIntN(64, n)) };
const TYPES = {
  bool: { wire: 0, initial: false, read: (n) => n !== 0n },
  double: { wire: 1, initial: 0, read: (b) => b.readDoubleLE() },
  float: { wire: 5, initial: 0, read: (b) => b.readFloatLE() },
  string: { wire: 2, initial: '', read: (b) => b.toString() },
  bytes: { wire: 2, initial: Buffer.alloc(0), read: (b) => b },
};

const collect = (text, pattern, entry) => Object.fromEntries([...text.matchAll(pattern)].map(entry));

export class Schema {
  constructor(file) {
    // A member of a oneof is read as a field that may be absent.
    const optional = (_, members) => members.replace(/\w+ \w+ =/g, 'optional $&');
    const source = fs.readFileSync(file, 'utf8').replace(/\/\/.*/g, '');
    const text = source.replace(/oneof \w+ {([^}]*)}/g, optional);
    const field = ([, label, type, name, number]) => [number, { label: label?.trim(), type, name, number }];
    this.messages = collect(text, /message (\w+) {([^}]*)}/g,
      ([, name, body]) => [name, collect(body, /(\w+ )?(\w+) (\w+) = (\d+);/g, field)]);
    this.enums = collect(text, /enum (\w+) {([^}]*)}/g,
      ([, name, body]) => [name, collect(body, /(\w+) = (\d+);/g, ([, key, number]) => [number, key])]);
    this.numbers = collect(text, /([A-Z]\w+) = (\d+);/g, ([, name, number]) => [name, number]);
    this.methods = collect(text, /rpc (\w+)\((?:stream )?(\w+)\) returns \((?:stream )?(\w+)\)/g,
      ([, name, request, reply]) => [name, { request, reply }]);
  }

  type(name) {
    if (this.messages[name]) return { wire: 2, read: (b) => this.decode(name, b) };
    const names = this.enums[name]; // an enum is read as a name, or as the number of one that is not known
    if (names) return { wire: 0, initial: names[0], read: (n) => names[n] ?? Number(n) };
    return TYPES[name] ?? INTEGER;
  }

  decode(name, b) {
    const out = {};
    for (const { name: key, label, type } of Object.values(this.messages[name])) {
      if (label !== 'optional') out[key] = label === 'repeated' ? [] : this.type(type).initial;
    }
    for (const at = { i: 0 }; at.i < b.length; ) {
      const key = Number(varint(b, at));
      const raw = take(b, at, key % 8);
      const f = this.messages[name][Math.floor(key / 8)];
      if (!f) continue; // of a later version
      const { wire, read } = this.type(f.type);
      if (f.label !== 'repeated') out[f.name] = read(raw);
      else if (key % 8 === wire) out[f.name].push(read(raw));
      else for (const p = { i: 0 }; p.i < raw.length; ) out[f.name].push(read(take(raw, p, wire))); // packed
    }
    return out;
  }

  // encode writes the properties that an object has. What a plugin sends has no floats.
  encode(name, object) {
    const parts = [];
    for (const f of Object.values(this.messages[name])) {
      const { wire } = this.type(f.type);
      for (const v of [object[f.name] ?? []].flat()) { // none if absent, each if repeated
        parts.push(toVarint(f.number * 8 + wire));
        const bytes = wire === 2 && Buffer.from(this.messages[f.type] ? this.encode(f.type, v) : v);
        parts.push(...(bytes ? [toVarint(bytes.length), bytes] : [toVarint(this.numbers[v] ?? v)]));
      }
    }
    return Buffer.concat(parts);
  }
}

// take reads a varint as a BigInt, anything else as bytes.
function take(b, at, wire) {
  if (wire === 0) return varint(b, at);
  const n = { 1: 8, 5: 4 }[wire] ?? Number(varint(b, at));
  return b.subarray(at.i, (at.i += n));
}

function varint(b, at) {
  let n = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = b[at.i++];
    n |= BigInt(byte & 127) << shift;
    if (byte < 128) return n;
  }
}

function toVarint(number) {
  const out = [];
  let n = BigInt.asUintN(64, BigInt(number));
  for (; n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
  return Buffer.from([...out, Number(n)]);
}
