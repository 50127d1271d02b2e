package graph

import "testing"

// The numbers are worked out by hand from the definitions in op.go.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		line string
		want Cost
	}{
		{"y = conv(image, @k, @c)", Cost{RowFlops: 2*8*3*3*2*2*2 + 72, RowBytes: 4 * (2*16 + 72),
			Bytes: 4 * (64 + 8)}},
		{"y = conv(image, @g, groups=2)", Cost{RowFlops: 2 * 8 * 9 * 4, RowBytes: 4 * (2*16 + 72), Bytes: 4 * 32}},
		{"y = conv_grad_input(out, @k, size=[4,4])", Cost{RowFlops: 2 * 8 * 9 * 2 * 4, RowBytes: 4 * (72 + 32),
			Bytes: 4 * 64}},
		{"y = conv_grad_weight(image, out, kernel=[2,2])",
			Cost{RowFlops: 2 * 8 * 9 * 2 * 4, RowBytes: 4 * (32 + 72), Bytes: 4 * 64}},
		{"y = conv_transpose(out, @k)", Cost{RowFlops: 2 * 8 * 9 * 2 * 4, RowBytes: 4 * (72 + 32), Bytes: 4 * 64}},
		{"y = dense(line, @w)", Cost{RowFlops: 2 * 3 * 5, RowBytes: 4 * (5 + 3), Bytes: 4 * 15}},
		{"y = dense_grad_weight(line, line)", Cost{RowFlops: 2 * 25, RowBytes: 4 * 10, Bytes: 4 * 25}},
		{"y = dense(out, @m, leading=2)", Cost{RowFlops: 2 * 72 * 4, RowBytes: 4 * (72 + 96), Bytes: 4 * 12}},
		{"y = matmul(image, image, transpose_a=true)", Cost{RowFlops: 2 * 32 * 4, RowBytes: 4 * 96}},
		{"y = max_pool(image, kernel=[2,2], stride=[2,2])", Cost{RowFlops: 2 * 4 * 4, RowBytes: 4 * (32 + 8)}},
		{"y = relu(image)", Cost{RowFlops: 32, RowBytes: 4 * 64}},
		{"y = reshape(image, shape=[32])", Cost{RowBytes: 4 * 64}},
		{"y = add(@w, @w)", Cost{Flops: 15, Bytes: 4 * 45}},
		{"y = moments(line)", Cost{RowFlops: 33, RowBytes: 4 * 5, Bytes: 8 * 11}},
	} {
		f := parsed(t, `bnctl graph 1
graph "g"
state k f32[8,2,2,2] weight
state g f32[8,1,2,2] weight
state c f32[8] bias
state w f32[3,5] weight
state m f32[4,3] weight
func main(image rows f32[2,4,4], out rows f32[8,3,3], line rows f32[5]) {
`+c.line+"\n}").Main
		if got := f.Cost(&f.Nodes[0]); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.line, got, c.want)
		}
	}
}

func TestTotalCost(t *testing.T) {
	f := parsed(t, string(read(t, "lenet-bn.graph"))).Main
	flops, _ := f.TotalCost().At(1)
	products := 2.0*32*28*28*25 + 2*10*6272
	if flops < products || flops > 1.2*products {
		t.Errorf("got %g flops, want little more than the %g of the products", flops, products)
	}
}
