// What the operations compute; device.proto says it in words. Inside, everything is float64 and rounded once
// when it is stored; updates are float32 throughout. A row is computed by itself and a replica by itself, so
// that no result depends on what else the device holds.
'use strict';
const { TYPES, count } = require('./tensor');

const OPERATIONS = {}; // name: function of a Node, that fills its results
const ATTRIBUTES = { OP_ALL_REDUCE: ['of'] }; // name: those that it reads
const [WHOLE, REPLICA, ROWS] = [1, 2, 3]; // relations
const f32 = Math.fround;

function operation(name, attributes, compute) {
  OPERATIONS[name] = compute;
  ATTRIBUTES[name] = attributes;
}

// Frame is one run of a function: its values, and the rows of the replicas.
class Frame {
  constructor(executable, f, rows) {
    Object.assign(this, { executable, f, rows, owner: [], sequence: [0, 0] });
    rows.forEach((n, r) => { for (let i = 0; i < n; i++) this.owner.push(r); });
    this.values = f.values.map((v) => (v.state ? executable.state.get(v.state) : null));
  }

  shape(v) {
    const { relation, type } = this.f.values[v];
    const lead = { [ROWS]: [this.owner.length], [REPLICA]: [this.rows.length] }[relation] ?? [];
    return [...lead, ...type.shape];
  }

  make(v) {
    this.values[v] = new TYPES[this.f.values[v].type.dtype](count(this.shape(v)));
    return this.values[v];
  }

  // run runs all nodes. Consecutive all-reduces are one exchange.
  async run(session, step) {
    const nodes = this.f.nodes;
    for (let at = 0; at < nodes.length; ) {
      if (session.device.canceled >= session.call) throw session.device.fail('CANCELED', 'the call was cancelled');
      let end = at;
      while (end < nodes.length && nodes[end].name === 'OP_ALL_REDUCE') end++;
      if (end > at) await this.allReduce(session, step, nodes.slice(at, end));
      else this.compute(nodes[end++]);
      at = end;
      if (at % 16 === 0) await new Promise(setImmediate); // so that Cancel is heard
    }
  }

  compute(n) {
    for (const v of n.out) this.make(v);
    OPERATIONS[n.name](new Node(this, n));
  }

  async allReduce(session, step, nodes) {
    const values = nodes.map((n) => {
      const type = this.f.values[n.out[0]].type;
      const x = this.values[n.in[0]];
      const size = count(type.shape);
      const leaves = this.rows.map((rows, r) => (rows > 0 ? x.slice(r * size, (r + 1) * size) : null));
      return { op: attributes(n).of === 'moments' ? 2 : 1, ...type, leaves, zeros: new TYPES[type.dtype](size) };
    });
    const results = new Set(nodes.flatMap((n) => n.out));
    const lane = this.f.nodes.some((n) => n.in.some((v) => results.has(v))) ? 0 : 1; // MOMENTS, GRADIENTS
    const tag = { generation: session.device.group?.generation ?? 0, step, lane, sequence: this.sequence[lane]++,
      name: this.f.values[nodes[0].in[0]].name };
    (await session.allReduce(tag, values)).forEach((array, i) => { this.values[nodes[i].out[0]] = array; });
  }
}

function attributes(n) {
  const value = ({ key, ...one }) => { const v = Object.values(one)[0]; return v?.values ?? v; };
  return Object.fromEntries(n.attributes.map((a) => [a.key, value(a)]));
}

// Node is a node with its operands and results at hand.
class Node {
  constructor(frame, n) {
    Object.assign(this, { frame, n, attr: attributes(n), rows: frame.owner.length, owner: frame.owner });
    this.out = n.out.map((v) => frame.values[v]);
  }

  get(i) { return this.n.in[i] >= 0 ? this.frame.values[this.n.in[i]] : undefined; }

  // of is the type of operand i: shape and relation, without the leading axis.
  of(i) { const v = this.frame.f.values[this.n.in[i]]; return { shape: v.type.shape, relation: v.relation }; }

