package server

import "net/http"

// config is the configuration of a model in the form of Triton's model_config.proto. It has only the fields
// that apply to this server.
type config struct {
	Name     string         `json:"name"`
	Platform string         `json:"platform"`
	Backend  string         `json:"backend"`
	MaxBatch int            `json:"max_batch_size"`
	Input    []configTensor `json:"input"`
	Output   []configTensor `json:"output"`
	Batching struct {
		Delay int64 `json:"max_queue_delay_microseconds"`
	} `json:"dynamic_batching"`
}

// configTensor is a tensor, without the axis of rows.
type configTensor struct {
	Name     string `json:"name"`
	DataType string `json:"data_type"`
	Dims     []int  `json:"dims"`
}

func (s *Server) modelConfig(w http.ResponseWriter, r *http.Request) error {
	m, err := s.findPath(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.config(m))
	return nil
}

func (s *Server) config(m *modelVersion) config {
	c := config{Name: m.name, Platform: "bnctl", Backend: "bnctl", MaxBatch: s.o.Predict.Batch}
	for _, in := range m.inputs {
		c.Input = append(c.Input, in.configured())
	}
	for _, o := range m.outputs {
		c.Output = append(c.Output, o.configured())
	}
	c.Batching.Delay = s.o.Delay.Microseconds()
	return c
}

func (s signature) configured() configTensor {
	return configTensor{s.Name, "TYPE_" + s.Datatype, s.Shape[1:]}
}
