package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/server"
)

// A server in a program answers requests until its context ends.
func ExampleServer() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "digits.bnm")
	if err := writeModel(path); err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s, err := server.Open(ctx, server.Options{Models: []string{path}, HTTP: "127.0.0.1:0",
		Predict: predict.Options{Batch: 8, Fleet: fleet.Options{Devices: "ref"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	fmt.Println(get("http://" + s.HTTP() + "/v2/models/digits/ready"))
	stop()
	fmt.Println(<-ended)
	// Output:
	// {"name":"digits","ready":true}
	// <nil>
}

func get(url string) string {
	r, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// writeModel writes a model of the zoo with new weights.
func writeModel(path string) error {
	m, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		return err
	}
	if err := models.Init(m, 0); err != nil {
		return err
	}
	_, err = serialize.WriteModel(path, m)
	return err
}
