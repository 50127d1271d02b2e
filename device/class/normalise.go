package class

// Affine has the parameters of the normalisation of one channel. The mean is Hi + Lo; the two
// parts keep x - mean precise when the mean is large. By is a factor, and Add is a shift. All
// operations are float32, each rounded.
type Affine struct{ Hi, Lo, By, Add float32 }

// NewAffine returns the parameters of a channel.
func NewAffine(mean, factor, add float64) Affine {
	hi := float32(mean)
	return Affine{Hi: hi, Lo: float32(mean - float64(hi)), By: float32(factor), Add: float32(add)}
}

// Normalise returns ((x - hi) - lo)*by + add.
func (a Affine) Normalise(x float32) float32 { return float32(((x-a.Hi)-a.Lo)*a.By) + a.Add }

// Gradient returns by*((dy - add) - ((x - hi) - lo)*slope).
func (a Affine) Gradient(x, dy, slope float32) float32 {
	d := float32(((x - a.Hi) - a.Lo) * slope)
	return float32(a.By * ((dy - a.Add) - d))
}
