package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/server"
)

// servedFlags are the flags for the served versions of models, and for the batching of requests.
func servedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "versions", Value: "latest:1", Usage: "latest:`N`, all, or 1,3"},
		&cli.DurationFlag{Name: "poll", Value: 2 * time.Second, Usage: "how often files are looked at"},
		&cli.BoolFlag{Name: "skip-bad-models", Usage: "serve the others if a model cannot be opened at the start"},
		&cli.BoolFlag{Name: "allow-sick", Usage: "serve models though doctor finds them sick"},
		&cli.IntFlag{Name: "max-batch", Value: 32, Usage: "rows that are computed together at most"},
		&cli.DurationFlag{Name: "max-delay", DefaultText: "0s: with what queued meanwhile",
			Usage: "how long a row waits for others, for example 2ms"},
		&cli.IntFlag{Name: "max-queue", Usage: "rows that wait for a model at most", DefaultText: "8 batches"},
		&cli.IntFlag{Name: "max-inflight-mb", Value: 256, Usage: "`MiB` that clients make the server hold at most"},
		precisionFlag(), stagesFlag(), planFlag(),
	}
}

// addressFlags are the flags for the address of the server, and for the clients that may use it.
func addressFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "http", Value: "127.0.0.1:8000", Usage: "`ADDRESS`, or unix:PATH; port 0: any"},
		&cli.StringFlag{Name: "grpc", Value: "127.0.0.1:8001", Usage: "`ADDRESS` to listen on; '': none"},
		&cli.StringFlag{Name: "health", Usage: "`ADDRESS` that answers /v2/health/ alone, without TLS and tokens"},
		&cli.BoolFlag{Name: "insecure", Usage: "let other machines ask without TLS"},
		&cli.StringFlag{Name: "tls-cert", Usage: "`FILE` of the server's certificate, PEM"},
		&cli.StringFlag{Name: "tls-key", Usage: "`FILE` of its private key"},
		&cli.StringFlag{Name: "client-ca", Usage: "`FILE` of certificates that sign the certificates of clients"},
		&cli.StringFlag{Name: "token-file",
			Usage: "`FILE` of mode 0600, a token on each line: who asks needs one"},
		&cli.StringSliceFlag{Name: "host",
			Usage: "`NAME` of the server for clients, repeated; '*': any. Other names are refused"},
		&cli.BoolFlag{Name: "access-log", Usage: "a line of JSON for each request and event, on standard error"},
		&cli.DurationFlag{Name: "drain-delay", DefaultText: "0s",
			Usage: "how long it still answers after SIGTERM, when it is not ready any more, for example 5s"},
		&cli.BoolFlag{Name: "reflection", Usage: "list the services to other machines by gRPC too"},
	}
}

// serveOptions returns the options that the flags set.
func serveOptions(c *cli.Context) (o server.Options, err error) {
	if err := atLeast(c, 1, "max-queue", "max-batch", "max-inflight-mb"); err != nil {
		return o, err
	}
	err = commandline.RequireValues(c, "tls-cert", "tls-key", "client-ca", "token-file", "host")
	if err != nil {
		return o, err
	}
	if c.Duration("poll") <= 0 {
		return o, misuse("--poll %v: want more than 0", c.Duration("poll"))
	}
	o = server.Options{Models: c.Args().Slice(), HTTP: c.String("http"), GRPC: c.String("grpc"),
		Health: c.String("health"), Delay: c.Duration("max-delay"), Queue: c.Int("max-queue"),
		InFlight: c.Int("max-inflight-mb") << 20, Versions: c.String("versions"), Poll: c.Duration("poll"),
		AllowSick: c.Bool("allow-sick"), SkipBad: c.Bool("skip-bad-models"), DrainDelay: c.Duration("drain-delay"),
		Security: securityOptions(c), Note: outputOf(c).note,
		Predict: predict.Options{Batch: c.Int("max-batch")}}
	if o.File, err = modelOptions(c); err != nil {
		return o, err
	}
	if o.Predict.Stages, o.Predict.Divided, err = plannedStages(c); err != nil {
		return o, err
	}
	if os.Getenv("GOGC") == "" {
		o.Garbage = 4 << 20
	}
	if c.Bool("access-log") {
		o.Access = slog.New(slog.NewJSONHandler(c.App.ErrWriter, nil))
	}
	o.Predict.Fleet, err = fleetOptions(c, c.String("precision"), noLimit)
	if o.Access != nil && !c.Bool("quiet") {
		o.Note = notesWithURLs(server.LogNotes(o.Access))
		logsSignals.Store(true)
		o.Predict.Fleet.Note = o.Note
	}
	return o, err
}

// securityOptions returns the options about permitted clients that the flags set.
func securityOptions(c *cli.Context) server.Security {
	return server.Security{Insecure: c.Bool("insecure"), Reflection: c.Bool("reflection"),
		Certificate: c.String("tls-cert"), Key: c.String("tls-key"), Clients: c.String("client-ca"),
		Tokens: c.String("token-file"), Hosts: c.StringSlice("host")}
}
