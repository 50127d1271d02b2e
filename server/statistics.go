package server

import (
	"net/http"
	"time"
)

// modelStatistics has the statistics of a model version, in the form of Triton's extension "statistics".
type modelStatistics struct {
	Name       string              `json:"name"`
	Version    string              `json:"version"`
	Last       int64               `json:"last_inference"`  // milliseconds since 1970; 0: no inference yet
	Inferences int                 `json:"inference_count"` // number of rows
	Executions int                 `json:"execution_count"` // number of batches
	Stats      map[string]duration `json:"inference_stats"`
	Batches    []struct{}          `json:"batch_stats"` // statistics by batch size, which bnctl does not count
}

// duration is a number of requests and their total time.
type duration struct {
	Count int   `json:"count"`
	NS    int64 `json:"ns"`
}

// statistics responds with the statistics of all versions, of a model, or of one version.
func (s *Server) statistics(w http.ResponseWriter, r *http.Request) error {
	name, version := r.PathValue("name"), r.PathValue("version")
	if name != "" {
		if _, err := s.find(name, version); err != nil {
			return err
		}
	}
	all := []modelStatistics{}
	for _, m := range s.allVersions() {
		if name == "" || name == m.name && (version == "" || version == m.label()) {
			t := s.metrics.activities.get(m.name, m.label()).totals()
			all = append(all, t.statistics(m.name, m.label()))
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"model_stats": all})
	return nil
}

// statistics returns the totals of a version in Triton's form.
func (t *totals) statistics(name, version string) modelStatistics {
	of := func(took time.Duration) duration { return duration{t.answered, took.Nanoseconds()} }
	out := modelStatistics{Name: name, Version: version, Inferences: t.rows, Executions: t.batches,
		Batches: []struct{}{}, Stats: map[string]duration{
			"success": of(t.queued + t.computed + t.encoded), "fail": {t.failed, 0}, "queue": of(t.queued),
			"compute_input": of(0), "compute_infer": of(t.computed), "compute_output": of(t.encoded),
			"cache_hit": {}, "cache_miss": {}}}
	if !t.last.IsZero() {
		out.Last = t.last.UnixMilli()
	}
	return out
}
