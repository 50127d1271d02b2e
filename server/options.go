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

// Options selects the models to serve, and where and how to serve them. Predict.Batch,
// Delay and Queue never change an answer.
type Options struct {
	// Models are files, each version 1 of a model of its name, or folders of models,
	// FOLDER/NAME/VERSION/model.bnm and FOLDER/NAME.bnm, or of one model, FOLDER/NAME. The file of a
	// version may be model.onnx, as in Triton.
	Models   []string
	Versions string        // versions of a model: "latest:N", "all" or "1,3"; "": the highest
	Poll     time.Duration // interval between looks for changed files; 0: two seconds
	HTTP     string        // address to listen on, "127.0.0.1:8000", or a socket for the owner only, "unix:PATH"
	GRPC     string        // address to listen on, "127.0.0.1:8001"; "": no gRPC
	// File has the options for reading models from files.
	File modelfile.Options
	// Predict selects the devices; each model opens them separately. Predict.Batch is the
	// largest number of rows that are computed together.
	Predict predict.Options
	Delay   time.Duration // how long a row waits for others: 0 to a second
	Queue   int           // maximum number of rows that wait, for each model; 0: eight batches
	Request int           // maximum number of bytes of a request; 0: 64 MiB
	Timeout time.Duration // maximum time for a request; 0: a minute
	// InFlight is the maximum memory for all clients together, in bytes: connections,
	// decompressed requests, and answers that clients have not read; 0: 256 MiB.
	InFlight int
	Security Security
	// Garbage is the number of allocated bytes that start Go's garbage collector, for the whole
	// program. It does not depend on the size of the weights, but it is increased if a model has
	// large inputs and outputs. Garbage also sets Go's memory limit, above InFlight. 0 means the
	// settings of GOGC and GOMEMLIMIT.
	Garbage int
	// Health is an address that only answers health probes (live and ready), without TLS
	// and tokens; "": no such address.
	Health    string
	AllowSick bool         // serve models even if package doctor finds faults
	Access    *slog.Logger // log of requests; nil: no log
	// When Serve's context ends, the server is not ready any more. DrainDelay is the time
	// from then until it refuses new requests, so that load balancers can notice.
	DrainDelay time.Duration
	// If a model cannot be opened at the start, SkipBad serves the other models. A note names the bad
	// model, and it is tried again when its file changes.
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

// once returns note without repeated messages. Every model opens its devices separately, and
// the devices of all models have the same messages.
func once(note func(format string, args ...any)) func(format string, args ...any) {
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
