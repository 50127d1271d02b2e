package cpu

func buildPrelu(c *compiler) action {
	slope := c.in(1)
	return c.perChannel(func(f *frame, ch int, x [][]float32, i int) float32 {
		if v := x[0][i]; !(v >= 0) {
			return v * f.f32(slope)[ch]
		}
		return x[0][i]
	}, c.in(0))
}

func buildPreluGradInput(c *compiler) action {
	slope := c.in(1)
	return c.perChannel(func(f *frame, ch int, x [][]float32, i int) float32 {
		if !(x[0][i] >= 0) {
			return x[1][i] * f.f32(slope)[ch]
		}
		return x[1][i]
	}, c.in(0), c.in(2))
}

// perChannel returns an action that sets every element of a row from the same
// element of the operands, knowing its channel.
func (c *compiler) perChannel(at func(f *frame, ch int, x [][]float32, i int) float32,
	operands ...*value) action {
	y := c.out(0)
	return action{row: func(f *frame, w *worker, i, _, _ int) {
		x := make([][]float32, 0, 2)
		for _, v := range operands {
			x = append(x, f.at(v, w, i))
		}
		out := f.at(y, w, i)
		for k := range out {
			out[k] = at(f, k%y.channels, x, k)
		}
	}}
}

// buildPreluGradSlope sums in float64: rows in order, positions in order.
func buildPreluGradSlope(c *compiler) action {
	x, dy, ds := c.in(0), c.in(1), c.out(0)
	return whole(func(f *frame) error {
		in, grad, out := f.f32(x), f.f32(dy), f.f32(ds)
		f.each(len(f.rows), func(w *worker, r int) {
			sum := w.doubles(ds.count)
			clear(sum)
			for i := f.starts[r] * x.count; i < f.starts[r+1]*x.count; i++ {
				if !(in[i] >= 0) {
					sum[i%x.channels] += float64(float64(in[i]) * float64(grad[i]))
				}
			}
			divideInto(row(out, ds, r), sum, 1)
		})
		return nil
	})
}
