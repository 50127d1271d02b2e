package caffe

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/problem"
)

// oldField reads a field of a layer of the first format, V1LayerParameter. The fields are
// the same under other numbers, and the type of a layer is a number.
func (d *decoder) oldField(l *layer, p message.FieldExtent) error {
	same := map[int]int{4: 1, 2: 3, 3: 4, 6: 7, 32: 8, 33: 9} // name, bottom, top, blobs, include, exclude
	if number, ok := same[p.Number]; ok {
		p.Number = number
		return d.layerField(l, p)
	}
	switch p.Number {
	case 1:
		return problem.Advise("upgrade the file with Caffe's upgrade_net_proto_binary",
			"a layer of V0LayerParameter")
	case 5:
		f, err := d.load(p)
		l.kind = oldType(f.Bits)
		return err
	case 7, 8, 35, 1001, 1002: // learning rates, decays, weights of losses, names of shared weights
		return nil
	}
	f := messageNamed("V1LayerParameter").field(p.Number)
	if f == nil || p.Type != message.Bytes {
		l.odd = p.Number
		return nil
	}
	for _, now := range messageNamed("LayerParameter").fields {
		if now.name == f.name {
			p.Number = now.number
			return d.settings(l, p)
		}
	}
	return nil
}

// oldType returns the present name for the number that a type of layers has in the first
// format.
func oldType(number uint64) string {
	_, enums := parsed()
	for _, e := range enums {
		for _, v := range e.values {
			if e.name == "V1Type" && uint64(v.number) == number {
				return v.layer
			}
		}
	}
	return fmt.Sprintf("type %d", number)
}
