package encode

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// encodeQuantised writes a QuantizeLinear to u8, or a DequantizeLinear of u8.
func encodeQuantised(e *encoding) {
	zero := e.initializer(e.takenNames.Free(e.out+".zero"), tensor.Scalar(uint8(e.n.Int("zero"))))
	e.in = append(e.in, e.scalar(e.out+".scale", e.n.Float("scale")), zero)
	e.is(map[graph.Op]string{graph.Quantize: "QuantizeLinear", graph.Dequantize: "DequantizeLinear"}[e.n.Op])
}
