package train

import (
	"errors"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// attribute completes an error about numbers that are not finite. If the batch itself has such a number, the
// error names its sample: the cause is then the data, and a lower learning rate does not help.
func (s *Session) attribute(b *data.Batch, err error) error {
	var moments *bn.NonFinite
	if !errors.As(err, &moments) && !errors.Is(err, device.NonFinite) || b.X.DType != tensor.F32 {
		return err
	}
	x := b.X.F32()
	for i, v := range x {
		if v-v == 0 { // neither NaN nor infinite
			continue
		}
		row := i / (len(x) / b.X.Shape[0])
		name := s.plan.config.Train.Name(int(b.Samples.I64()[row]))
		return problem.Advise("mend it or leave it out", "%w; of this batch sample %s has %v as element %d", err,
			name, v, i%(len(x)/b.X.Shape[0]))
	}
	return err
}
