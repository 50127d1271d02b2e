package formats

import (
	"regexp"
	"strconv"
	"sync"
)

// parametrisation holds the tensors that torch.nn.utils.parametrize keeps for one tensor:
// parametrizations.NAME.original, or original0 and original1 if the last step splits it,
// and the tensors of the steps, by the steps' numbers.
type parametrisation struct {
	name      string // name of the tensor that the layer computes with
	originals map[string]Tensor
	steps     map[int]map[string]Tensor
	first     string // tensor of the file that the result replaces
}

var parametrisedName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?:.*\.)?)parametrizations\.([^.]+)\.(?:(original[01]?)|([0-9]{1,2})\.(.+))$`)
})

// parametrised returns the parametrisations of a file by the name of their first tensor.
func parametrised(f *File) map[string]*parametrisation {
	byName, byFirst := map[string]*parametrisation{}, map[string]*parametrisation{}
	for _, t := range f.Tensors {
		m := parametrisedName().FindStringSubmatch(t.Name)
		if m == nil {
			continue
		}
		p := byName[m[1]+m[2]]
		if p == nil {
			p = &parametrisation{name: m[1] + m[2], originals: map[string]Tensor{}, first: t.Name,
				steps: map[int]map[string]Tensor{}}
			byName[p.name], byFirst[t.Name] = p, p
		}
		if m[3] != "" {
			p.originals[m[3]] = t
			continue
		}
		step, _ := strconv.Atoi(m[4]) // the pattern only matches digits
		if p.steps[step] == nil {
			p.steps[step] = map[string]Tensor{}
		}
		p.steps[step][m[5]] = t
	}
	return byFirst
}

// derivation resolves weight_norm and spectral_norm, which PyTorch defines. It returns
// false for any other parametrisation: their functions are Python code that is never in a
// file.
func (p *parametrisation) derivation() (derivation, bool) {
	original, one := p.originals["original"]
	g, is0 := p.originals["original0"]
	v, is1 := p.originals["original1"]
	switch {
	case one && len(p.originals) == 1 && len(p.steps) == 1:
		u, hasU := p.steps[0]["_u"]
		v, hasV := p.steps[0]["_v"]
		ok := hasU && hasV && len(p.steps[0]) == 2 && fitsSpectral(original, u, v)
		return p.placed(spectral(p.name, original, u, v)), ok
	case is0 && is1 && len(p.originals) == 2 && len(p.steps) == 0 && fitsNorm(g, v):
		return p.placed(weightNorm(p.name, g, v)), true
	}
	return derivation{}, false
}

// placed returns d with p's first tensor as the place of the result.
func (p *parametrisation) placed(d derivation) derivation {
	d.target = p.first
	return d
}
