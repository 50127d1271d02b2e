package server

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// TestAClientThatIsGone checks that a request is removed from the queue, and is not computed, if its client
// disconnects.
func TestAClientThatIsGone(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Delay = time.Second
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	queue := s.allVersions()[0].queue
	for way, ask := range map[string]func(context.Context) error{
		"HTTP": func(ctx context.Context) error {
			r, _ := http.NewRequestWithContext(ctx, "POST", "http://"+s.HTTP()+"/v2/models/m/infer",
				bytes.NewReader(x.Bytes))
			r.Header.Set(jsonLength, "0")
			_, err := http.DefaultClient.Do(r)
			return err
		},
		"gRPC": func(ctx context.Context) error {
			_, err := client.ModelInfer(ctx, inMessage(x, true))
			return err
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { gone <- ask(ctx) }()
		until(t, "a row that waits", func() bool { return queue.Waiting() == 1 })
		stop()
		if err := <-gone; err == nil {
			t.Errorf("%s: an answer", way)
		}
		until(t, "an empty queue", func() bool { return queue.Waiting() == 0 && s.active.Load() == 0 })
	}
	if r := ask(t, s, "GET", "/metrics", nil); bytes.Contains(r.body, []byte("bnctl_batch_rows_sum")) {
		t.Errorf("they were computed: %s", r.body)
	}
}

// TestTooLate checks the answer to a request after its timeout, over HTTP and gRPC.
func TestTooLate(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Delay = time.Second
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	body := append([]byte(`{"parameters":{"timeout":1000},`), jsonRequest(x)[1:]...)
	if r := ask(t, s, "POST", "/v2/models/m/infer", body); r.status != 504 ||
		!bytes.HasPrefix(r.body, []byte(`{"error":"the time`)) {
		t.Errorf("over HTTP: %d %s", r.status, r.body)
	}
	in := inMessage(x, true)
	in.Parameters = map[string]*pb.InferParameter{
		"timeout": {ParameterChoice: &pb.InferParameter_Int64Param{Int64Param: 1000}}}
	_, err := pb.NewGRPCInferenceServiceClient(dial(t, s)).ModelInfer(t.Context(), in)
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("over gRPC: %v", err)
	}
}

// TestAFileThatNeverHoldsStill checks that a model's file is not served before it is whole. The file is
// constantly rewritten in place, truncated while it is read, or replaced by an empty file. Meanwhile the
// previous version answers.
func TestAFileThatNeverHoldsStill(t *testing.T) {
	folder := t.TempDir()
	first, other := write(t, newModel(t, 1), folder+"/m.bnm"), write(t, newModel(t, 2), "other.bnm")
	next, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	s, x := start(t, inFolder(folder)), pictures(rand.New(rand.NewPCG(1, 1)), 1)
	sum := s.Models()[0].SHA256
	draw := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		switch n := draw.IntN(len(next)); draw.IntN(3) {
		case 0:
			err = os.WriteFile(first, next[:n], 0o644)
		case 1:
			garbage := bytes.Clone(next)
			garbage[n]++
			err = os.WriteFile(first, garbage, 0o644)
		case 2:
			replace(t, first, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(draw.IntN(25)) * time.Millisecond) // the server scans every 10 ms
		r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x))
		if r.status != 200 || !bytes.Contains(r.body, []byte(sum)) {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	replace(t, first, next)
	until(t, "the whole file", func() bool { return s.Models()[0].SHA256 != sum })
}

// TestLogOnAFullDisk checks that requests are answered although the log cannot be written.
func TestLogOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Access = slog.New(slog.NewJSONHandler(full, nil))
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	for range 3 {
		if r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x)); r.status != 200 {
			t.Errorf("%d %s", r.status, strings.TrimSpace(string(r.body)))
		}
	}
}
