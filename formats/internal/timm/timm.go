// Package timm translates tensor names of timm, another library of networks for PyTorch,
// for networks that torchvision has too. The networks are the same, except that timm may
// have a 1x1 convolution in place of a dense layer, with the same elements.
package timm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// table translates timm's names for the networks of a family.
type table struct {
	family string // prefix of the architectures' names
	mark   string // a tensor that identifies this naming scheme
	rows   string // lines of timm's name, with # for a number, and torchvision's, with {A} and {B} for them
}

// Names returns torchvision's names for the tensors of an architecture: one for each
// element of names, unchanged where timm uses the same name. It returns nil if names are
// not timm's, or if timm does not name them differently.
func Names(architecture string, names []string) []string {
	if m := mobileOf(architecture); m != nil {
		return m.names(names)
	}
	for _, t := range tables {
		if !strings.HasPrefix(architecture, t.family) || !slices.Contains(names, t.mark) {
			continue
		}
		out := make([]string, len(names))
		for i, name := range names {
			out[i] = t.name(name)
		}
		return out
	}
	return nil
}

// Eps returns the eps of timm's batch norms in an architecture if it differs from
// torchvision's, otherwise 0.
func Eps(architecture string) float64 {
	if strings.HasPrefix(architecture, "mobilenetv3-") || architecture == "efficientnet-v2-s" {
		return 1e-5
	}
	return 0
}

// name applies the rows of t to the whole of a name, or to all but its last part.
func (t *table) name(name string) string {
	base, leaf := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		base, leaf = name[:i], name[i:]
	}
	for _, r := range compiled()[t.family+t.mark] {
		if m := r.theirs.FindStringSubmatch(name); m != nil {
			return r.fill(m[1:])
		}
		if m := r.theirs.FindStringSubmatch(base); m != nil {
			return r.fill(m[1:]) + leaf
		}
	}
	return name
}

// row is a parsed line of a table.
type row struct {
	theirs *regexp.Regexp
	name   string
}

// compiled has the rows of all tables.
var compiled = sync.OnceValue(func() map[string][]row {
	all := map[string][]row{}
	for _, t := range tables {
		for line := range strings.Lines(t.rows) {
			words := strings.Fields(line)
			if len(words) != 2 {
				continue
			}
			pattern := strings.ReplaceAll(regexp.QuoteMeta(words[0]), "#", `(\d+)`)
			all[t.family+t.mark] = append(all[t.family+t.mark], row{regexp.MustCompile("^" + pattern + "$"), words[1]})
		}
	}
	return all
})

// placeholder matches {A}, {B-1} and {2A+1}: the first or the second number, which may be
// doubled, and an addend.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{(2?)([AB])([+-]\d)?\}`)
})

func (r row) fill(numbers []string) string {
	return placeholder().ReplaceAllStringFunc(r.name, func(s string) string {
		m := placeholder().FindStringSubmatch(s)
		n, _ := strconv.Atoi(numbers[m[2][0]-'A'])
		if m[1] != "" {
			n *= 2
		}
		add, _ := strconv.Atoi(m[3])
		return strconv.Itoa(n + add)
	})
}