  shapeOut() { return this.frame.f.values[this.n.out[0]].type.shape; }

  // where operand i begins for a row, an element for each of its relation being so long.
  at(i, row, size) {
    return { [WHOLE]: 0, [REPLICA]: this.owner[row] * size, [ROWS]: row * size }[this.of(i).relation];
  }

  // elements calls f(element of operand 0, of operand 1 if there is one) for each element of the result.
  elements(f) {
    const [a, b] = [this.get(0), this.get(1)];
    for (let i = 0; i < this.out[0].length; i++) this.out[0][i] = f(a[i], b?.[i]);
  }

  // channels calls f(row, channel, index) for each element of operand 0.
  channels(f) {
    const [c, ...rest] = this.of(0).shape;
    const size = count(rest);
    for (let row = 0, i = 0; row < this.rows; row++) {
      for (let k = 0; k < c; k++) for (let p = 0; p < size; p++) f(row, k, i++);
    }
  }
}

operation('OP_IMAGE', ['scale', 'mean', 'std', 'bgr'], (n) => {
  const [h, w, c] = n.of(0).shape;
  const x = n.get(0);
  const { scale, mean, std, bgr } = n.attr;
  for (let row = 0, i = 0; row < n.rows; row++) {
    for (let k = 0; k < c; k++) {
      for (let p = 0; p < h * w; p++) {
        const v = x[(row * h * w + p) * c + (bgr ? c - 1 - k : k)] * scale;
        n.out[0][i++] = (v - (mean.length ? mean[k] : 0)) / (std.length ? std[k] : 1);
      }
    }
  }
});

operation('OP_RESHAPE', ['shape'], (n) => n.out[0].set(n.get(0)));

// taps calls f(output pixel, input pixel, tap) for each tap of a window that lies in an image.
function taps([h, w], [kh, kw], [oh, ow], { stride = [1, 1], pad, dilation = [1, 1] }, f) {
  for (let y = 0; y < oh; y++) for (let x = 0; x < ow; x++) {
    for (let i = 0; i < kh; i++) for (let j = 0; j < kw; j++) {
      const [r, s] = [y * stride[0] - pad[0] + i * dilation[0], x * stride[1] - pad[1] + j * dilation[1]];
      if (r >= 0 && r < h && s >= 0 && s < w) f(y * ow + x, r * w + s, i * kw + j);
    }
  }
}

// convolution calls f(index in x, in weight, in y, row) for each product of a convolution of images [C,H,W]
// with kernels [O,C/groups,kh,kw] to [O,H',W'].
function convolution(n, [c, h, w], [o, each, kh, kw], [, oh, ow], f) {
  const list = [];
  taps([h, w], [kh, kw], [oh, ow], n.attr, (out, pixel, tap) => list.push(out, pixel, tap));
  const perGroup = o / n.attr.groups;
  for (let row = 0; row < n.rows; row++) for (let k = 0; k < o; k++) for (let m = 0; m < each; m++) {
    const x = (row * c + Math.floor(k / perGroup) * each + m) * h * w;
    const weight = (k * each + m) * kh * kw;
    const y = (row * o + k) * oh * ow;
    for (let i = 0; i < list.length; i += 3) f(x + list[i + 1], weight + list[i + 2], y + list[i], row);
  }
}

const CONV = ['stride', 'pad', 'dilation', 'groups'];

operation('OP_CONV', CONV, (n) => {
  const [x, weight, bias] = [0, 1, 2].map((i) => n.get(i));
  const shape = n.shapeOut();
  const y = new Float64Array(n.out[0].length);
  convolution(n, n.of(0).shape, n.of(1).shape, shape, (a, b, c) => { y[c] += x[a] * weight[b]; });
  const size = shape[1] * shape[2];
  n.out[0].set(bias ? y.map((v, i) => v + bias[Math.floor(i / size) % shape[0]]) : y);
});

