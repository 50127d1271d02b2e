// What the operations compute; device.proto says it in words. Each fills its results, arrays of float64. A
// row is computed by itself and a replica by itself: no result depends on what else the device holds.
import { failure } from './device.mjs';
import { count } from './tensor.mjs';

export const OPERATIONS = {}; // name: the attributes that it knows, and compute(node, operands, results)

function operation(name, attributes, compute) {
  OPERATIONS[name] = { attributes: attributes.split(' '), compute };
}

// Node is a node in a run: attributes, shapes of operands and of the first result, and where things lie.
export class Node {
  constructor({ f, rows, owner }, n) {
    this.operands = n.in.map((v) => f.values[v]); // nothing where one is absent
    this.shapes = this.operands.map((v) => v?.type.shape);
    Object.assign(this, { ...n.attributes, replicas: rows, owner, result: f.values[n.out[0]].type.shape });
  }

  // at is where operand i begins for a row, or for a replica.
  at(i, row, replica = this.owner[row]) {
    const before = { RELATION_WHOLE: 0, RELATION_REPLICA: replica, RELATION_ROWS: row };
    return before[this.operands[i].relation] * count(this.shapes[i]);
  }

  // moment is count, mean and 1/sqrt(variance + eps) of channel k of moments m, operand i.
  moment(m, i, k, row, replica) {
    const [at, c] = [this.at(i, row, replica), (this.shapes[i][0] - 1) / 2];
    const variance = m[at] === 0 ? 0 : m[at + 1 + c + k] / Math.abs(m[at]);
    return { count: m[at], mean: m[at + 1 + k], inverse: 1 / Math.sqrt(variance + this.eps) };
  }

  // each goes through operand 0: begin(row, channel) returns what is called with the index of each element.
  each(begin) {
    const [c, ...rest] = this.shapes[0];
    const size = count(rest);
    for (let plane = 0; plane < this.owner.length * c; plane++) {
      const f = begin(Math.floor(plane / c), plane % c);
      for (let i = plane * size; i < (plane + 1) * size; i++) f(i);
    }
  }
}

operation('OP_IMAGE', 'scale mean std bgr', (n, [x], [y]) => {
  const [h, w, c] = n.shapes[0];
  for (let i = 0; i < y.length; i++) {
    const [row, k, pixel] = [Math.floor(i / (c * h * w)), Math.floor(i / (h * w)) % c, i % (h * w)];
    const v = x[(row * h * w + pixel) * c + (n.bgr ? c - 1 - k : k)] * n.scale;
    y[i] = (v - (n.mean[k] ?? 0)) / (n.std[k] ?? 1);
  }
});
operation('OP_RESHAPE', 'shape', (n, [x]) => [x]);
operation('OP_ALL_REDUCE', 'of'); // is an exchange: frame.mjs

// taps calls f(output pixel, input pixel, tap) for each tap of a window that lies in an image.
function taps([h, w], [kh, kw], [oh, ow], { stride, pad, dilation = [1, 1] }, f) {
  for (let y = 0; y < oh; y++) for (let x = 0; x < ow; x++) {
    for (let i = 0; i < kh; i++) for (let j = 0; j < kw; j++) {
      const [r, s] = [y * stride[0] - pad[0] + i * dilation[0], x * stride[1] - pad[1] + j * dilation[1]];
      if (r >= 0 && r < h && s >= 0 && s < w) f(y * ow + x, r * w + s, i * kw + j);
    }
  }
}

// A convolution is many products of images x [C,H,W] with kernels w [O,C/groups,kh,kw], added to y [O,H',W'].
// Its gradients are the same products with another role for each: y*w added to x, and x*y to w, by replica.
// convolve adds to the one of x, w, y that is number 2, 0 or 1; the node's operands are the others.
function convolve(n, third, [a, b, bias], sum, { stride, pad, dilation, groups }) {
  const [one, two] = [[2, 1], [0, 2], [0, 1]][third];
  const shapes = [];
  [n.shapes[0], n.shapes[1], n.result].forEach((s, i) => { shapes[[one, two, third][i]] = [...s, 1, 1]; });
  const [[c, h, w], [o, each, kh, kw], [, oh, ow]] = shapes;
  const list = []; // for each product of a channel of y: where in the planes it finds x, w and y
  taps([h, w], [kh, kw], [oh, ow], { stride, pad, dilation }, (out, pixel, tap) => {
    for (let m = 0; m < each; m++) list.push(m * h * w + pixel, m * kh * kw + tap, out);
  });
  for (let row = 0; row < n.owner.length; row++) for (let k = 0; k < o; k++) {
    const group = Math.floor(k / (o / groups));
    const kernel = (third === 1 ? n.owner[row] * o : 0) + k;
    const begin = [(row * c + group * each) * h * w, kernel * each * kh * kw, (row * o + k) * oh * ow];
    const [to, left, right] = [begin[third], begin[one], begin[two]];
    for (let i = 0; i < list.length; i += 3) {
      sum[to + list[i + third]] += a[left + list[i + one]] * b[right + list[i + two]];
    }
  }
  if (bias) sum.forEach((_, i) => { sum[i] += bias[Math.floor(i / (oh * ow)) % o]; });
}

