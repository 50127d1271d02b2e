package formats

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// These are names of detectors in files of torchvision before 0.13, which the published
// weights have. Since 0.13 each convolution is in a sequence of layers, and its name
// contains its number in the sequence.
var (
	oldPyramid = regexp.MustCompile(`^(.*\bfpn\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)$`)
	oldHead    = regexp.MustCompile(`^(.*\bhead\.(?:classification|regression)_head\.conv)\.([0246])` +
		`\.(weight|bias)$`)
)

// renameOld gives the tensors of a detector the names of torchvision since 0.13, and reports it in f.
func renameOld(f *File) {
	names := map[string]bool{}
	for _, t := range f.Tensors {
		names[t.Name] = true
	}
	var out []Tensor
	example, count := "", 0
	for _, t := range f.Tensors {
		to := currentName(t.Name, names)
		if to != t.Name {
			if count++; count == 1 {
				example = fmt.Sprintf("%q is %q now", t.Name, to)
			}
			t = t.Renamed(to)
		}
		out = append(out, t)
	}
	if count > 0 {
		f.SetTensors(out)
		f.Find("", fmt.Sprintf("%s had names of torchvision before 0.13: %s", problem.Plural(count, "tensor"),
			example), "")
	}
}

// currentName returns the name that a tensor has since torchvision 0.13. names has all
// names of its file.
func currentName(name string, names map[string]bool) string {
	if m := oldPyramid.FindStringSubmatch(name); m != nil {
		return m[1] + ".0." + m[2]
	}
	m := oldHead.FindStringSubmatch(name)
	if m == nil || !names[m[1]+".2.weight"] || names[m[1]+".1.weight"] { // a head with norms has layer 1
		return name
	}
	return fmt.Sprintf("%s.%d.0.%s", m[1], strings.Index("0246", m[2]), m[3])
}
