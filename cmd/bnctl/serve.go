package main

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "answer inference requests for models over HTTP and gRPC",
		ArgsUsage: "MODEL...",
		Description: `Answers requests in the Open Inference Protocol, version 2, with Triton's
extensions binary_tensor_data, classification and model_configuration. An answer
is what bnctl predict gives for the same input, bit for bit, whatever else is
asked at the time: requests that wait while the devices compute are computed
together. It names the version of the model and the SHA-256 of its file.

A model has the name of its file. One that holds preprocessing takes pictures,
UINT8 [-1,H,W,C] of its size; others take FP32 [-1,C,H,W].

   bnctl serve cifar.bnm
   bnctl serve cifar.bnm digits.bnm --http 127.0.0.1:9000 --grpc '' --devices 2xcpu
   bnctl serve resnet50.onnx --preprocess imagenet --max-batch 8

   curl localhost:8000/v2/models/cifar
   curl localhost:8000/v2/models/cifar/infer -d @request.json`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "http", Value: "127.0.0.1:8000", Usage: "`ADDRESS` to listen on; port 0: any"},
			&cli.StringFlag{Name: "grpc", Value: "127.0.0.1:8001", Usage: "`ADDRESS` to listen on; '': none"},
			&cli.IntFlag{Name: "max-batch", Value: 32, Usage: "rows that are computed together at most"},
			&cli.DurationFlag{Name: "max-delay", DefaultText: "0s: with what queued meanwhile",
				Usage: "how long a row waits for others, for example 2ms"},
			&cli.IntFlag{Name: "max-queue", Usage: "rows that wait for a model at most", DefaultText: "8 batches"},
			precisionFlag(),
		}, fileFlags(), preprocessFlags(), runningFlags()),
		Action: serveAction,
	}
}

func serveAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return misuse("serve needs MODEL..., for example bnctl serve cifar.bnm")
	}
	o, err := serveOptions(c)
	if err != nil {
		return err
	}
	s, err := server.Open(c.Context, o)
	if err != nil {
		return err
	}
	announce(outputOf(c), s)
	defer saving(c.Context)() // what was accepted is answered
	err = errors.Join(s.Serve(c.Context), s.Close())
	if err == nil {
		err = context.Cause(c.Context)
	}
	return err
}

// serveOptions returns what the flags say.
func serveOptions(c *cli.Context) (o server.Options, err error) {
	if err := atLeast(c, 1, "max-queue", "max-batch"); err != nil {
		return o, err
	}
	o = server.Options{Models: c.Args().Slice(), HTTP: c.String("http"), GRPC: c.String("grpc"),
		Delay: c.Duration("max-delay"), Queue: c.Int("max-queue"),
		Predict: predict.Options{Batch: c.Int("max-batch")}}
	if o.File, err = modelOptions(c); err != nil {
		return o, err
	}
	o.Predict.Fleet, err = fleetOptions(c, c.String("precision"), noLimit)
	return o, err
}

// announce says where what is served.
func announce(o *output, s *server.Server) {
	o.event("serve", struct {
		HTTP   string   `json:"http"`
		GRPC   string   `json:"grpc,omitempty"`
		Models []string `json:"models"`
	}{s.HTTP(), s.GRPC(), s.Models()})
	for _, name := range s.Models() {
		o.result("http://%s/v2/models/%s", s.HTTP(), name)
	}
	if s.GRPC() != "" {
		o.result("grpc://%s", s.GRPC())
	}
}
