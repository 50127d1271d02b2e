package kernel

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"unsafe"
)

// Int8Plant is a device's assembly for bytes with a fault planted in one rounding step.
type Int8Plant struct {
	Name, Op string // name of the plant, and the operation that computes wrong results with it
	Do       func() // plants the fault in the set that Pick returns
	Undo     func()
}

// Int8Plants returns a plant for every function that rounds, in every set of instructions of this
// machine.
func Int8Plants() (all []Int8Plant) {
	var used *int8Kernels
	for _, s := range Sets() {
		used = cmp.Or(used, s.int8)
	}
	native := int8Native()
	for _, name := range slices.Sorted(maps.Keys(native)) {
		k := *native[name]
		for _, r := range k.rounding() {
			if r.missing {
				continue
			}
			all = append(all, Int8Plant{name + ", " + r.name, r.op, func() {
				*used = k
				r.plant(used)
			}, nil})
		}
	}
	if used == nil {
		return nil
	}
	as := *used
	for i := range all {
		all[i].Undo = func() { *used = as }
	}
	return all
}

// rounding is a function that converts sums to bytes.
type rounding struct {
	name, op string
	missing  bool
	plant    func(k *int8Kernels)
}

// rounding returns the functions of k that round. Each has a variant with a fault: it flips the last bit of
// the first byte that it stores.
func (k int8Kernels) rounding() []rounding {
	return []rounding{
		{"store", "conv_int8", k.store == nil, func(to *int8Kernels) {
			to.store = func(out *byte, outs, sums *int32, by *float32, most float32, zero, least, channels,
				positions int) {
				k.store(out, outs, sums, by, most, zero, least, channels, positions)
				turn(out, *outs/4)
			}
		}},
		{"depthwise", "conv_int8", k.depthwise == nil, func(to *int8Kernels) {
			to.depthwise = func(out *byte, outs *int32, in *byte, pad int, offs *int32, offStep, taps, quads int,
				w *int8, start *int32, by *float32, most float32, zero, least, width, chunk, advance int, runs *int32,
				positions int, at *[mostTapsInt8]uintptr, spare *byte) {
				k.depthwise(out, outs, in, pad, offs, offStep, taps, quads, w, start, by, most, zero, least, width,
					chunk, advance, runs, positions, at, spare)
				turn(out, *outs/4)
			}
		}},
		{"depthwise by tap", "conv_int8", k.byTap == nil, func(to *int8Kernels) {
			to.byTap = func(out *byte, outs *int32, in *byte, pad int, offs *int32, offStep, taps int, w *int8,
				start *int32, by *float32, most float32, zero, least, width, positions int,
				at *[mostTapsInt8]uintptr, spare *byte) {
				k.byTap(out, outs, in, pad, offs, offStep, taps, w, start, by, most, zero, least, width, positions, at,
					spare)
				turn(out, *outs/4)
			}
		}},
		{"add", "add_int8", k.add == nil, func(to *int8Kernels) {
			to.add = func(y, a, b *byte, aBy, bBy, most float32, aZero, bZero, zero, least, vectors int) {
				k.add(y, a, b, aBy, bBy, most, aZero, bZero, zero, least, vectors)
				turn(y, 0)
			}
		}},
		{"joint add", "add_int8", k.addJoint == nil, func(to *int8Kernels) {
			to.addJoint = func(y, a, b *byte, aBy, bBy, at, most float32, zero, least, vectors int) {
				k.addJoint(y, a, b, aBy, bBy, at, most, zero, least, vectors)
				turn(y, 0)
			}
		}},
		{"quantize", "quantize", k.quantize == nil, func(to *int8Kernels) {
			to.quantize = func(y *byte, x *float32, scale, most float32, zero, vectors int) {
				k.quantize(y, x, scale, most, zero, vectors)
				turn(y, 0)
			}
		}},
		{"gate", "mul_int8", k.gate == nil, func(to *int8Kernels) {
			to.gate = func(y, a *byte, gate *float32, by, at, most float32, aZero, zero, least, vectors int) {
				k.gate(y, a, gate, by, at, most, aZero, zero, least, vectors)
				turn(y, 0)
			}
		}},
		{"mul", "mul_int8", k.mul == nil, func(to *int8Kernels) {
			to.mul = func(y, a, b *byte, by, at, most float32, aZero, bZero, zero, least, vectors int) {
				k.mul(y, a, b, by, at, most, aZero, bZero, zero, least, vectors)
				turn(y, 0)
			}
		}},
		{"dequantize", "dequantize", k.dequantize == nil, func(to *int8Kernels) {
			to.dequantize = func(y *float32, x *byte, scale float32, zero, vectors int) {
				k.dequantize(y, x, scale, zero, vectors)
				*y = math.Float32frombits(math.Float32bits(*y) ^ 1)
			}
		}},
		{"max pool", "max_pool_int8", k.maxPool == nil, func(to *int8Kernels) {
			to.maxPool = func(y, x *byte, pixels *int32, taps, vectors int) {
				k.maxPool(y, x, pixels, taps, vectors)
				turn(y, 0)
			}
		}},
		{"sum", "avg_pool_int8", k.sum == nil, func(to *int8Kernels) {
			to.sum = func(sums *int32, x *byte, step, pixels, vectors int) {
				k.sum(sums, x, step, pixels, vectors)
				*sums += int32(pixels)
			}
		}},
	}
}

// turn flips the last bit of a byte, which changes it by one step.
func turn(y *byte, at int32) { *(*byte)(unsafe.Add(unsafe.Pointer(y), int(at))) ^= 1 }
