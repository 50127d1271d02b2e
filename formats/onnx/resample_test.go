package onnx

import (
	"hash/crc32"
	"math/big"
	"testing"
)

// nearestSums are checksums of the pixels that ONNX Runtime 1.30 picks in Resize with sizes
// and mode nearest. Lines of 1 to 40 elements are resized to 1 to 40 elements.
// half_pixel_symmetric is missing, because ONNX Runtime rounds it in another order.
var nearestSums = map[[2]string]uint32{
	{"half_pixel", "round_prefer_floor"}:           0x6cb73f00,
	{"half_pixel", "round_prefer_ceil"}:            0x93d5f232,
	{"half_pixel", "floor"}:                        0x899f6383,
	{"half_pixel", "ceil"}:                         0x4df12e83,
	{"pytorch_half_pixel", "round_prefer_floor"}:   0xae1a020e,
	{"pytorch_half_pixel", "round_prefer_ceil"}:    0xf02bd63d,
	{"pytorch_half_pixel", "floor"}:                0x72090a3a,
	{"pytorch_half_pixel", "ceil"}:                 0x2e0f0a8c,
	{"asymmetric", "round_prefer_floor"}:           0x2b952f90,
	{"asymmetric", "round_prefer_ceil"}:            0x99278e62,
	{"asymmetric", "floor"}:                        0x0106c37e,
	{"asymmetric", "ceil"}:                         0xdfb5f5c6,
	{"align_corners", "round_prefer_floor"}:        0x9834125d,
	{"align_corners", "round_prefer_ceil"}:         0xa5af6a5d,
	{"align_corners", "floor"}:                     0xdcc668d2,
	{"align_corners", "ceil"}:                      0x74103fb7,
	{"tf_half_pixel_for_nn", "round_prefer_floor"}: 0xbcd46786,
	{"tf_half_pixel_for_nn", "round_prefer_ceil"}:  0xbdda91d7,
	{"tf_half_pixel_for_nn", "floor"}:              0x8b1786fe,
	{"tf_half_pixel_for_nn", "ceil"}:               0xeca0f796,
	{"tf_crop_and_resize", "round_prefer_floor"}:   0x5a992f53,
	{"tf_crop_and_resize", "round_prefer_ceil"}:    0xc6514e52,
	{"tf_crop_and_resize", "floor"}:                0x1e6b55dc,
	{"tf_crop_and_resize", "ceil"}:                 0x17ee1bb8,
}

// resizedTo returns the resampling of an axis by sizes.
func resizedTo(from, to int, coordinates, rounding string) resampling {
	return resampling{length: from, newLength: to, scale: float32(to) / float32(from), mode: "nearest",
		coordinates: coordinates, rounding: rounding, end: 1}
}

func TestNearestAsONNXRuntime(t *testing.T) {
	for ways, want := range nearestSums {
		sum := uint32(0)
		for from := 1; from <= 40; from++ {
			var line []byte
			for to := 1; to <= 40; to++ {
				r := resizedTo(from, to, ways[0], ways[1])
				for _, at := range r.pixels() {
					line = append(line, byte(at))
				}
			}
			sum = crc32.Update(sum, crc32.IEEETable, line)
		}
		if sum != want {
			t.Errorf("%s, %s: sum %08x, want %08x", ways[0], ways[1], sum, want)
		}
	}
}

// exactly returns the coordinate of result pixel i in exact arithmetic, by the standard's
// formulas.
func exactly(coordinates string, i, from, to int) *big.Rat {
	half, scale := big.NewRat(1, 2), big.NewRat(int64(to), int64(from))
	x := new(big.Rat).Add(big.NewRat(int64(i), 1), half)
	switch coordinates {
	case "asymmetric":
		return x.Quo(big.NewRat(int64(i), 1), scale)
	case "tf_half_pixel_for_nn":
		return x.Quo(x, scale)
	case "align_corners", cropping:
		if to == 1 && coordinates == cropping {
			return big.NewRat(int64(from-1), 2)
		}
		return big.NewRat(int64(i*(from-1)), int64(max(to-1, 1)))
	}
	if to == 1 && coordinates == "pytorch_half_pixel" {
		return new(big.Rat)
	}
	return x.Sub(x.Quo(x, scale), half) // half_pixel and half_pixel_symmetric differ only if the node has scales
}

// TestNearestTies: if two pixels are at exactly the same distance, nearest_mode decides
// between the lower and the upper one. Below 16 pixels the error of float32 is smaller than
// the tolerance for a tie.
func TestNearestTies(t *testing.T) {
	ties := 0
	for coordinates := range coordinateTransforms {
		for from := 1; from <= 16; from++ {
			for to := 1; to <= 64; to++ {
				for i := range to {
					x := exactly(coordinates, i, from, to)
					if x.Denom().Int64() != 2 || from == to {
						continue
					}
					ties++
					low := int(new(big.Int).Div(x.Num(), x.Denom()).Int64())
					clamp := func(at int) int { return min(max(at, 0), from-1) }
					down, up := resizedTo(from, to, coordinates, "round_prefer_floor"),
						resizedTo(from, to, coordinates, "round_prefer_ceil")
					if got := [2]int{down.pixel(i), up.pixel(i)}; got != [2]int{clamp(low), clamp(low + 1)} {
						t.Errorf("%s, %d of %d to %d: pixels %v, want %d and %d", coordinates, i, from, to, got,
							clamp(low), clamp(low+1))
					}
				}
			}
		}
	}
	if ties < 1000 {
		t.Errorf("%d ties", ties)
	}
}

// TestIdentity: if isIdentity is true, the weights are the unit matrix in every mode, and a
// Resize adds no node to the graph.
func TestIdentity(t *testing.T) {
	found := 0
	for ways := range nearestSums {
		for from := 1; from <= 9; from++ {
			for to := 1; to <= 9; to++ {
				for _, mode := range []string{"nearest", "linear", "cubic"} {
					r := resizedTo(from, to, ways[0], ways[1])
					r.mode, r.cubic, r.antialias = mode, -0.75, mode != "nearest" && to%2 == 0
					if !r.isIdentity() {
						continue
					}
					found++
					for i, w := range r.weights() {
						if unit := i%from == i/from; unit && w != 1 || !unit && w != 0 {
							t.Errorf("%+v: weight %d is %g", r, i, w)
						}
					}
				}
			}
		}
	}
	if found != 20*9*3 {
		t.Errorf("%d resamplings change nothing", found)
	}
	for scale, want := range map[float32]int{1: 1, 2: 2} {
		m := modelOf(13, 0, []int64{2, 3, 4}, map[string][]float32{"s": {1, 1, 1, scale}},
			op("Resize", "x  s", "r", textAttr("mode", "linear")), op("Relu", "r", "y"))
		f := readModel(t, m)
		if f.NoModel != nil {
			t.Fatal(f.NoModel)
		}
		if got := len(f.Model.Graph.Main.Nodes); got != want {
			t.Errorf("a Resize by %g and a Relu are %d nodes, want %d", scale, got, want)
		}
	}
}
