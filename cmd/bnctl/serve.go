package main

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/internal/interrupt"
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
FOLDER/NAME/VERSION/model.bnm or FOLDER/NAME.bnm. A repository of Triton, with
files called model.onnx, is served as it is. A changed file is served as soon as it
no longer changes and its sum is right; a bad file changes nothing. A model with
preprocessing accepts pictures, UINT8 [-1,H,W,C] of its size; others accept FP32
[-1,C,H,W].

The server is for this machine alone. Other addresses need a certificate, or
--insecure where something else protects them; --token-file asks for a token.
Names other than localhost need --host, and pages of other sites are refused.

   bnctl serve cifar.bnm
   bnctl serve cifar.bnm digits.bnm --http 127.0.0.1:9000 --grpc '' --devices 2xcpu
   bnctl serve models/ --versions latest:2
   bnctl serve resnet50.onnx --preprocess imagenet --max-batch 8
   bnctl serve models/ --http 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --host models.example

   curl localhost:8000/v2/models/cifar
   curl localhost:8000/v2/models/cifar/infer -d @request.json`,
		Flags: slices.Concat(addressFlags(), servedFlags(), []cli.Flag{labelsFlag()}, formFlags(), fileFlags(),
			preprocessFlags(), runningFlags(), joinFlags()),
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
	if o.Models, err = mirrorModels(o.Models, o.Poll); err != nil {
		return err
	}
	s, err := server.Open(c.Context, o)
	var ill *server.Sick
	if errors.As(err, &ill) {
		return sick("see bnctl doctor "+ill.Path+", or serve it with --allow-sick", "%w", ill)
	}
	if err != nil {
		return err
	}
	announce(outputOf(c), s)
	defer interrupt.Saving(c.Context)()               // accepted requests are answered
	return errors.Join(s.Serve(c.Context), s.Close()) // also nil after a signal, if all requests were answered
}
