package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "answer inference requests for models over HTTP and gRPC",
		ArgsUsage: "MODEL|FOLDER...",
		Description: `Answers requests in the Open Inference Protocol, version 2, with Triton's
extensions binary_tensor_data, classification and model_configuration. An answer
is what bnctl predict gives for the same input, bit for bit, whatever else is
asked at the time: requests that wait while the devices compute are computed
together. It names the version of the model and the SHA-256 of its file.

A model has the name of its file, and is version 1. A folder holds models as
FOLDER/NAME/VERSION/model.bnm or FOLDER/NAME.bnm. What changes there is served as
soon as it holds still and its sum is right; a bad file changes nothing. One that
holds preprocessing takes pictures, UINT8 [-1,H,W,C] of its size; others take FP32
[-1,C,H,W].

   bnctl serve cifar.bnm
   bnctl serve cifar.bnm digits.bnm --http 127.0.0.1:9000 --grpc '' --devices 2xcpu
   bnctl serve models/ --versions latest:2
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
			&cli.StringFlag{Name: "versions", Value: "latest:1", Usage: "latest:`N`, all, or 1,3"},
			&cli.DurationFlag{Name: "poll", Value: 2 * time.Second, Usage: "how often files are looked at"},
			&cli.BoolFlag{Name: "allow-sick", Usage: "serve models though doctor finds them sick"},
			precisionFlag(),
		}, fileFlags(), preprocessFlags(), runningFlags()),
		Action: serveAction,
	}
}

func serveAction(c *cli.Context) error {
	if c.NArg() == 0 {
		return misuse("serve needs MODEL or FOLDER, for example bnctl serve cifar.bnm")
	}
	o, err := serveOptions(c)
	if err != nil {
		return err
	}
	s, err := server.Open(c.Context, o)
	var sick *server.Sick
	if errors.As(err, &sick) {
		return sickError{fmt.Errorf("%w; see bnctl doctor %s, or serve it with --allow-sick", sick, sick.Path)}
	}
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
	if c.Duration("poll") <= 0 {
		return o, misuse("--poll %v: want more than 0", c.Duration("poll"))
	}
	o = server.Options{Models: c.Args().Slice(), HTTP: c.String("http"), GRPC: c.String("grpc"),
		Delay: c.Duration("max-delay"), Queue: c.Int("max-queue"),
		Predict: predict.Options{Batch: c.Int("max-batch")}}
	o.Versions, o.Poll, o.AllowSick = c.String("versions"), c.Duration("poll"), c.Bool("allow-sick")
	o.Note = outputOf(c).note
	if o.File, err = modelOptions(c); err != nil {
		return o, err
	}
	o.Predict.Fleet, err = fleetOptions(c, c.String("precision"), noLimit)
	return o, err
}

// announce says where what is served.
func announce(o *output, s *server.Server) {
	o.event("serve", struct {
		HTTP   string         `json:"http"`
		GRPC   string         `json:"grpc,omitempty"`
		Models []server.Model `json:"models"`
	}{s.HTTP(), s.GRPC(), s.Models()})
	for _, m := range s.Models() {
		o.result("http://%s/v2/models/%s/versions/%d", s.HTTP(), m.Name, m.Version)
	}
	if s.GRPC() != "" {
		o.result("grpc://%s", s.GRPC())
	}
}
