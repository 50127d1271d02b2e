package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	if what := os.Getenv(servesHere); what != "" {
		if err := serveHere(strings.Split(what, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// servesHere is the environment variable that makes this test program serve a model. Its value has the paths
// of the model, a certificate and the certificate's key, on separate lines.
const servesHere = "BNCTL_TEST_SERVES"

// serveHere serves a model until the standard input of this process ends.
func serveHere(files []string) error {
	o := on("ref", files[0])
	if len(files) > 1 {
		o.Security.Certificate, o.Security.Key = files[1], files[2]
	}
	o.InFlight, o.Garbage, o.Predict.Batch = 64<<20, 4<<20, 32
	s, err := Open(context.Background(), o)
	if err != nil {
		return err
	}
	fmt.Printf("{\"http\": %q, \"grpc\": %q}\n", s.HTTP(), s.GRPC())
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	_ = s.Serve(ctx)
	return s.Close()
}

// newModel returns mlp-bn with the weights of a seed.
func newModel(t testing.TB, seed uint64) *models.Model {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	m.Preprocess.Known = true
	return m
}

// write writes a model to path, below a new folder unless path is absolute, and returns the path.
func write(t testing.TB, m *models.Model, path string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.TempDir(), path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := serialize.WriteModel(path, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// on returns options for the models at some paths, served on some devices.
func on(devices string, paths ...string) Options {
	return Options{Models: paths, HTTP: "127.0.0.1:0", GRPC: "127.0.0.1:0", Queue: 1000,
		Predict: predict.Options{Batch: 4, Fleet: fleet.Options{Devices: devices, Threads: 1}}}
}

// start serves until the test ends.
func start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections() // otherwise the server waits for these connections
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reply is the response to a request, or its error.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request. Headers are names and values in turn.
func ask(t testing.TB, s *Server, method, path string, body []byte, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTP()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, b}
}

// pictures returns random rows for mlp-bn.
func pictures(draw *rand.Rand, n int) tensor.Tensor {
	x := tensor.New(tensor.U8, n, 28, 28, 1)
	for i := range x.Bytes {
		x.Bytes[i] = byte(draw.Uint32())
	}
	return x
}

// predictor returns a predictor of package predict for a model, on a device.
func predictor(t testing.TB, m *models.Model, device string) *predict.Predictor {
	t.Helper()
	p, err := predict.Open(t.Context(), m,
		predict.Options{Batch: 3, Fleet: fleet.Options{Devices: device, Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// predicted returns the logits that package predict computes for x.
func predicted(t testing.TB, p *predict.Predictor, x tensor.Tensor) []byte {
	t.Helper()
	outs, err := p.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return outs[0].Bytes
}

// binaryRequest returns a request for rows: JSON and the bytes that follow it.
func binaryRequest(x tensor.Tensor) (body []byte, jsonBytes int) {
	head := fmt.Sprintf(`{"parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"UINT8",`+
		`"shape":[%d,28,28,1],"parameters":{"binary_data_size":%d}}]}`, x.Shape[0], len(x.Bytes))
	return append([]byte(head), x.Bytes...), len(head)
}

// jsonRequest returns a request for rows in JSON.
func jsonRequest(x tensor.Tensor) []byte {
	values := make([]int, len(x.Bytes))
	for i, b := range x.Bytes {
		values[i] = int(b)
	}
	data, _ := json.Marshal(values)
	return fmt.Appendf(nil, `{"id":"q","inputs":[{"name":"x","datatype":"UINT8","shape":[%d,28,28,1],"data":%s}]}`,
		x.Shape[0], data)
}

// inJSON returns the elements of the only output of an answer in JSON.
func inJSON(t testing.TB, body []byte) (raw []byte) {
	t.Helper()
	var a struct{ Outputs []struct{ Data []float32 } }
	if err := json.Unmarshal(body, &a); err != nil || len(a.Outputs) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	for _, v := range a.Outputs[0].Data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// TestAnswersArePredict checks that every answer has the same bits as package predict, in every form of
// request and answer, and whatever other requests there are.
func TestAnswersArePredict(t *testing.T) {
	m := newModel(t, 1)
	p := predictor(t, m, "ref")
	for _, devices := range []string{"ref", "2xref"} {
		s := start(t, on(devices, write(t, m, "m.bnm")))
		var all sync.WaitGroup
		for seed := range uint64(18) {
			draw := rand.New(rand.NewPCG(seed, 0))
			x := pictures(draw, 1+draw.IntN(5))
			want := predicted(t, p, x)
			all.Go(func() {
				var got []byte
				switch seed % 3 {
				case 0:
					body, n := binaryRequest(x)
					r := ask(t, s, "POST", "/v2/models/m/infer", body, jsonLength, strconv.Itoa(n))
					n, _ = strconv.Atoi(r.header.Get(jsonLength))
					got = r.body[n:]
				case 1:
					r := ask(t, s, "POST", "/v2/models/m/versions/1/infer", x.Bytes, jsonLength, "0")
					n, _ := strconv.Atoi(r.header.Get(jsonLength))
					got = r.body[n:]
				case 2:
					got = inJSON(t, ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x)).body)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s, %d rows, form %d: other bits", devices, x.Shape[0], seed%3)
				}
			})
		}
		all.Wait()
	}
}

func TestMetadata(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/v2", 200, `"extensions":["binary_tensor_data","classification","model_configuration"]`},
		{"GET", "/v2/health/live", 200, `{"live":true}`},
		{"GET", "/v2/health/ready", 200, `{"ready":true}`},
		{"GET", "/v2/models/m/ready", 200, `{"name":"m","ready":true}`},
		{"GET", "/v2/models/m", 200, `"inputs":[{"name":"x","datatype":"UINT8","shape":[-1,28,28,1]}]`},
		{"GET", "/v2/models/m/versions/1", 200, `"outputs":[{"name":"logits","datatype":"FP32","shape":[-1,10]}]`},
		{"GET", "/v2/models/m/config", 200, `"max_batch_size":4,"input":[{"name":"x","data_type":"TYPE_UINT8"`},
		{"GET", "/v2/models/m/versions/01", 404, `{"error":"model m has no version \"01\""}`},
		{"GET", "/v2/models/other/ready", 404, `{"error":"model \"other\" does not exist"}`},
		{"GET", "/v2/models/..%2fm", 404, `nothing at this path`},
		{"GET", "/v2/models/../models/m", 404, `nothing at this path`},
		{"GET", "/v2//health/live", 404, `nothing at this path`},
		{"GET", "/v3", 404, `{"error":"there is nothing at this path"}`},
		{"POST", "/v2", 405, `this path accepts GET, HEAD, not POST`},
		{"GET", "/v2/models/m/infer", 405, `this path accepts POST, not GET`},
	} {
		r := ask(t, s, c.method, c.path, nil)
		if r.status != c.status || !bytes.Contains(r.body, []byte(c.want)) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, r.status, r.body, c.status, c.want)
		}
	}
}

// TestRefused checks that invalid requests are refused with a message, and that the next
// request is answered.
func TestRefused(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Request = 20_000
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	for _, c := range []struct {
		body   string
		status int
		want   string
		header string
	}{
		{`{`, 400, "not JSON", ""},
		{`{"inputs":[]}`, 400, "0 inputs", ""},
		{`{"inputs":[{"name":"y","datatype":"UINT8","shape":[1,28,28,1],"data":[]}]}`, 400, "no such input", ""},
		{`{"inputs":[{"name":"x","datatype":"FP32","shape":[1,28,28,1],"data":[]}]}`, 400,
			"normalises pixels itself; datatype FP32; model m needs x, UINT8 of shape [-1 28 28 1]", ""},
		{`{"inputs":[{"name":"x","datatype":"UINT8","shape":[1,28,28],"data":[]}]}`, 400, "shape [1 28 28];", ""},
		{`{"inputs":[{"name":"x","datatype":"UINT8","shape":[0,28,28,1],"data":[]}]}`, 400, "shape [0", ""},
		{`{"inputs":[{"name":"x","datatype":"UINT8","shape":[1,28,28,1],"data":[1]}]}`, 400, "characters", ""},
		{string(x.Bytes[1:]), 400, "783 bytes", "0"},
		{"", 400, "0 bytes", "0"},
		{`{}`, 400, "want the bytes of JSON", "x"},
		{`{}`, 400, "and the body has 2 bytes", "3"},
		{string(make([]byte, 20_001)), 413, "more than 20000 bytes", "0"},
	} {
		headers := []string{jsonLength, c.header}
		if c.header == "" {
			headers = nil
		}
		r := ask(t, s, "POST", "/v2/models/m/infer", []byte(c.body), headers...)
		var e struct{ Error string }
		if err := json.Unmarshal(r.body, &e); err != nil || r.status != c.status ||
			!bytes.Contains([]byte(e.Error), []byte(c.want)) {
			t.Errorf("%.60q: %d %s, want %d and %q", c.body, r.status, r.body, c.status, c.want)
		}
	}
	for _, outputs := range []string{`[{"name":"p"}]`, `[{"name":"logits"},{"name":"logits"}]`} {
		body := append(bytes.TrimSuffix(jsonRequest(x), []byte("}")), `,"outputs":`+outputs+"}"...)
		if r := ask(t, s, "POST", "/v2/models/m/infer", body); r.status != 400 {
			t.Errorf("outputs %s: %d %s", outputs, r.status, r.body)
		}
	}
	if r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x)); r.status != 200 {
		t.Errorf("a good request after them: %d %s", r.status, r.body)
	}
}

// TestClassification checks that classes are returned as strings, best first.
func TestClassification(t *testing.T) {
	m := newModel(t, 1)
	m.Labels[3] = "<img onerror>"
	s := start(t, on("ref", write(t, m, "m.bnm")))
	x := pictures(rand.New(rand.NewPCG(1, 1)), 2)
	body := append(bytes.TrimSuffix(jsonRequest(x), []byte("}")),
		`,"outputs":[{"name":"logits","parameters":{"classification":10}}]}`...)
	var a struct {
		Outputs []struct {
			Datatype string
			Shape    []int
			Data     []string
		}
	}
	r := ask(t, s, "POST", "/v2/models/m/infer", body)
	if err := json.Unmarshal(r.body, &a); err != nil || len(a.Outputs) != 1 {
		t.Fatalf("%s", r.body)
	}
	if o := a.Outputs[0]; o.Datatype != "BYTES" || fmt.Sprint(o.Shape) != "[2 10]" || len(o.Data) != 20 {
		t.Errorf("%+v", o)
	}
	if !bytes.Contains(r.body, []byte(`:3:\u003cimg onerror\u003e"`)) {
		t.Errorf("%s", r.body)
	}
}

func TestProblems(t *testing.T) {
	path := write(t, newModel(t, 1), "m.bnm")
	for _, c := range []func(o *Options){
		func(o *Options) { o.Models = nil },
		func(o *Options) { o.Versions = "newest" },
		func(o *Options) { o.Poll = -1 },
		func(o *Options) { o.HTTP = "0.0.0.0:0" },
		func(o *Options) { o.HTTP = ":0" },
		func(o *Options) { o.GRPC = "[::]:0" },
		func(o *Options) { o.HTTP = "127.0.0.1" },
		func(o *Options) { o.Delay = -1 },
		func(o *Options) { o.Queue = -1 },
		func(o *Options) { o.Predict.Batch = 0 },
		func(o *Options) { o.Predict.Fleet.Devices = "ref,cpu" }, // two kernel classes
	} {
		o := on("ref", path)
		c(&o)
		s, err := Open(t.Context(), o)
		if err == nil {
			s.Close()
		}
		wantProblem(t, err)
	}
}

func wantProblem(t *testing.T, err error) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) {
		t.Errorf("%v, want a problem", err)
	}
}
