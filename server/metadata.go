package server

import (
	"net/http"

	"github.com/bnctl/bnctl/train"
)

// extensions are those of Triton that are answered.
var extensions = []string{"binary_tensor_data", "classification", "model_configuration"}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK,
		map[string]any{"name": "bnctl", "version": train.Release, "extensions": extensions})
	return nil
}

func (s *Server) live(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	return nil
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	status, ready := http.StatusOK, !s.draining.Load()
	if !ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]bool{"ready": ready})
	return nil
}

func (s *Server) modelReady(w http.ResponseWriter, r *http.Request) error {
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]any{"name": m.name, "ready": true})
	return nil
}

// metadata is what clients may know of a model.
type metadata struct {
	Name     string      `json:"name"`
	Versions []string    `json:"versions"`
	Platform string      `json:"platform"`
	Inputs   []signature `json:"inputs"`
	Outputs  []signature `json:"outputs"`
}

func (s *Server) modelMetadata(w http.ResponseWriter, r *http.Request) error {
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, metadata{m.name, []string{m.label()}, "bnctl", []signature{m.input}, m.outputs})
	return nil
}
