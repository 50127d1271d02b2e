package server

import (
	"net/http"
	"strconv"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// classes is the response to a classification request.
type classes struct {
	Model    string      `json:"model_name"`
	Version  string      `json:"model_version"`
	SHA256   string      `json:"sha256"`
	Top      []topClass  `json:"top,omitempty"`
	Labels   *[]topClass `json:"labels,omitempty"` // labels above their thresholds: predict.Answers.Holding
	Values   []value     `json:"values,omitempty"` // in place of classes
	QueueMS  float64     `json:"queue_ms"`
	DeviceMS float64     `json:"device_ms"`
}

// topClass is a class in the form of predict --json.
type topClass struct {
	Label string  `json:"label"`
	Index int     `json:"index"`
	P     float32 `json:"p"`
}

// classify answers a classification request. The picture is the whole body, the first file of a form, or
// base64 in the field "image" of JSON. The parameter ?top=K sets the number of classes.
func (s *Server) classify(w http.ResponseWriter, r *http.Request) error {
	var answers *predict.Answers
	q, err := s.askPicture(w, r, func(m *modelVersion, _ *protocol.Request) (err error) {
		answers, err = m.classifies(r.URL.Query().Get("top"))
		return err
	})
	if err != nil {
		return err
	}
	defer q.release()
	return q.model.writeClasses(w, recordOf(r.Context()), answers, q.answer)
}

// classifies returns the predict.Answers that convert outputs of the model to classes.
func (s *modelVersion) classifies(top string) (*predict.Answers, error) {
	k := 5
	if top != "" {
		var err error
		if k, err = strconv.Atoi(top); err != nil || k < 1 {
			return nil, invalid("top %.40q: want at least 1", top)
		}
	}
	if !s.answers.Raw {
		answers := *s.answers
		answers.Top = k
		return &answers, nil
	}
	if _, ok := s.model.DetectedClasses(); ok {
		return nil, invalid("model %s predicts boxes; ask with detect", s.name)
	}
	if _, err := s.maskOutput(); err == nil {
		return nil, invalid("model %s gives each pixel a class; ask with segment", s.name)
	}
	return nil, invalid("model %s has no classes; ask for its outputs with infer", s.name)
}

// noClass returns the error for outputs that are not finite, so that no class can be predicted.
func noClass(err error) error {
	return protocol.Refuse(protocol.Internal, "%v: the model is sick, or the input beyond it; "+
		"ask for its outputs with infer and binary_data", err)
}

// writeClasses writes the classes with the highest scores.
func (s *modelVersion) writeClasses(w http.ResponseWriter, rec *record, answers *predict.Answers,
	a *protocol.Answer) error {
	outs := make([]tensor.Tensor, len(a.Outputs))
	for i, o := range a.Outputs {
		outs[i] = o.Values
		outs[i].Shape = outs[i].Shape[1:]
	}
	c := classes{Model: s.name, Version: s.label(), SHA256: s.sha256,
		QueueMS: 1000 * rec.queued.Seconds(), DeviceMS: 1000 * rec.computed.Seconds()}
	if err := c.fill(answers, outs); err != nil {
		return noClass(err)
	}
	writeJSON(w, http.StatusOK, c)
	return nil
}

// value is a number of a prediction in the form of predict --json.
type value struct {
	Label string  `json:"label"`
	Index int     `json:"index"`
	Value float32 `json:"value"`
}

// fill sets the classes or values from the outputs of the model.
func (c *classes) fill(answers *predict.Answers, outs []tensor.Tensor) error {
	if answers.Numbers() {
		values, err := answers.Values(outs)
		for _, v := range values {
			c.Values = append(c.Values, value(v))
		}
		return err
	}
	best, err := answers.Best(outs)
	c.Top = topClasses(best)
	if err == nil && answers.Decides() {
		holding, _ := answers.Holding(outs)
		labels := topClasses(holding)
		c.Labels = &labels
	}
	return err
}

func topClasses(best []predict.Class) []topClass {
	all := []topClass{}
	for _, k := range best {
		all = append(all, topClass{k.Label, k.Index, k.P})
	}
	return all
}
