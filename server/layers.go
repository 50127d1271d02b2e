package server

import (
	"net/http"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/tensor"
)

// layer describes a batch norm, with the findings of package doctor.
type layer struct {
	Name     string   `json:"name"`
	Channels int      `json:"channels"`
	Findings []string `json:"findings"`
	*figures
}

// figures summarizes the running statistics of a batch norm. It is nil if the file has no statistics.
type figures struct {
	Dead      int     `json:"dead"` // number of channels without a signal: see bn.Norm.Dead
	VarMin    float32 `json:"var_min"`
	VarMedian float32 `json:"var_median"`
	VarMax    float32 `json:"var_max"`
}

func figuresOf(n bn.Norm) *figures {
	if n.Mean.IsZero() || n.Variance.IsZero() {
		return nil
	}
	s := bn.Summarise(n, tensor.Tensor{}, bn.Norm{})
	return &figures{s.Dead, s.VarMin, s.VarMedian, s.VarMax}
}

// layers responds with the health of the batch norms of a model.
func (s *Server) layers(w http.ResponseWriter, r *http.Request) error {
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	report := doctor.ExamineModel(m.file.Path, m.model)
	word, warnings := doctor.Health(report.Norms)
	found := map[string][]string{}
	for _, f := range report.Findings() {
		found[f.Layer] = append(found[f.Layer], f.Problem)
	}
	list := []layer{}
	for _, n := range report.Norms {
		list = append(list, layer{n.Name, n.Mean.Count(), found[n.Name], figuresOf(n)})
	}
	writeJSON(w, http.StatusOK, struct {
		Health   string  `json:"health"`
		Warnings int     `json:"warnings"`
		Layers   []layer `json:"layers"`
	}{word, warnings, list})
	return nil
}
