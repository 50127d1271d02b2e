package server

import (
	"net/http"

	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// extensions are the supported extensions of Triton.
var extensions = []string{"binary_tensor_data", "classification", "model_configuration"}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK,
		map[string]any{"name": "bnctl", "version": recipe.Release, "extensions": extensions})
	return nil
}

func (s *Server) live(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	return nil
}

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	status, ready := http.StatusOK, !s.leaving.Load()
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

// modelMetadata is the metadata of a model.
type modelMetadata struct {
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
	writeJSON(w, http.StatusOK, s.describe(m))
	return nil
}

func (s *Server) describe(m *modelVersion) modelMetadata {
	return modelMetadata{m.name, s.versions(m.name), "bnctl", m.inputs, m.outputs}
}

// indexEntry is an entry of the repository's index.
type indexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
}

// index lists all versions.
func (s *Server) index() []indexEntry {
	all := []indexEntry{}
	for _, m := range s.allVersions() {
		all = append(all, indexEntry{m.name, m.label(), "READY"})
	}
	return all
}

func (s *Server) repositoryIndex(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.index())
	return nil
}

// notSupported answers requests of Triton's protocol that are not supported.
func notSupported(http.ResponseWriter, *http.Request) error {
	return protocol.Refuse(protocol.Unimplemented,
		"this server does not do that: models are loaded from their files, without shared memory")
}
