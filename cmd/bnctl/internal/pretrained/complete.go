package pretrained

import (
	"strings"

	"github.com/bnctl/bnctl/modelfile"
)

// Complete sets options for reading the weights of a source, unless they are already set: the preprocessing
// and the names of the classes that were published with the weights and, if withArch is true, the network. It
// does nothing for files that are not published weights.
func Complete(o *modelfile.Options, source string, withArch bool) error {
	switch {
	case strings.HasPrefix(source, Scheme+":"):
		w, err := Find(strings.TrimPrefix(source, Scheme+":"))
		if err != nil {
			return err
		}
		w.complete(o, withArch)
	case strings.HasPrefix(source, "hf:"):
		c, err := configOf(source)
		if err != nil || c == nil {
			return err
		}
		c.complete(o, withArch)
	}
	return nil
}

// complete sets those options that are not set.
func (w *Weights) complete(o *modelfile.Options, withArch bool) {
	if withArch && o.Arch == "" {
		o.Arch = w.Network
	}
	if o.Labels == nil {
		o.Labels = w.Labels()
	}
	if isUnset(o.Preprocess) {
		o.Preprocess.Resize, o.Preprocess.Interpolation = w.resize, w.interpolation
	}
}

// isUnset reports whether no option states how pictures become the input.
func isUnset(p modelfile.Preprocess) bool {
	return p.Name == "" && p.Mean == nil && p.Std == nil && p.Interpolation == ""
}
