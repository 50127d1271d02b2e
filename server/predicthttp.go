package server

import (
	"net/http"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// computedOutput is the name of the output that predictHTTP adds. No output of a graph has such a name.
const computedOutput = "@probabilities"

// predictHTTP answers a picture file or an inference request with all outputs of the model as bytes.
// If the model has classes or labels, their probabilities are an additional output.
func (s *Server) predictHTTP(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get(jsonLength) != "" {
		return s.answerInference(w, r, (*modelVersion).predictions)
	}
	q, err := s.askPicture(w, r, func(*modelVersion, *protocol.Request) error { return nil })
	if err != nil {
		return err
	}
	defer q.release()
	return s.writeAnswer(w, q.model.predictions(q.answer))
}

// predictions makes all outputs of an answer binary, and adds the probabilities of classes.
func (s *modelVersion) predictions(a *protocol.Answer) *protocol.Answer {
	for _, o := range a.Outputs {
		o.Binary = true
	}
	how := s.answers
	if how.Raw || how.Numbers() || len(a.Outputs) != len(s.outputs) {
		return a
	}
	var all []float32
	rows := a.Outputs[how.Scores].Shape[0]
	for i := range rows {
		outs := make([]tensor.Tensor, len(a.Outputs))
		for k, o := range a.Outputs {
			outs[k] = o.Values.Rows(i, i+1)
			outs[k].Shape = outs[k].Shape[1:]
		}
		all = append(all, how.Probabilities(outs)...)
	}
	shape := []int{rows, len(all) / max(1, rows)}
	a.Outputs = append(a.Outputs, &protocol.Tensor{Name: computedOutput, Datatype: protocol.Datatype(tensor.F32),
		Shape: shape, Values: tensor.Of(all, shape...), Binary: true})
	return a
}

// predictionKind describes the answers of predictHTTP.
type predictionKind struct {
	Model   string   `json:"model_name"`
	Version string   `json:"model_version"`
	SHA256  string   `json:"sha256"`
	Answers string   `json:"answers"` // classes, labels, numbers, masks or outputs
	Labels  []string `json:"labels"`  // names of classes, labels or values
	// Thresholds are the least probabilities from which on labels are predicted, if the model has thresholds.
	Thresholds []float64   `json:"thresholds,omitempty"`
	Mask       string      `json:"mask,omitempty"`   // the output with a class for each pixel
	Scores     string      `json:"scores,omitempty"` // the output that the probabilities are computed from
	Pictures   bool        `json:"pictures"`         // the model accepts picture files
	MaxBatch   int         `json:"max_batch"`
	Inputs     []signature `json:"inputs"`
	Outputs    []signature `json:"outputs"`
}

// predictionMetadata answers with the kind of a model's answers, or begins a stream of rows.
func (s *Server) predictionMetadata(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Upgrade") == rowsProtocol {
		return s.upgradeToRows(w, r)
	}
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	k := predictionKind{Model: m.name, Version: m.label(), SHA256: m.sha256, Answers: m.kind(),
		Labels: []string{}, Thresholds: m.model.Thresholds, Pictures: m.takesPictures() == nil,
		MaxBatch: s.o.Predict.Batch, Inputs: m.inputs, Outputs: m.outputs}
	n := len(m.model.Labels)
	if mask, err := m.maskOutput(); err == nil {
		k.Mask, n = m.outputs[mask].Name, m.outputs[mask].Shape[1]
	}
	if how := m.answers; !how.Raw {
		k.Scores, n = how.Name(how.Scores), tensor.Count(how.Type(how.Scores).Shape)
		if how.Answer == models.Binary {
			n = 2
		}
	}
	for i := range n {
		k.Labels = append(k.Labels, predict.Label(m.model, i))
	}
	writeJSON(w, http.StatusOK, k)
	return nil
}