const DENSE = { stride: [1, 1], pad: [0, 0], groups: 1 }; // is a convolution of images of one pixel
const LAYERS = [['', 2, ''], ['_GRAD_INPUT', 0, 'size'], ['_GRAD_WEIGHT', 1, 'kernel']];
for (const [suffix, third, size] of LAYERS) {
  operation('OP_CONV' + suffix, 'stride pad dilation groups ' + size,
    (n, operands, [sum]) => convolve(n, third, operands, sum, n));
  operation('OP_DENSE' + suffix, '', (n, operands, [sum]) => convolve(n, third, operands, sum, DENSE));
}

// Batch norm. Moments are (n, means, sums of squared deviations).

operation('OP_MOMENTS', '', (n, [x], [m]) => {
  const [c, ...rest] = n.shapes[0];
  const begin = (row) => n.owner[row] * (1 + 2 * c);
  n.replicas.forEach((rows, r) => { m[r * (1 + 2 * c)] = rows * count(rest); });
  n.each((row, k) => (i) => { m[begin(row) + 1 + k] += x[i] / m[begin(row)]; });
  n.each((row, k) => (i) => { m[begin(row) + 1 + c + k] += (x[i] - m[begin(row) + 1 + k]) ** 2; });
});
operation('OP_NORMALISE', 'eps over', (n, [x, m, gamma, beta], [y]) => n.each((row, k) => {
  const { mean, inverse } = n.moment(m, 1, k, row);
  return (i) => { y[i] = gamma[k] * (x[i] - mean) * inverse + beta[k]; };
}));
operation('OP_BATCH_NORM', 'eps decay cumulative variance', (n, [x, gamma, beta, mean, variance], [y]) => {
  const inverse = Array.from(variance, (v) => 1 / Math.sqrt(v + n.eps));
  n.each((row, k) => (i) => { y[i] = gamma[k] * (x[i] - mean[k]) * inverse[k] + beta[k]; });
});
operation('OP_NORMALISE_GRAD_SUMS', 'over', (n, [x, dy, m], [sums]) => n.each((row, k) => {
  const [c] = n.shapes[0];
  const [at, { mean }] = [n.owner[row] * 2 * c + k, n.moment(m, 2, k, row)];
  return (i) => {
    sums[at] += dy[i];
    sums[at + c] += dy[i] * (x[i] - mean);
  };
}));
operation('OP_NORMALISE_GRAD_INPUT', 'eps over', (n, [x, dy, m, sums, gamma], [dx]) => n.each((row, k) => {
  const s = n.moment(m, 2, k, row);
  const at = n.at(3, row) + k;
  const flows = s.count < 0 ? 0 : 1 / s.count; // constant statistics let nothing through
  const [s1, s2] = [sums[at] * flows, sums[at + gamma.length] * flows * s.inverse * s.inverse];
  return (i) => { dx[i] = gamma[k] * s.inverse * (dy[i] - s1 - (x[i] - s.mean) * s2); };
}));
operation('OP_NORMALISE_GRAD_PARAMS', 'eps', (n, [m, sums], [dgamma, dbeta]) => {
  const [c] = n.result;
  for (let i = 0; i < dbeta.length; i++) {
    const [r, k] = [Math.floor(i / c), i % c];
    dbeta[i] = sums[r * 2 * c + k];
    dgamma[i] = sums[r * 2 * c + c + k] * n.moment(m, 0, k, 0, r).inverse; // m may be whole, sums not
  }
});
operation('OP_CHANNEL_SUM', '', (n, [x], [y]) => (
  n.each((row, k) => (i) => { y[n.owner[row] * n.result[0] + k] += x[i]; })));

// Activations and pooling. Of the derivatives it has that of relu, whose result is saved.