operation('OP_CONV_GRAD_INPUT', [...CONV, 'size'], (n) => {
  const [dy, weight] = [n.get(0), n.get(1)];
  const dx = new Float64Array(n.out[0].length);
  convolution(n, n.shapeOut(), n.of(1).shape, n.of(0).shape, (a, b, c) => { dx[a] += dy[c] * weight[b]; });
  n.out[0].set(dx);
});

operation('OP_CONV_GRAD_WEIGHT', [...CONV, 'kernel'], (n) => {
  const [x, dy] = [n.get(0), n.get(1)];
  const size = count(n.shapeOut());
  const dw = new Float64Array(n.out[0].length);
  convolution(n, n.of(0).shape, n.shapeOut(), n.of(1).shape, (a, b, c, row) => {
    dw[n.owner[row] * size + b] += x[a] * dy[c];
  });
  n.out[0].set(dw);
});

// products calls f(row, o, k) for each product of a dense layer [O,K].
function products(n, [o, k], f) {
  for (let row = 0; row < n.rows; row++) for (let i = 0; i < o; i++) for (let j = 0; j < k; j++) f(row, i, j);
}

operation('OP_DENSE', [], (n) => {
  const [x, weight, bias] = [0, 1, 2].map((i) => n.get(i));
  const [o, k] = n.of(1).shape;
  const y = new Float64Array(n.rows * o);
  products(n, [o, k], (row, i, j) => { y[row * o + i] += x[row * k + j] * weight[i * k + j]; });
  n.out[0].set(bias ? y.map((v, i) => v + bias[i % o]) : y);
});

operation('OP_DENSE_GRAD_INPUT', [], (n) => {
  const [dy, weight] = [n.get(0), n.get(1)];
  const [o, k] = n.of(1).shape;
  const dx = new Float64Array(n.rows * k);
  products(n, [o, k], (row, i, j) => { dx[row * k + j] += dy[row * o + i] * weight[i * k + j]; });
  n.out[0].set(dx);
});

operation('OP_DENSE_GRAD_WEIGHT', [], (n) => {
  const [x, dy] = [n.get(0), n.get(1)];
  const [o, k] = n.shapeOut();
  const dw = new Float64Array(n.out[0].length);
  products(n, [o, k], (row, i, j) => { dw[(n.owner[row] * o + i) * k + j] += dy[row * o + i] * x[row * k + j]; });
  n.out[0].set(dw);
});

operation('OP_CHANNEL_SUM', [], (n) => {
  const [c] = n.of(0).shape;
  const sums = new Float64Array(n.out[0].length);
  n.channels((row, k, i) => { sums[n.owner[row] * c + k] += n.get(0)[i]; });
  n.out[0].set(sums);
});

// Batch norm. Moments are (n, means, sums of squared deviations).

operation('OP_MOMENTS', [], (n) => {
  const [c, ...rest] = n.of(0).shape;
  const [x, m, width] = [n.get(0), n.out[0], 1 + 2 * c];
  n.frame.rows.forEach((rows, r) => { m[r * width] = rows * count(rest); });
  const at = (row, k) => n.owner[row] * width + 1 + k;
  n.channels((row, k, i) => { m[at(row, k)] += x[i]; });
  n.frame.rows.forEach((_, r) => {
    for (let k = 0; k < c; k++) if (m[r * width] > 0) m[r * width + 1 + k] /= m[r * width];
  });
  n.channels((row, k, i) => { m[at(row, k) + c] += (x[i] - m[at(row, k)]) ** 2; });
});

// moment returns count, mean, and 1/sqrt(variance + eps) of a channel; m begins at.
function moment(m, at, c, k, eps) {
  const n = m[at];
  const variance = n === 0 ? 0 : m[at + 1 + c + k] / Math.abs(n);
  return { n, mean: m[at + 1 + k], inverse: 1 / Math.sqrt(variance + eps) };
}

