package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// classes is the response to a classification request.
type classes struct {
	Model    string      `json:"model_name"`
	Version  string      `json:"model_version"`
	SHA256   string      `json:"sha256"`
	Top      []topClass  `json:"top,omitempty"`
	Labels   *[]topClass `json:"labels,omitempty"` // with a probability above a half, where others may have too
	Values   []value     `json:"values,omitempty"` // in the place of classes
	QueueMS  float64     `json:"queue_ms"`
	DeviceMS float64     `json:"device_ms"`
}

// topClass is a class in the form of predict --json.
type topClass struct {
	Label string  `json:"label"`
	Index int     `json:"index"`
	P     float32 `json:"p"`
}

// classify answers a classification request. The picture is the body itself, the first file of a
// form, or base64 in the field "image" of JSON. ?top=K is the number of classes.
func (s *Server) classify(w http.ResponseWriter, r *http.Request) error {
	done, err := s.beginInference()
	if err != nil {
		return err
	}
	defer done()
	res := &recordOf(r.Context()).reservation
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	answers, err := m.classifies(r.URL.Query().Get("top"))
	if err != nil {
		return err
	}
	body, err := s.body(w, r, res)
	if err != nil {
		return err
	}
	file, err := picture(r.Header.Get("Content-Type"), body)
	if err != nil {
		return err
	}
	x, err := m.pixels(r.Context(), file, res)
	if err != nil {
		return err
	}
	a, err := s.infer(r.Context(), m.name, m.label(), func(*modelVersion) (*protocol.Request, error) {
		return protocol.Whole(x.Bytes, m.input.Name, m.input.Datatype, x.Shape), nil
	})
	if err != nil {
		return err
	}
	return m.writeClasses(w, recordOf(r.Context()), answers, a)
}

// classifies returns how outputs of the model become classes.
func (s *modelVersion) classifies(top string) (*predict.Answers, error) {
	k := 5
	if top != "" {
		var err error
		if k, err = strconv.Atoi(top); err != nil || k < 1 {
			return nil, invalid("top %.40q: want at least 1", top)
		}
	}
	answers, err := predict.NewAnswers(s.model, predict.AnswerOptions{Top: k})
	if err == nil {
		_, err = fit.Model(s.model, data.Info{Kind: "picture", DType: tensor.U8})
	}
	if err != nil {
		return nil, invalid("model %s takes no pictures: %v", s.name, err)
	}
	if answers.Raw {
		return nil, invalid("model %s has no classes; ask for its outputs with infer", s.name)
	}
	return answers, nil
}

// picture returns the file in a body.
func picture(contentType string, body []byte) ([]byte, error) {
	kind, parameters, _ := mime.ParseMediaType(contentType)
	switch kind {
	case "application/json":
		var in struct{ Image []byte }
		if err := json.Unmarshal(body, &in); err != nil || in.Image == nil {
			return nil, invalid(`want JSON {"image": "..."} with a picture file in base64: %v`, err)
		}
		return in.Image, nil
	case "multipart/form-data":
		form := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
		for {
			formPart, err := form.NextPart()
			if err != nil {
				return nil, invalid("there is no file in the form: %v", err)
			}
			if formPart.FileName() == "" {
				continue
			}
			file, err := io.ReadAll(formPart)
			if err != nil {
				return nil, invalid("the form breaks off: %v", err)
			}
			return file, nil
		}
	}
	return body, nil
}

// pixels decodes a picture to the input of the model. Memory for decoding is reserved before.
func (s *modelVersion) pixels(ctx context.Context, file []byte, res *reservation) (tensor.Tensor, error) {
	t, in := train.Transform(s.model, data.Info{DType: tensor.U8}), s.model.Input().Shape
	n, err := t.Memory(ctx, file, s.model.Preprocess.EXIF, in[0], in[1])
	if err != nil {
		return tensor.Tensor{}, invalid("%v", err)
	}
	if err := res.grow(n); err != nil {
		return tensor.Tensor{}, err
	}
	x := tensor.New(tensor.U8, append([]int{1}, in...)...)
	row := tensor.Tensor{DType: tensor.U8, Shape: x.Shape[1:], Bytes: x.Bytes}
	if err := t.Decode(ctx, row, file, s.model.Preprocess.EXIF); err != nil {
		return tensor.Tensor{}, invalid("%v", err)
	}
	return x, nil
}

// noClass is the error if outputs are not finite.
func noClass(err error) error {
	return protocol.Refuse(protocol.Internal, "%v: the model is sick, or the input beyond it; "+
		"ask for its outputs with infer and binary_data", err)
}

// writeClasses writes the classes with the highest scores.
func (s *modelVersion) writeClasses(w http.ResponseWriter, rec *record, how *predict.Answers,
	a *protocol.Answer) error {
	outs := make([]tensor.Tensor, len(a.Outputs))
	for i, o := range a.Outputs {
		outs[i] = o.Values
		outs[i].Shape = outs[i].Shape[1:]
	}
	c := classes{Model: s.name, Version: s.label(), SHA256: s.sha256,
		QueueMS: 1000 * rec.queued.Seconds(), DeviceMS: 1000 * rec.computed.Seconds()}
	if err := c.fill(how, outs); err != nil {
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

// fill takes in what the outputs of the model say.
func (c *classes) fill(how *predict.Answers, outs []tensor.Tensor) error {
	if how.Numbers() {
		values, err := how.Values(outs)
		for _, v := range values {
			c.Values = append(c.Values, value(v))
		}
		return err
	}
	best, err := how.Best(outs)
	c.Top = topClasses(best)
	if err == nil && how.Several() {
		holding, _ := how.Holding(outs)
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
