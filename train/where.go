package train

import (
	"fmt"
	"strings"
)

// Where describes the devices of a run, their kernels and precision, and whether the same
// run on others has the same bits.
func (e Started) Where() string {
	text := fmt.Sprintf("devices %s · kernels %s · %s", strings.Join(e.Devices, ", "), e.Kernels,
		e.Recipe.Precision)
	if len(e.Placement) > 1 {
		text += fmt.Sprintf(" · replicas %v", e.Placement)
	}
	if e.Ranks > 0 {
		text += fmt.Sprintf(" · rank 0 of %d", e.Ranks)
	}
	switch {
	case e.Deterministic:
		return text
	case strings.Contains(e.Kernels, "+"):
		return text + " · devices of several kernel classes: the same devices give the same bits, others do not"
	}
	return text + " · a device is not deterministic: this run cannot be repeated bit for bit"
}