operation('OP_NORMALISE', ['eps', 'over'], (n) => {
  const [x, m, gamma, beta] = [0, 1, 2, 3].map((i) => n.get(i));
  const [c] = n.of(0).shape;
  n.channels((row, k, i) => {
    const s = moment(m, n.at(1, row, 1 + 2 * c), c, k, n.attr.eps);
    n.out[0][i] = gamma[k] * (x[i] - s.mean) * s.inverse + beta[k];
  });
});

operation('OP_BATCH_NORM', ['eps', 'decay', 'cumulative', 'variance'], (n) => {
  const [x, gamma, beta, mean, variance] = [0, 1, 2, 3, 4].map((i) => n.get(i));
  n.channels((row, k, i) => {
    n.out[0][i] = gamma[k] * (x[i] - mean[k]) * (1 / Math.sqrt(variance[k] + n.attr.eps)) + beta[k];
  });
});

operation('OP_NORMALISE_GRAD_SUMS', ['over'], (n) => {
  const [x, dy, m] = [0, 1, 2].map((i) => n.get(i));
  const [c] = n.of(0).shape;
  n.channels((row, k, i) => {
    const at = n.owner[row] * 2 * c + k;
    n.out[0][at] += dy[i];
    n.out[0][at + c] += dy[i] * (x[i] - m[n.at(2, row, 1 + 2 * c) + 1 + k]);
  });
});

operation('OP_NORMALISE_GRAD_INPUT', ['eps', 'over'], (n) => {
  const [x, dy, m, sums, gamma] = [0, 1, 2, 3, 4].map((i) => n.get(i));
  const [c] = n.of(0).shape;
  n.channels((row, k, i) => {
    const s = moment(m, n.at(2, row, 1 + 2 * c), c, k, n.attr.eps);
    const at = n.at(3, row, 2 * c) + k;
    const flow = s.n < 0 ? 0 : sums[at] / s.n + (x[i] - s.mean) * s.inverse * s.inverse * (sums[at + c] / s.n);
    n.out[0][i] = gamma[k] * s.inverse * (dy[i] - flow);
  });
});

operation('OP_NORMALISE_GRAD_PARAMS', ['eps'], (n) => {
  const [m, sums] = [n.get(0), n.get(1)];
  const c = n.of(1).shape[0] / 2;
  for (let i = 0; i < n.out[0].length; i++) {
    const [r, k] = [Math.floor(i / c), i % c];
    const at = n.of(0).relation === WHOLE ? 0 : r * (1 + 2 * c);
    n.out[0][i] = moment(m, at, c, k, n.attr.eps).inverse * sums[r * 2 * c + c + k];
    n.out[1][i] = sums[r * 2 * c + k];
  }
});

// Activations.

operation('OP_RELU', [], (n) => n.elements((x) => (x > 0 || x !== x ? x : 0)));

// Of the derivatives this device has that of relu, whose result is saved; it refuses nodes of others.
operation('OP_ACTIVATION_GRAD', ['of', 'alpha', 'beta', 'min', 'max'], (n) => {
  n.elements((y, dy) => (y !== y ? NaN : y > 0 ? dy : 0 * dy));
});

// Pooling.

// maxima calls f(output, index in x of the first maximum) for each window of operand 0.
function maxima(n, [, oh, ow], f) {
  const [c, h, w] = n.of(0).shape;
  const windows = Array.from({ length: oh * ow }, () => []);
  taps([h, w], n.attr.kernel, [oh, ow], n.attr, (out, pixel) => windows[out].push(pixel));
  const x = n.get(0);
  for (let plane = 0; plane < n.rows * c; plane++) windows.forEach((pixels, out) => {
    let best = plane * h * w + pixels[0];
    for (const p of pixels) {
      const i = plane * h * w + p;
      if (x[best] === x[best] && (x[i] > x[best] || x[i] !== x[i])) best = i;
    }
    f(plane * oh * ow + out, best);
  });
}