operation('OP_RELU', '', (n, [x], [y]) => x.forEach((v, i) => { y[i] = v > 0 || v !== v ? v : 0; }));
operation('OP_ACTIVATION_GRAD', 'of alpha beta min max', (n, [saved, dy], [dx]) => (
  saved.forEach((v, i) => { dx[i] = v > 0 ? dy[i] : v === v ? 0 * dy[i] : v; })));

// maxima calls f(output, index in x of the first maximum) for each window of images x.
function maxima(n, x, [c, oh, ow], f) {
  const [, h, w] = n.shapes[0];
  const windows = Array.from({ length: oh * ow }, () => []);
  taps([h, w], n.kernel, [oh, ow], n, (out, pixel) => windows[out].push(pixel));
  for (let out = 0; out < n.owner.length * c * oh * ow; out++) {
    const at = Math.floor(out / (oh * ow)) * h * w;
    const larger = (a, b) => (x[at + a] >= x[at + b] || x[at + a] !== x[at + a] ? a : b); // NaN is largest
    f(out, at + windows[out % (oh * ow)].reduce(larger));
  }
}

operation('OP_MAX_POOL', 'kernel stride pad', (n, [x], [y]) => (
  maxima(n, x, n.result, (out, i) => { y[out] = x[i]; })));
operation('OP_MAX_POOL_GRAD', 'kernel stride pad', (n, [x, dy], [dx]) => (
  maxima(n, x, n.shapes[1], (out, i) => { dx[i] += dy[out]; })));

// Loss and metrics.

// eachLabel calls f(row, label, logits by class, their places) for each label that counts.
function eachLabel(n, x, labels, f) {
  const [c, ...rest] = n.shapes[0];
  const size = count(rest);
  labels.forEach((label, i) => {
    if (label === n.ignore) return;
    if (label < 0 || label >= c) throw failure('INVALID', `label ${label} is not one of 0 to ${c - 1}`);
    const row = Math.floor(i / size);
    const at = Array.from({ length: c }, (_, k) => (row * c + k) * size + (i % size));
    f(row, label, at.map((place) => x[place]), at);
  });
}

// eachClass calls f(row, log of the softmax, target, weight, place of the logit, sum of targets) for each.
function eachClass(n, x, labels, weights, f) {
  eachLabel(n, x, labels, (row, label, logits, at) => {
    const largest = Math.max(...logits);
    const log = largest + Math.log(logits.reduce((sum, v) => sum + Math.exp(v - largest), 0));
    const [of, w] = n.weighted_targets ? [n.weights, 1] : [[], n.weights[label] ?? 1];
    const target = (k) => (n.smoothing / at.length + (k === label ? 1 - n.smoothing : 0)) * (of[k] ?? 1);
    const all = of.length ? at.reduce((sum, _, k) => sum + target(k), 0) : 1;
    at.forEach((place, k) => f(row, logits[k] - log, target(k), (weights?.[row] ?? 1) * w, place, all));
  });
}

const LOSS = 'ignore smoothing weighted_targets weights';
operation('OP_SOFTMAX_XENT', LOSS, (n, [x, labels, weights], [loss]) => (
  eachClass(n, x, labels, weights, (row, log, target, weight) => {
    if (target !== 0) loss[n.owner[row]] -= target * log * weight; // elsewhere log may be -Infinity
  })));
operation('OP_SOFTMAX_XENT_GRAD', LOSS, (n, [x, labels, [inverse], weights], [dx]) => (
  eachClass(n, x, labels, weights, (_, l, t, w, i, all) => (dx[i] = (Math.exp(l) * all - t) * w * inverse))));
operation('OP_CORRECT', 'ignore', (n, [x, labels], [y]) => eachLabel(n, x, labels, (row, label, logits) => {
  y[2 * n.owner[row]] += logits.indexOf(Math.max(...logits)) === label ? 1 : 0;
  y[2 * n.owner[row] + 1] += 1;
}));

// Updates: every operation is rounded to float32.
operation('OP_SGD', 'momentum weight_decay nesterov', (n, [w, g, v, lr], [w2, v2]) => {
  const f32 = Math.fround;
  const [momentum, decay] = [f32(n.momentum), f32(n.weight_decay)];
  for (let i = 0; i < w.length; i++) {
    const d = decay === 0 ? g[i] : f32(g[i] + f32(decay * w[i]));
    v2[i] = f32(f32(momentum * v[i]) + d);
    w2[i] = f32(w[i] - f32(lr[0] * (n.nesterov ? f32(d + f32(momentum * v2[i])) : v2[i])));
  }
});
