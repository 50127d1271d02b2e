package server

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// segmentation is the response to a request for the classes of pixels.
type segmentation struct {
	Model    string       `json:"model_name"`
	Version  string       `json:"model_version"`
	SHA256   string       `json:"sha256"`
	Mask     []byte       `json:"mask"`    // PNG, as the file of predict --format masks --fit crop
	Picture  []byte       `json:"picture"` // PNG, the model's input
	Classes  []pixelClass `json:"classes"` // classes that occur, the most frequent first
	QueueMS  float64      `json:"queue_ms"`
	DeviceMS float64      `json:"device_ms"`
}

// pixelClass is a class with its share of the pixels, and its colour in the mask.
type pixelClass struct {
	Label    string  `json:"label"`
	Index    int     `json:"index"`
	Fraction float64 `json:"share"` // share of the pixels

	Colour string `json:"colour"`
}

// segment answers a request for the classes of pixels. The request has a picture in one of the forms of
// classify.
func (s *Server) segment(w http.ResponseWriter, r *http.Request) error {
	q, err := s.askPicture(w, r, func(m *modelVersion, _ *protocol.Request) error {
		_, err := m.maskOutput()
		return err
	})
	if err != nil {
		return err
	}
	defer q.release()
	m, rec := q.model, recordOf(r.Context())
	output, err := m.maskOutput()
	if err != nil {
		return err
	}
	scores := q.answer.Outputs[output].Values
	height, width := scores.Shape[2], scores.Shape[3]
	const maskBytes = 16 // memory per pixel: for its class, in both pictures, and in the encoded pictures
	pixels := int64(max(height*width, q.pixels.Shape[1]*q.pixels.Shape[2]))
	if err := rec.reservation.grow(maskBytes * pixels); err != nil {
		return err
	}
	scores.Shape = scores.Shape[1:]
	classes, err := predict.PixelClasses(m.outputs[output].Name, scores)
	if err != nil {
		return noClass(err)
	}
	mask := image.NewPaletted(image.Rect(0, 0, width, height), data.MaskPalette)
	mask.Pix = classes
	out := segmentation{Model: m.name, Version: m.label(), SHA256: m.sha256, Classes: m.pixelClasses(classes),
		QueueMS: milliseconds(rec.queued), DeviceMS: milliseconds(rec.computed)}
	if out.Mask, err = encode(mask); err == nil {
		out.Picture, err = encode(seen(q.pixels))
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// maskOutput returns the number of the output that has scores of classes for each pixel. It returns an error
// for a model that does not have exactly one such output.
func (s *modelVersion) maskOutput() (int, error) {
	found := -1
	for i, o := range s.outputs {
		classes := len(o.Shape) == 4 && o.Datatype == protocol.Datatype(tensor.F32) && o.Shape[1] >= 2 &&
			o.Shape[1] <= data.MaskClasses && o.Shape[2] > 1 && o.Shape[3] > 1
		switch {
		case classes && found >= 0:
			return 0, invalid("model %s has several outputs with classes of pixels; ask with infer", s.name)
		case classes:
			found = i
		}
	}
	if found < 0 {
		return 0, invalid("model %s gives no classes of pixels; ask with classify or infer", s.name)
	}
	return found, nil
}

// pixelClasses counts the classes of pixels.
func (s *modelVersion) pixelClasses(pixels []byte) (list []pixelClass) {
	var counts [256]int
	for _, k := range pixels {
		counts[k]++
	}
	for k, n := range counts {
		if n > 0 {
			c := data.MaskPalette[k].(color.RGBA)
			list = append(list, pixelClass{predict.Label(s.model, k), k, float64(n) / float64(len(pixels)),
				fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)})
		}
	}
	slices.SortStableFunc(list, func(a, b pixelClass) int { return cmp.Compare(b.Fraction, a.Fraction) })
	return list
}

// seen returns a row of a model's input, u8 [1,H,W,1 or 3], as an image.
func seen(x tensor.Tensor) image.Image {
	h, w, channels := x.Shape[1], x.Shape[2], x.Shape[3]
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for at := range h * w {
		for c := range 3 {
			out.Pix[4*at+c] = x.Bytes[at*channels+min(c, channels-1)]
		}
		out.Pix[4*at+3] = 255
	}
	return out
}

func encode(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}
