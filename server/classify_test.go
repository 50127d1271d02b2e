package server

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// photo returns a PNG file of random pixels.
func photo(t *testing.T, w, h int) []byte {
	t.Helper()
	draw, img := rand.New(rand.NewPCG(4, 4)), image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(draw.Uint32()), uint8(draw.Uint32()), uint8(x), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestClassify compares the classes in a response with the classes that package predict finds in the picture,
// bit by bit, for every form in which a request can have a picture.
func TestClassify(t *testing.T) {
	m := newModel(t, 1)
	m.Labels[3] = "<img onerror>"
	s, file := start(t, on("ref", write(t, m, "m.bnm"))), photo(t, 50, 40)
	var form bytes.Buffer
	f := multipart.NewWriter(&form)
	part, err := f.CreateFormFile("file", "a.png")
	if err == nil {
		_, err = part.Write(file)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	want := predictedClasses(t, predictor(t, m, "ref"), file)
	inBase64 := fmt.Appendf(nil, `{"image":%q}`, base64.StdEncoding.EncodeToString(file))
	for kind, body := range map[string][]byte{"": file, "image/png": file, "application/json": inBase64,
		"text/plain": inBase64, "application/x-www-form-urlencoded": inBase64, "-": inBase64,
		f.FormDataContentType(): form.Bytes()} {
		headers := []string{"Content-Type", kind}
		if kind == "-" { // without a Content-Type
			headers = nil
		}
		r := ask(t, s, "POST", "/v2/models/m/classify?top=10", body, headers...)
		var c classes
		err := json.Unmarshal(r.body, &c)
		if err != nil || r.status != 200 || fmt.Sprint(c.Top) != fmt.Sprint(want) {
			t.Errorf("%s: %d %s, want %v", kind, r.status, r.body, want)
		}
		if len(c.SHA256) != 64 || !bytes.Contains(r.body, []byte(`"label":"\u003cimg onerror\u003e"`)) {
			t.Errorf("%s", r.body)
		}
	}
}

// inputOf opens a picture file as an input of package predict.
func inputOf(t *testing.T, file []byte) data.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	src, err := data.OpenInputs(t.Context(), []string{path}, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// predictedClasses returns the classes that package predict finds in a picture file.
func predictedClasses(t *testing.T, p *predict.Predictor, file []byte) (top []topClass) {
	t.Helper()
	src := inputOf(t, file)
	defer src.Close()
	answers, err := predict.NewAnswers(p.Model, predict.AnswerOptions{Top: 10})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.All(t.Context(), src, predict.Reading{}, func(_ int, outs []tensor.Tensor) error {
		best, err := answers.Best(outs)
		for _, k := range best {
			top = append(top, topClass{k.Label, k.Index, k.P})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// TestClassifyRefuses checks that files that are not pictures, damaged pictures, and
// pictures that decode to more than the memory budget are refused.
func TestClassifyRefuses(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.InFlight = 16 << 20
	s, file := start(t, o), photo(t, 50, 40)
	huge, endless := sized(file, 8192), sized(file, 0x7f000000)
	for _, c := range []struct {
		query, kind string
		body        []byte
		status      int
	}{
		{"", "", nil, 400},
		{"", "", []byte("no picture"), 400},
		{"", "", file[:len(file)/2], 400},
		{"", "", huge, 400}, // the size in the header is impossible for a file of this length
		{"", "", endless, 400},
		{"", "application/json", []byte(`{"image":"%"}`), 400},
		{"", "application/json", []byte(`{}`), 400},
		{"", "multipart/form-data", file, 400},
		{"", "multipart/form-data; boundary=x", []byte("--x\r\n\r\n--x--"), 400},
		{"?top=0", "", file, 400},
	} {
		r := ask(t, s, "POST", "/v2/models/m/classify"+c.query, c.body, "Content-Type", c.kind)
		if r.status != c.status || !bytes.HasPrefix(r.body, []byte(`{"error":"`)) {
			t.Errorf("%s %s %.30q: %d %s, want %d", c.query, c.kind, c.body, r.status, r.body, c.status)
		}
	}
	if n := s.budget.requestBytes(); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
}

// sized returns a PNG file with a false size in its header.
func sized(file []byte, side uint32) []byte {
	out := bytes.Clone(file)
	binary.BigEndian.PutUint32(out[16:], side)
	binary.BigEndian.PutUint32(out[20:], side)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

// TestPage checks that the files of the web page load nothing from other servers.
func TestPage(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	for path, kind := range map[string]string{"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"} {
		r := ask(t, s, "GET", path, nil)
		if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), kind) ||
			bytes.Contains(r.body, []byte("://")) || bytes.Contains(r.body, []byte("innerHTML")) {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
	}
	if r := ask(t, s, "GET", "/page.css", nil, "Range", "bytes=99999-"); r.status != 200 {
		t.Errorf("a range of /page.css: %d %s", r.status, r.body)
	}
	r := ask(t, s, "GET", "/v2/models/m/layers", nil)
	if !bytes.HasPrefix(r.body, []byte(`{"health":"`)) || !bytes.Contains(r.body, []byte(`"channels":`)) {
		t.Errorf("%s", r.body)
	}
	if r := ask(t, s, "GET", "/icon.svg", nil); r.status != 200 || !bytes.HasPrefix(r.body, []byte("<svg")) {
		t.Errorf("/icon.svg: %d %s", r.status, r.body)
	}
	if r := ask(t, s, "GET", "/page", nil); r.status != 404 {
		t.Errorf("/page: %d", r.status)
	}
}

// TestMetricsAndLog checks that metrics have the names of served models only, never text from clients, and
// that the log has a line for each request.
func TestMetricsAndLog(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	lines := &bytes.Buffer{} // a log handler writes whole lines, under a lock
	o.Access = slog.New(slog.NewJSONHandler(lines, nil))
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 3)
	ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0")
	ask(t, s, "POST", "/v2/models/made-up/infer", x.Bytes, jsonLength, "0")
	var text string
	until(t, "the metrics of both", func() bool {
		text = string(ask(t, s, "GET", "/metrics", nil).body)
		return strings.Contains(text, `code="404"`)
	})
	for _, want := range []string{
		`bnctl_requests_total{code="200",model="m",protocol="http",version="1"} 1`,
		`bnctl_requests_total{code="404",model="",protocol="http",version=""} 1`,
		`bnctl_batch_rows_sum{model="m",version="1"} 3`,
		`bnctl_device_seconds_count{model="m",version="1"} 1`,
		`bnctl_queue_rows{model="m",version="1"} 0`,
		`bnctl_connection_bytes `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %s", want)
		}
	}
	_, held, _ := strings.Cut(text, "\nbnctl_inflight_bytes ")
	var n int
	if _, err := fmt.Sscan(held, &n); err != nil || n > 2000 { // the memory of the metrics request itself
		t.Errorf("%d bytes under way, %v", n, err)
	}
	if strings.Contains(text, "made-up") {
		t.Error("a model that is not there is a label")
	}
	if line := lines.String(); !strings.Contains(line, `"what":"POST /v2/models/m/infer","code":"200"`) ||
		!strings.Contains(line, `"model":"m","version":"1","rows":3,"queue_ms":`) {
		t.Errorf("%s", line)
	}
}
