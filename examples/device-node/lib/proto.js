// Protocol buffers: reads a .proto file, and the messages that it describes. An int64 is a Number:
// what this plugin gets stays below 2^53.
'use strict';
const fs = require('fs');

const VARINTS = new Set(['int32', 'int64', 'uint32', 'uint64', 'bool']);

class Schema {
  constructor(file) {
    this.messages = {}; // name: fields by number
    this.enums = {}; // name: { NAME: number }
    this.methods = {}; // name: { request, reply }
    const text = fs.readFileSync(file, 'utf8').replace(/\/\/.*/g, '');
    const words = text.match(/[\w.]+|"[^"]*"|[{}()=;]/g);
    for (let i = 0; i < words.length; i++) {
      if (words[i] === 'message') i = this.message(words, i + 1);
      else if (words[i] === 'enum') i = this.enum(words, i + 1);
      else if (words[i] === 'rpc') {
        const types = words.slice(i + 2, words.indexOf(';', i)).filter((w) => /^[A-Z]/.test(w));
        this.methods[words[i + 1]] = { request: types[0], reply: types[1] };
      }
    }
  }

  message(words, at) {
    const fields = (this.messages[words[at]] = {});
    let oneof = false;
    for (at += 2; words[at] !== '}' || oneof; at++) {
      if (words[at] === '}') oneof = false;
      else if (words[at] === 'oneof') {
        oneof = true;
        at += 2;
      } else {
        const repeated = words[at] === 'repeated';
        if (repeated) at++;
        const [type, name, , number] = words.slice(at, at + 4);
        fields[number] = { type, name, number: +number, repeated, oneof };
        at += 4; // to the semicolon
      }
    }
    return at;
  }

  enum(words, at) {
    const values = (this.enums[words[at]] = {});
    for (at += 2; words[at] !== '}'; at += 4) values[words[at]] = +words[at + 2];
    return at;
  }

  // wire returns the wire type of a field: 0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes.
  wire(type) {
    if (VARINTS.has(type) || this.enums[type]) return 0;
    return { double: 1, float: 5 }[type] ?? 2;
  }

  decode(name, b) {
    const fields = this.messages[name];
    const out = {};
    for (const f of Object.values(fields)) {
      if (f.repeated) out[f.name] = [];
      else if (!f.oneof && !this.messages[f.type]) out[f.name] = initial(f.type);
    }
    for (let at = { i: 0 }; at.i < b.length; ) {
      const key = varint(b, at);
      const f = fields[Math.floor(key / 8)];
      const wire = key % 8;
      if (!f) skip(b, at, wire);
      else if (f.repeated && wire === 2 && this.wire(f.type) !== 2) { // packed
        const end = varint(b, at) + at.i;
        while (at.i < end) out[f.name].push(this.value(f.type, b, at));
      } else if (f.repeated) out[f.name].push(this.value(f.type, b, at));
      else out[f.name] = this.value(f.type, b, at);
    }
    return out;
  }

  value(type, b, at) {
    switch (this.wire(type)) {
      case 0: {
        const n = varint(b, at, type.startsWith('int') || !!this.enums[type]);
        return type === 'bool' ? n !== 0 : n;
      }
      case 1:
        return b.readDoubleLE((at.i += 8) - 8);
      case 5:
        return b.readFloatLE((at.i += 4) - 4);
    }
    const n = varint(b, at);
    const part = b.subarray(at.i, (at.i += n));
    if (type === 'bytes') return part;
    return type === 'string' ? part.toString('utf8') : this.decode(type, part);
  }

  // encode writes the properties that an object has. Enums may be names.
  encode(name, object) {
    const parts = [];
    for (const f of Object.values(this.messages[name])) {
      const value = object[f.name];
      if (value === undefined || value === null) continue;
      for (const v of f.repeated ? value : [value]) {
        const wire = this.wire(f.type);
        parts.push(number(f.number * 8 + wire));
        if (wire === 0) parts.push(number(Number(this.enums[f.type]?.[v] ?? v)));
        else if (wire === 1 || wire === 5) {
          const b = Buffer.alloc(wire === 1 ? 8 : 4);
          if (wire === 1) b.writeDoubleLE(v);
          else b.writeFloatLE(v);
          parts.push(b);
        } else {
          const b = f.type === 'bytes' ? v : f.type === 'string' ? Buffer.from(v) : this.encode(f.type, v);
          parts.push(number(b.length), b);
        }
      }
    }
    return Buffer.concat(parts);
  }
}

function initial(type) {
  return { bool: false, string: '', bytes: Buffer.alloc(0) }[type] ?? 0;
}

function varint(b, at, signed) {
  let n = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = b[at.i++];
    n |= BigInt(byte & 127) << shift;
    if (byte < 128) return Number(signed ? BigInt.asIntN(64, n) : n);
  }
}

function number(n) {
  const out = [];
  let v = BigInt.asUintN(64, BigInt(n));
  for (; v > 127n; v >>= 7n) out.push(Number(v & 127n) | 128);
  return Buffer.from([...out, Number(v)]);
}

function skip(b, at, wire) {
  if (wire === 0) varint(b, at);
  else if (wire === 2) {
    const n = varint(b, at);
    at.i += n;
  } else at.i += wire === 1 ? 8 : 4;
}

module.exports = { Schema };
