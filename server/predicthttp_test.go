package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// TestPredictIsPredict compares outputs and probabilities, of rows and of a picture, with the results of
// package predict.
func TestPredictIsPredict(t *testing.T) {
	m := newModel(t, 1)
	s, p := start(t, on("ref", write(t, m, "m.bnm"))), predictor(t, m, "ref")
	rule, err := predict.NewAnswers(m, predict.AnswerOptions{Top: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := pictures(rand.New(rand.NewPCG(7, 7)), 6)
	outs, err := p.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(outs[0].Bytes)
	for i := range 6 {
		row := outs[0].Rows(i, i+1)
		row.Shape = row.Shape[1:]
		probabilities := rule.Probabilities([]tensor.Tensor{row})
		want = append(want, tensor.Of(probabilities, 10).Bytes...)
	}
	body, n := binaryRequest(x)
	r := ask(t, s, "POST", "/v2/models/m/predict", body, jsonLength, strconv.Itoa(n))
	head, _ := strconv.Atoi(r.header.Get(jsonLength))
	if r.status != 200 || !bytes.Equal(r.body[head:], want) {
		t.Errorf("%d: other bits than predict: %.300s", r.status, r.body)
	}
	file := photo(t, 50, 40)
	r = ask(t, s, "POST", "/v2/models/m/predict", file)
	head, _ = strconv.Atoi(r.header.Get(jsonLength))
	probabilities := tensor.Tensor{DType: tensor.F32, Shape: []int{10}, Bytes: slices.Clone(r.body[head+40:])}
	for _, c := range predictedClasses(t, p, file) {
		if got := probabilities.F32()[c.Index]; got != c.P {
			t.Errorf("class %d of a picture: %v, want %v", c.Index, got, c.P)
		}
	}
	var k predictionKind
	r = ask(t, s, "GET", "/v2/models/m/predict", nil)
	if err := json.Unmarshal(r.body, &k); err != nil || k.Answers != "classes" || !k.Pictures ||
		!slices.Equal(k.Labels, m.Labels) || k.Scores != "logits" || k.MaxBatch != 4 {
		t.Errorf("%s: %v", r.body, err)
	}
	for path, want := range map[string]int{"n/predict": 404, "m/predict": 400} {
		if r := ask(t, s, "POST", "/v2/models/"+path, []byte("none")); r.status != want {
			t.Errorf("%s: %d %s, want %d", path, r.status, r.body, want)
		}
	}
}

// TestThresholds checks that a model with thresholds answers with the labels that reach them, and that its
// metadata has the thresholds.
func TestThresholds(t *testing.T) {
	thresholds := []float64{1, 1, 1, 0, 1, 1, 1, 1, 1, 1}
	m, err := models.WithThresholds(newModel(t, 1), thresholds)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, on("ref", write(t, m, "m.bnm")))
	var k predictionKind
	r := ask(t, s, "GET", "/v2/models/m/predict", nil)
	if err := json.Unmarshal(r.body, &k); err != nil || !slices.Equal(k.Thresholds, thresholds) {
		t.Errorf("%s: %v, want thresholds %v", r.body, err, thresholds)
	}
	var c classes
	r = ask(t, s, "POST", "/v2/models/m/classify", photo(t, 50, 40))
	if err := json.Unmarshal(r.body, &c); err != nil || c.Labels == nil || len(*c.Labels) != 1 ||
		(*c.Labels)[0].Index != 3 {
		t.Errorf("%s: %v, want label 3 alone", r.body, err)
	}
}

// TestUnixSocket checks that only the owner of a socket can use it, that the socket of a killed server is
// replaced, that a socket in use is not replaced, and that a server removes its socket when it ends.
func TestUnixSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "s") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.HTTP, o.GRPC = "unix:"+path, ""
	s := start(t, o)
	if at, err := os.Stat(path); err != nil || at.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", at.Mode(), err)
	}
	if s.HTTP() != "unix:"+path || s.URL() != "unix:"+path+" http://localhost" {
		t.Errorf("address %s, %s", s.HTTP(), s.URL())
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}
	for host, want := range map[string]int{"localhost": 200, "evil.example": 403} {
		r, err := c.Get("http://" + host + "/v2/models/m")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, r.StatusCode, want)
		}
	}
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("a second server: %v", err)
	}
}

// TestUnixSocketGone checks that a server that ends removes its socket, and that paths that cannot be sockets
// are refused.
func TestUnixSocketGone(t *testing.T) {
	folder, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.HTTP, o.GRPC = "unix:"+filepath.Join(folder, "s"), ""
	s, err := Open(t.Context(), o)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for at, want := range map[string]string{"unix:": "a path is missing",
		"unix:/" + strings.Repeat("x", 110): "longer than 103 bytes",
		"unix:/no/such/folder/s":            "/no/such/folder is not a folder",
		"unix:" + os.Args[0]:                "a file that is not a socket"} {
		o.HTTP = at
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", at, err, want)
		}
	}
}
