package kernel

// shuffleKernel is the assembly for pixels with at least minimum channels. pair interleaves two images,
// three interleaves one pixel of three images, and second copies every second channel of an image. Steps are
// in bytes.
type shuffleKernel struct {
	minimum int
	pair    func(dst *float32, dstStep int, a *float32, aStep int, b *float32, bStep int, channels, count int)
	three   func(dst *float32, a, b, c *float32, channels int)
	second  func(dst *float32, dstStep int, src *float32, srcStep int, channels, count int)
}

// Pixels is an image with pixel p at Values[p*Step].
type Pixels struct {
	Values []float32
	Step   int
}

// pixel returns channels [0, n) of pixel p.
func (x *Pixels) pixel(p, n int) []float32 { return x.Values[p*x.Step:][:n] }

// Shuffle sets count pixels of dst to the interleaved channels of some images: the first
// channel of each, then the second of each, up to the given number of channels.
func (s *Set) Shuffle(dst Pixels, images []Pixels, channels, count int) {
	if count == 0 || channels == 0 {
		return
	}
	dst.pixel(count-1, channels*len(images))
	for i := range images {
		images[i].pixel(count-1, channels)
	}
	if k := s.shuffles; k != nil && len(images) == 2 && channels >= k.minimum {
		a, b := &images[0], &images[1]
		k.pair(&dst.Values[0], 4*dst.Step, &a.Values[0], 4*a.Step, &b.Values[0], 4*b.Step, channels, count)
		return
	}
	for p := range count {
		to := dst.pixel(p, channels*len(images))
		if k := s.shuffles; k != nil && len(images) == 3 && channels >= k.minimum {
			k.three(&to[0], &images[0].pixel(p, channels)[0], &images[1].pixel(p, channels)[0], &images[2].pixel(p,
				channels)[0], channels)
			continue
		}
		for i := range images {
			for c, v := range images[i].pixel(p, channels) {
				to[c*len(images)+i] = v
			}
		}
	}
}

// Every sets count pixels of dst to the first, and then every step-th channel of src, up to the given
// number of channels.
func (s *Set) Every(dst, src Pixels, step, channels, count int) {
	if count == 0 || channels == 0 {
		return
	}
	dst.pixel(count-1, channels)
	src.pixel(count-1, (channels-1)*step+1)
	if k := s.shuffles; k != nil && step == 2 && channels >= k.minimum {
		k.second(&dst.Values[0], 4*dst.Step, &src.Values[0], 4*src.Step, channels, count)
		return
	}
	for p := range count {
		from := src.pixel(p, (channels-1)*step+1)
		for c := range dst.pixel(p, channels) {
			dst.Values[p*dst.Step+c] = from[c*step]
		}
	}
}
