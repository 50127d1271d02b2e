package quantize

// The first and the last layer usually lose most accuracy. They stay float32 if that halves
// the noise, and the noise matters.

// matters is the noise-to-signal ratio above which a layer may stay float32.
const matters = 0.01

// ends returns the names of the first and the last layer, if they are on bytes and other
// layers are, too.
func (p *prepared) ends(b *built) (names []string) {
	of := 0
	for _, l := range b.layers {
		if !l.Float {
			of++
		}
	}
	for _, i := range []int{0, len(b.layers) - 1} {
		if l := b.layers[i]; !l.Float && of > 2 {
			names = append(names, l.Name)
		}
	}
	return names
}

// noisyEnds returns the ends that are expected to cause more than half of the noise. The
// expectation counts only the noise that each layer's rounding makes.
func (p *prepared) noisyEnds(b *built) (names []string) {
	all, of := 0.0, map[string]float64{}
	for _, l := range b.layers {
		all += l.expected
		of[l.Name] = l.expected
	}
	for _, name := range p.ends(b) {
		if of[name] > all/2 && of[name] > matters {
			names = append(names, name)
		}
	}
	return names
}
