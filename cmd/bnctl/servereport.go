package main

import "github.com/bnctl/bnctl/server"

// announce prints the served models, and the addresses of the server.
func announce(o *output, s *server.Server) {
	o.event("serve", struct {
		HTTP   string         `json:"http"`
		GRPC   string         `json:"grpc,omitempty"`
		Models []server.Model `json:"models"`
	}{s.HTTP(), s.GRPC(), s.Models()})
	for _, m := range s.Models() {
		o.result("%s/v2/models/%s/versions/%d", s.URL(), m.Name, m.Version)
	}
	if s.GRPC() != "" {
		o.result("grpc://%s", s.GRPC())
	}
}