operation('OP_MAX_POOL', ['kernel', 'stride', 'pad'], (n) => {
  maxima(n, n.shapeOut(), (out, i) => { n.out[0][out] = n.get(0)[i]; });
});

operation('OP_MAX_POOL_GRAD', ['kernel', 'stride', 'pad'], (n) => {
  const dx = new Float64Array(n.out[0].length);
  maxima(n, n.of(1).shape, (out, i) => { dx[i] += n.get(1)[out]; });
  n.out[0].set(dx);
});

// Loss and metrics.

// positions calls f(row, index of the label, c => index of the logit of class c) for each label that counts.
function positions(n, f) {
  const [c, ...rest] = n.of(0).shape;
  const size = count(rest);
  for (let row = 0; row < n.rows; row++) for (let p = 0; p < size; p++) {
    const label = n.get(1)[row * size + p];
    if (label === n.attr.ignore) continue;
    if (label < 0 || label >= c) throw n.frame.executable.invalid(`label ${label} is not one of 0 to ${c - 1}`);
    f(row, label, (k) => (row * c + k) * size + p, c);
  }
}

// logSums returns the largest logit of a position and the logarithm of the sum of exponentials beside it.
function logSums(x, at, c) {
  let largest = -Infinity;
  for (let k = 0; k < c; k++) largest = Math.max(largest, x[at(k)]);
  let sum = 0;
  for (let k = 0; k < c; k++) sum += Math.exp(x[at(k)] - largest);
  return [largest, Math.log(sum)];
}

const target = (a, k, label, c) => a.smoothing / c + (k === label ? 1 - a.smoothing : 0);
const weightOf = (n, i, row, label) => (n.get(i)?.[row] ?? 1) * (n.attr.weights.length ? n.attr.weights[label] : 1);
const LOSS = ['ignore', 'smoothing', 'weights'];

operation('OP_SOFTMAX_XENT', LOSS, (n) => {
  positions(n, (row, label, at, c) => {
    const [largest, log] = logSums(n.get(0), at, c);
    let loss = 0;
    for (let k = 0; k < c; k++) {
      const t = target(n.attr, k, label, c);
      if (t !== 0) loss -= t * (n.get(0)[at(k)] - largest - log);
    }
    n.out[0][n.owner[row]] += loss * weightOf(n, 2, row, label);
  });
});

operation('OP_SOFTMAX_XENT_GRAD', LOSS, (n) => {
  positions(n, (row, label, at, c) => {
    const [largest, log] = logSums(n.get(0), at, c);
    for (let k = 0; k < c; k++) {
      const d = Math.exp(n.get(0)[at(k)] - largest - log) - target(n.attr, k, label, c);
      n.out[0][at(k)] = d * weightOf(n, 3, row, label) * n.get(2)[0];
    }
  });
});

operation('OP_CORRECT', ['ignore'], (n) => {
  positions(n, (row, label, at, c) => {
    let best = 0;
    for (let k = 1; k < c; k++) if (n.get(0)[at(k)] > n.get(0)[at(best)]) best = k;
    n.out[0][2 * n.owner[row]] += best === label ? 1 : 0;
    n.out[0][2 * n.owner[row] + 1] += 1;
  });
});

// Updates: every operation is rounded to float32.

operation('OP_SGD', ['momentum', 'weight_decay', 'nesterov'], (n) => {
  const [w, g, v, lr] = [0, 1, 2, 3].map((i) => n.get(i));
  const [momentum, decay] = [f32(n.attr.momentum), f32(n.attr.weight_decay)];
  for (let i = 0; i < w.length; i++) {
    const d = decay === 0 ? g[i] : f32(g[i] + f32(decay * w[i]));
    const next = f32(f32(momentum * v[i]) + d);
    const u = n.attr.nesterov ? f32(d + f32(momentum * next)) : next;
    n.out[0][i] = f32(w[i] - f32(lr[0] * u));
    n.out[1][i] = next;
  }
});

module.exports = { OPERATIONS, ATTRIBUTES, Frame };
