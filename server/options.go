package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// Options selects the models to serve, and where and how to serve them. Predict.Batch, Delay and Queue change
// the speed, but never an answer.
type Options struct {
	// Models are paths. A path is a file, version 1 of the model with its name. Or it is a folder of models,
	// with FOLDER/NAME/VERSION/model.bnm and FOLDER/NAME.bnm, or the folder FOLDER/NAME of one model. The file
	// of a version may be model.onnx, as in Triton.
	Models   []string
	Versions string        // served versions of a model: "latest:N", "all" or "1,3"; "": the highest
	Poll     time.Duration // interval between checks for changed files; 0: two seconds
	HTTP     string        // address to listen on, "127.0.0.1:8000", or a socket for the owner only, "unix:PATH"
	GRPC     string        // address to listen on, "127.0.0.1:8001"; "": no gRPC
	// File has the options for reading models from files.
	File modelfile.Options
	// Predict selects the devices. Each model opens devices of its own. Predict.Batch is the largest number of
	// rows that are computed together.
	Predict predict.Options
	Delay   time.Duration // how long a row waits for other rows to form a batch: 0 to a second
	Queue   int           // maximum number of rows that wait, for each model; 0: eight batches
	Request int           // maximum number of bytes of a request; 0: 64 MiB
	Timeout time.Duration // maximum time for a request; 0: a minute
	// InFlight is the maximum memory for all clients together, in bytes: connections,
	// decompressed requests, and answers that clients have not read; 0: 256 MiB.
	InFlight int
	Security Security
	// Garbage is the number of bytes allocated between two runs of Go's garbage collector, in the whole program.
	// It does not grow with the weights, but it is increased if a model has large inputs and outputs. If Garbage
	// is set, Go's memory limit is set too, above InFlight. 0 means that GOGC and GOMEMLIMIT apply.
	Garbage int
	// Health is a second address, which only answers health probes (live and ready), without TLS and tokens; "":
	// no such address.
	Health    string
	AllowSick bool         // serve models even if package doctor finds faults
	Access    *slog.Logger // log of requests; nil: no log
	// DrainDelay is the time from the end of Serve's context until the server refuses new requests. The server
	// reports that it is not ready from the end of the context on, so that load balancers can notice this in
	// time.
	DrainDelay time.Duration
	// SkipBad means that, if a model cannot be opened at the start, the other models are served. A note then
	// names the bad model, and the server tries to open it again when its file changes.
	SkipBad  bool
	patience time.Duration // longest wait for bytes; 0: ten seconds
	// Note is called with messages for the operator; it may be nil.
	Note func(format string, args ...any)
}

const (
	defaultQueue    = 8 // batches
	defaultRequest  = 64 << 20
	defaultTimeout  = time.Minute
	defaultPoll     = 2 * time.Second
	defaultInFlight = 256 << 20
	longestDelay    = time.Second
	longestDrain    = 10 * time.Minute
)

// check validates the options, and sets defaults.
func (o *Options) check() error {
	if len(o.Models) == 0 {
		return problem.New("", "", "no model is named", "")
	}
	if o.Delay < 0 || o.Delay > longestDelay {
		return problem.New("max-delay", o.Delay.String(), "want 0 to "+longestDelay.String(), "")
	}
	if o.Poll < 0 {
		return problem.New("poll", o.Poll.String(), "want more than 0", "")
	}
	if o.InFlight < 0 {
		return problem.New("max-inflight-mb", strconv.Itoa(o.InFlight>>20), "want more than 0", "")
	}
	if o.DrainDelay < 0 || o.DrainDelay > longestDrain {
		return problem.New("drain-delay", o.DrainDelay.String(), "want 0 to "+longestDrain.String(), "")
	}
	if o.Request < 0 || o.Timeout < 0 {
		return problem.New("", "", "a limit of requests is negative: want more than 0", "")
	}
	if o.Queue < 0 {
		return problem.New("max-queue", strconv.Itoa(o.Queue), "want at least 1", "")
	}
	o.Queue = cmp.Or(o.Queue, defaultQueue*o.Predict.Batch)
	o.Request = cmp.Or(o.Request, defaultRequest)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Poll = cmp.Or(o.Poll, defaultPoll)
	o.InFlight = cmp.Or(o.InFlight, defaultInFlight)
	o.patience = cmp.Or(o.patience, defaultPatience)
	if err := o.Security.check("http", o.HTTP); err != nil || o.GRPC == "" {
		return err
	}
	return o.Security.check("grpc", o.GRPC)
}

// withoutRepeats returns a function that calls note, but not for a message that was already passed. Every
// model opens devices of its own, and the devices of all models have the same messages.
func withoutRepeats(note func(format string, args ...any)) func(format string, args ...any) {
	var mu sync.Mutex
	had := map[string]bool{}
	return func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		mu.Lock()
		repeated := had[text]
		had[text] = true
		mu.Unlock()
		if !repeated {
			note("%s", text)
		}
	}
}

func (o *Options) note(format string, args ...any) {
	if o.Note != nil {
		o.Note(format, args...)
	}
}
