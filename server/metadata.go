package server

import (
	"net/http"

	"github.com/bnctl/bnctl/server/internal/protocol"
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

// described is what clients may know of a model.
type described struct {
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

func (s *Server) describe(m *served) described {
	return described{m.name, s.versions(m.name), "bnctl", []signature{m.input}, m.outputs}
}

// indexed is an entry of the repository's index.
type indexed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
}

// index lists what is served.
func (s *Server) index() []indexed {
	all := []indexed{}
	for _, m := range s.all() {
		all = append(all, indexed{m.name, m.label(), "READY"})
	}
	return all
}

func (s *Server) repositoryIndex(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.index())
	return nil
}

// unserved answers what Triton has, and this server does not.
func unserved(http.ResponseWriter, *http.Request) error {
	return protocol.Refuse(protocol.Unimplemented,
		"this server does not do that: models are loaded from their files, and there is no shared memory")
}
