package server

import (
	"net/http"
	"strconv"

	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// detection is the response to a request for boxes. Corners are in pixels of the picture of the request.
type detection struct {
	Model    string       `json:"model_name"`
	Version  string       `json:"model_version"`
	SHA256   string       `json:"sha256"`
	Width    int          `json:"width"` // width of the picture, in pixels
	Height   int          `json:"height"`
	Boxes    []detect.Box `json:"boxes"` // the highest score first
	QueueMS  float64      `json:"queue_ms"`
	DeviceMS float64      `json:"device_ms"`
}

// detect answers a request for boxes. The request has a picture in one of the forms of classify. The
// parameter ?score= sets the lowest score of a box, and ?overlap= the largest permitted overlap of two boxes
// of a class.
func (s *Server) detect(w http.ResponseWriter, r *http.Request) error {
	var d *detect.Detector
	limits := map[string]string{"score": r.URL.Query().Get("score"), "overlap": r.URL.Query().Get("overlap")}
	q, err := s.askPicture(w, r, func(m *modelVersion, to *protocol.Request) (err error) {
		to.Found, to.Limits = true, limits
		d, err = m.detects(func(name string) string { return limits[name] })
		return err
	})
	if err != nil {
		return err
	}
	defer q.release()
	m, rec := q.model, recordOf(r.Context())
	var outs []tensor.Tensor
	for _, o := range q.answer.Outputs {
		o.Values.Shape = o.Values.Shape[1:]
		outs = append(outs, o.Values)
	}
	boxes, err := d.Boxes(outs, q.height, q.width)
	if err != nil {
		return noClass(err)
	}
	writeJSON(w, http.StatusOK, detection{Model: m.name, Version: m.label(), SHA256: m.sha256, Width: q.width,
		Height: q.height, Boxes: boxes, QueueMS: milliseconds(rec.queued),
		DeviceMS: milliseconds(rec.computed)})
	return nil
}

// detects returns the detector that converts the output of the model to boxes. limit returns the value of the
// parameter score or overlap as text; "" means the default.
func (s *modelVersion) detects(limit func(name string) string) (*detect.Detector, error) {
	o := detect.Default
	for name, to := range map[string]*float32{"score": &o.Score, "overlap": &o.Overlap} {
		text := limit(name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 32)
		if err != nil || !(v >= 0 && v <= 1) {
			return nil, invalid("%s %.40q: want a number from 0 to 1", name, text)
		}
		*to = float32(v)
	}
	if !detect.Detects(s.model) {
		return nil, invalid("model %s predicts no boxes; ask with classify, segment or infer", s.name)
	}
	d, err := detect.New(s.model, o)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return d, nil
}
