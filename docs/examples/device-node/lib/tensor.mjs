// Tensors as typed arrays, by DType, and the canonical tree, along which they are added.

// F16 and BF16 have none: no value of this device is of them.
export const TYPES = {
  DTYPE_F32: Float32Array, DTYPE_F64: Float64Array, DTYPE_I8: Int8Array, DTYPE_I16: Int16Array,
  DTYPE_I32: Int32Array, DTYPE_I64: BigInt64Array, DTYPE_U8: Uint8Array, DTYPE_U16: Uint16Array,
  DTYPE_U32: Uint32Array, DTYPE_U64: BigUint64Array, DTYPE_BOOL: Uint8Array,
};
export const count = (shape) => shape.reduce((n, k) => n * k, 1);
export const zeros = (type) => new TYPES[type.dtype](count(type.shape));

// parts returns what a member contributes to the node [from, to): each of the largest nodes in it all of
// whose leaves it holds. leaves has an array by replica, null where there are no rows.
export function parts(op, from, to, leaves) {
  const part = (array) => [{ from, to, array, absent: !array }];
  if (to - from < 2) return leaves.has(from) ? part(leaves.get(from)) : [];
  let half = 1;
  while (2 * half < to - from) half *= 2;
  const below = [...parts(op, from, from + half, leaves), ...parts(op, from + half, to, leaves)];
  const held = below.reduce((n, p) => n + p.to - p.from, 0);
  return held < to - from ? below : part(combine(op, below[0].array, below[1].array));
}

function combine(op, a, b) {
  if (!a || !b) return a ?? b;
  if (op === 'REDUCTION_SUM') return a.map((v, i) => v + b[i]);
  const [na, nb, c] = [a[0], b[0], (a.length - 1) / 2]; // moments: Chan, Golub, LeVeque 1979, eq. 1.5
  if (na === 0 || nb === 0) return na === 0 ? b : a;
  const out = Float64Array.of(na + nb, ...a.subarray(1));
  for (let i = 1; i <= c; i++) {
    const d = b[i] - a[i];
    out[i] += (d * nb) / out[0];
    out[c + i] = a[c + i] + b[c + i] + (d * d * na * nb) / out[0];
  }
  return out;
}
