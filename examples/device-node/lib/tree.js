// The canonical tree, along which everything is added.
'use strict';

const MERGE = 2; // REDUCTION_MERGE_MOMENTS

// combine combines two nodes; null is a node without rows.
function combine(op, a, b) {
  if (!a || !b) return a ?? b;
  return op === MERGE ? merge(a, b) : a.map((v, i) => v + b[i]);
}

// merge returns the moments of the union (Chan, Golub, LeVeque 1979, eq. 1.5).
function merge(a, b) {
  const [na, nb] = [a[0], b[0]];
  if (na === 0 || nb === 0) return na === 0 ? b : a;
  const c = (a.length - 1) / 2;
  const out = new Float64Array(a.length);
  out[0] = na + nb;
  for (let i = 1; i <= c; i++) {
    const d = b[i] - a[i];
    out[i] = a[i] + (d * nb) / out[0];
    out[c + i] = a[c + i] + b[c + i] + (d * d * na * nb) / out[0];
  }
  return out;
}

// middle is where the node [from, to) splits: at the largest power of two below its length.
function middle(from, to) {
  let half = 1;
  while (2 * half < to - from) half *= 2;
  return from + half;
}

function reduce(op, from, to, leaf) {
  if (to - from === 1) return leaf(from);
  const m = middle(from, to);
  return combine(op, reduce(op, from, m, leaf), reduce(op, m, to, leaf));
}

// cover returns the largest nodes all of whose leaves are held, from left to right.
function cover(from, to, held) {
  const here = held.filter((r) => from <= r && r < to).length;
  if (here === 0) return [];
  if (here === to - from) return [{ from, to }];
  const m = middle(from, to);
  return [...cover(from, m, held), ...cover(m, to, held)];
}

// parts returns what a member contributes: { from, to, value } for each node that it holds.
function parts(op, leaves, held, values) {
  const of = new Map(held.map((r, i) => [r, values[i]]));
  return cover(0, leaves, held).map((n) => ({ ...n, value: reduce(op, n.from, n.to, (r) => of.get(r)) }));
}

module.exports = { parts };
