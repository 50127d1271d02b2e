package server

import (
	"net/http"

	"github.com/bnctl/bnctl/modelfile/doctor"
)

// layer is a batch norm with the findings of package doctor.
type layer struct {
	Name     string   `json:"name"`
	Channels int      `json:"channels"`
	Findings []string `json:"findings"`
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
		list = append(list, layer{n.Name, n.Mean.Count(), found[n.Name]})
	}
	writeJSON(w, http.StatusOK, struct {
		Health   string  `json:"health"`
		Warnings int     `json:"warnings"`
		Layers   []layer `json:"layers"`
	}{word, warnings, list})
	return nil
}
