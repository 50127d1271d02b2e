// Tensors as typed arrays, by DType.
'use strict';

const TYPES = {
  1: Float32Array, 2: Float64Array, 5: Int8Array, 6: Int16Array, 7: Int32Array, 8: BigInt64Array,
  9: Uint8Array, 10: Uint16Array, 11: Uint32Array, 12: BigUint64Array, 13: Uint8Array,
};

// arrayOf copies bytes, little endian as this machine's, into an array of its own.
function arrayOf(dtype, bytes) {
  const copy = new Uint8Array(bytes);
  return new TYPES[dtype](copy.buffer, 0, copy.length / TYPES[dtype].BYTES_PER_ELEMENT);
}

const bytesOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const count = (shape) => shape.reduce((n, k) => n * k, 1);

module.exports = { TYPES, arrayOf, bytesOf, count };
