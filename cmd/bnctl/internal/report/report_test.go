package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
	"github.com/bnctl/bnctl/train"
)

// logOf returns the log of a run: its start and its epochs, with batch norms of some layers.
func logOf(seed, epochs, layers int, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		`{"event":"start","schema":1,"recipe":{"release":"0.1","model":"resnet20","data":{"kind":"glyphs",`+
			`"split":"train","samples":6000,"classes":10,"fingerprint":"abc"},"validation":{"kind":"glyphs","split":"test",`+
			`"samples":1000,"classes":10,"fingerprint":"def"},"seed":%d,"epochs":%d,"bn":%q,"freeze":null},"devices":["cpu:0","cpu:1"],`+
			`"placement":[4,4],"kernels":"fma","deterministic":true,"batch_norm":"128 samples","parameters":272474,`+
			`"total_steps":%d,"checkpoint":"run.bnc","go_on":"bnctl train --resume run.bnc --devices 2xcpu"}`+"\n",
		seed, epochs, name,
		epochs*47)
	for e := range epochs {
		x := math.Exp(-float64(e) / 10)
		fmt.Fprintf(&b,
			`{"event":"step","schema":1,"step":%d,"epoch":%d,"loss":%g,"accuracy":%g,"lr":0.1,"images_per_s":900}`+"\n",
			(e+1)*47, e+1, x, 1-x/2)
		fmt.Fprintf(&b, `{"event":"epoch","schema":1,"epoch":%d,"train_loss":%g,"train_accuracy":%g,"val_loss":%g,`+
			`"val_accuracy":%g,"seconds":6.5,"images_per_s":923,"seen":6000,"dropped":0,"repeated":0,"input_wait":0.05,`+
			`"sync_wait":0.1,"gap":{"batch_loss":%g,"running_loss":%g}}`+"\n", e+1, 2*x, 1-x/2, 2*x+0.1, 0.95-x/2, x,
			x+0.02)
		norms := train.Norms{Epoch: e + 1}
		for l := range layers {
			v := float32(x) * float32(l%7+1) / 10
			norms.Layers = append(norms.Layers, bn.Summary{Layer: fmt.Sprintf("layer%d.0.bn1", l), Channels: 64,
				Dead: l % 3, Mean: v,
				VarMin: v, VarMedian: 1, VarMax: 2, Gap: &v, Ratio: &v, Drift: &v, Spread: &v})
		}
		line, err := json.Marshal(norms)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, `{"event":"norms","schema":1,%s`+"\n", line[1:])
	}
	return b.String()
}

const doneLine = `{"event":"done","schema":1,"model":"run.bnm","sha256":"c54d","steps":94,"seconds":4.9,"best_epoch":2,"best":0.9,"figure":"accuracy","save":"last"}` + "\n"

// evaluationOf returns an evaluation with some classes. For some labels of each class the next class is
// predicted.
func evaluationOf(classes int) *evaluated {
	e := &evaluated{Epoch: 2, Data: "glyphs (test), 1000 samples", Samples: classes * 10,
		Counted: classes * 10, Correct: classes * 9}
	for i := range classes {
		e.Classes = append(e.Classes, Class{Name: fmt.Sprintf("class number %d", i), N: 10, Correct: 9,
			Predicted: 10})
	}
	n := min(classes, mostDrawn)
	for i := range n {
		row := make([]int, n)
		row[i], row[(i+1)%n] = 9, 1
		e.MatrixClasses, e.Matrix = append(e.MatrixClasses, i), append(e.Matrix, row)
		e.Confusions = append(e.Confusions, Confusion{i, (i + 1) % n, 1})
	}
	return e
}

// folderOf writes a folder with the log of a run.
func folderOf(t *testing.T, log string, e *evaluated) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, metricsFile), []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	if e != nil {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, evaluationFile), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func pageOf(t *testing.T, folders ...string) string {
	t.Helper()
	var runs []*Run
	for _, f := range folders {
		r, err := read(f)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	var b bytes.Buffer
	if err := writePage(&b, runs...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wants checks that a page contains texts.
func wants(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, w := range texts {
		if !strings.Contains(page, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}

func TestPageOfARun(t *testing.T) {
	page := pageOf(t, folderOf(t, logOf(0, 2, 3, "sync")+doneLine, evaluationOf(10)))
	wants(t, page, "resnet20 on glyphs (train), 6000 samples", "finished", "Batch norm over time",
		"Confusion matrix",
		"class number 3", "layer2.0.bn1", "data.fingerprint", "12000 samples seen in 2 epochs: no sample was dropped",
		"bnctl predict run.bnm", "sha256", "waiting for input")
}

// refers matches markup that makes a browser load another file.
var refers = regexp.MustCompile(`(?i)(src|href|action|data|poster|srcset)\s*=\s*["']?([^"'\s>]+)|url\(([^)]*)\)|@import|<script`)

// A page is one file: everything that it refers to is inside the file.
func TestPageRefersToNoOtherFile(t *testing.T) {
	e := evaluationOf(10)
	e.Mistakes = []Mistake{{Sample: "a.png", Picture: []byte("\x89PNG")}}
	folder := folderOf(t, logOf(0, 2, 3, "sync")+doneLine, e)
	for _, page := range []string{pageOf(t, folder), pageOf(t, folder, folder)} {
		for _, m := range refers.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(m[2], "data:") && !strings.HasPrefix(m[2], "#") {
				t.Errorf("the page refers to %q", m[0])
			}
		}
	}
}

// The page about a run of 100 epochs and 1,000 classes has at most 5 MB. A page about 10,000 classes is
// truncated, and states so.
func TestPageSize(t *testing.T) {
	e := evaluationOf(1000)
	for i := range 24 {
		e.Mistakes = append(e.Mistakes, Mistake{Sample: fmt.Sprint(i), Picture: make([]byte, 30000)})
	}
	page := pageOf(t, folderOf(t, logOf(0, 100, 161, "sync")+doneLine, e))
	if len(page) > 5<<20 {
		t.Errorf("%d bytes, want at most 5 MB", len(page))
	}
	t.Logf("100 epochs, 1,000 classes, 161 layers: %d bytes", len(page))
	page = pageOf(t, folderOf(t, logOf(0, 1, 1, "sync"), evaluationOf(10000)))
	wants(t, page, "The 1000 with the lowest F1 of 10000 classes", "The 30 of 10000 classes that are "+
		"confused most")
	if len(page) > 5<<20 {
		t.Errorf("%d bytes of 10,000 classes, want at most 5 MB", len(page))
	}
}

// The names of classes, layers and files are shown as text, even if they contain markup.
func TestMarkupIsText(t *testing.T) {
	const evil = `<img src=x onerror="alert(1)">`
	e := evaluationOf(3)
	e.Classes[1].Name = evil
	e.Mistakes = []Mistake{{Sample: evil, Rows: []predict.MistakeRow{{Term: evil, Value: evil, Number: evil}}}}
	e.Order, e.Key = evil, []predict.MaskClass{{Name: evil, Colour: `red"><script>alert(4)</script>`}}
	log := strings.ReplaceAll(logOf(0, 3, 3, "sync"), "layer1.0.bn1", `<script>alert(2)</script>`)
	log = strings.ReplaceAll(log, `"model":"resnet20"`, `"model":"</title><script>3</script>"`)
	r, err := read(folderOf(t, log, e))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := writePage(&b, r, r); err != nil {
		t.Fatal(err)
	}
	all := b.String() + string(curvesSVG(r)) + string(confusionSVG(r)) + pageOf(t, folderOf(t, log, e))
	for _, bad := range []string{"<img src=x", "<script"} {
		if strings.Contains(all, bad) {
			t.Errorf("%s is markup in the page", bad)
		}
	}
}

func TestComparison(t *testing.T) {
	a, b := folderOf(t, logOf(0, 3, 2, "sync")+doneLine, nil), folderOf(t, logOf(1, 4, 2, "replica"), nil)
	c := folderOf(t, strings.ReplaceAll(logOf(0, 3, 2, "sync"), `"fingerprint":"abc"`,
		`"fingerprint":"xyz"`)+doneLine, nil)
	page := pageOf(t, a, b, c)
	wants(t, page, "3 runs side by side", "Different recipe: seed, epochs, bn", "Different data: "+
		"data.fingerprint",
		"The code is the same: bnctl 0.1", "bit for bit: sha256 c54d", "points below")
	const apart = "The runs were evaluated on different data"
	other := folderOf(t, strings.ReplaceAll(logOf(0, 3, 2, "sync"), `"fingerprint":"def"`,
		`"fingerprint":"uvw"`), nil)
	if strings.Contains(page, apart) {
		t.Error("runs that were evaluated on the same data were not")
	}
	wants(t, pageOf(t, a, other), apart)
}

// TestSeeds groups runs by their recipe. If a seed has two runs in a group, it counts once.
func TestSeeds(t *testing.T) {
	var folders []string
	for seed := range 3 {
		for _, norm := range []string{"sync", "replica"} {
			log := strings.ReplaceAll(logOf(seed, 2, 2, norm), `"epoch":2,"train_loss"`, fmt.Sprintf(
				`"epoch":2,"val_accuracy":%g,"train_loss"`, 0.5+0.01*float64(seed)))
			log = strings.ReplaceAll(log, `"val_accuracy":0.4975`, `"was":0.4975`)
			folders = append(folders, folderOf(t, log, nil))
		}
	}
	folders = append(folders, folders[0])
	page := pageOf(t, folders...)
	wants(t, page, "By seed", "bn replica", "bn sync", "0 1 2", "51.00 % accuracy", "1.00</td>")
	if strings.Contains(page, "weak evidence") {
		t.Error("three seeds of each are called weak evidence")
	}
	if page := pageOf(t, folders[:2]...); strings.Contains(page, "By seed") {
		t.Error("a table of seeds for one seed")
	}
}

// TestSmoothedLoss: if labels are smoothed, the loss of training has another name.
func TestSmoothedLoss(t *testing.T) {
	log := strings.ReplaceAll(logOf(0, 3, 2, "sync"), `"freeze":null`, `"freeze":null,"label_smoothing":0.1`)
	wants(t, pageOf(t, folderOf(t, log, nil)), "train (labels smoothed by 0.1)")
	wants(t, pageOf(t, folderOf(t, log, nil), folderOf(t, logOf(1, 3, 2, "sync"), nil)), "of smoothed labels")
}

// If the devices of a run are unknown, for example because it was read from a checkpoint, they do not count
// as a difference.
func TestComparisonWithUnknown(t *testing.T) {
	log := logOf(0, 2, 2, "sync")
	bare := strings.NewReplacer(`"kernels":"fma",`, "", `"devices":["cpu:0","cpu:1"],`, "").Replace(log)
	wants(t, pageOf(t, folderOf(t, log, nil), folderOf(t, bare, nil)), "The recipes are the same",
		"Recipe, data and code are the same.")
}

func TestBadLogs(t *testing.T) {
	whole := logOf(0, 3, 2, "sync")
	for _, c := range []struct{ name, log, want string }{
		{"cut in a line", whole[:len(whole)-40], "the last line of the log was cut off"},
		{"a line of other text", strings.Replace(whole, "\n", "\nno JSON\n", 1), "1 line of the log could not " +
			"be read"},
		{"losses that are no numbers", strings.ReplaceAll(whole, `"val_loss":`, `"val_loss":null,"was":`),
			"validation loss"},
		{"NaN as other programs write it", strings.Replace(whole, `"loss":1`, `"loss":NaN`, 1), "no number"},
		{"a single epoch", logOf(0, 1, 2, "sync"), "epoch 1 of 1"},
		{"an earlier run", logOf(0, 9, 2, "sync") + logOf(0, 2, 2, "sync"), "lines of an earlier run"},
		{"no start", whole[strings.Index(whole, "\n")+1:], "the recipe"},
		{"resumed", whole + strings.Replace(whole, `"total_steps"`, `"first_step":94,"total_steps"`, 1),
			"47 steps since the checkpoint made again"},
	} {
		t.Run(c.name, func(t *testing.T) { wants(t, pageOf(t, folderOf(t, c.log, nil)), c.want) })
	}
}

func TestNoRun(t *testing.T) {
	empty := t.TempDir()
	log := filepath.Join(t.TempDir(), metricsFile)
	if err := os.WriteFile(log, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		empty:                                "not a folder of a run's logs",
		filepath.Join(empty, "nothing"):      "does not exist",
		log:                                  "no event of a run",
		filepath.Dir(log):                    "no event of a run",
		filepath.Join(empty, "template.bnm"): "does not exist",
	} {
		_, _, err := Write(filepath.Join(empty, "page.html"), path)
		if err == nil || !strings.Contains(err.Error(), want) || !problem.IsMisuse(err) {
			t.Errorf("%s: %v, want misuse with %q", path, err, want)
		}
	}
	damaged := folderOf(t, logOf(0, 2, 2, "sync"), nil)
	if err := os.WriteFile(filepath.Join(damaged, evaluationFile),
		[]byte(`{"classes":[{}],"confusions":[{"label":7}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	wants(t, pageOf(t, damaged), "evaluation.json is damaged and is left out")
	whole, err := json.Marshal(evaluationOf(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", "null", "[]", string(whole[:len(whole)/2]), string(whole) + "x",
		strings.Replace(string(whole), `"correct":27`, `"correct":-27`, 1),
		strings.Replace(string(whole), `"correct":27`, `"correct":31`, 1)} {
		if err := os.WriteFile(filepath.Join(damaged, evaluationFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, notes, err := Write(filepath.Join(empty, "page.html"), damaged)
		const want = "evaluation.json is damaged and is left out"
		if err != nil || len(notes) != 1 || !strings.HasSuffix(notes[0], want) {
			t.Errorf("%.40q: notes %q, %v", text, notes, err)
		}
	}
	other := evaluationOf(3)
	other.Recipe = "of another"
	wants(t, pageOf(t, folderOf(t, logOf(0, 2, 2, "sync"), other)), "evaluation.json is of another run")
}

// If a folder has the logs of several runs, its report shows the log that was written last, with the
// evaluation of the same run.
func TestFolderOfSeveralRuns(t *testing.T) {
	folder := folderOf(t, logOf(0, 2, 2, "sync"), evaluationOf(3))
	second := filepath.Join(folder, "metrics-2.jsonl")
	if err := os.WriteFile(second, []byte(logOf(0, 5, 2, "replica")), 0o666); err != nil {
		t.Fatal(err)
	}
	written, _, err := Write("", folder)
	if err != nil || len(written) != 2 || filepath.Base(written[0]) != "report-2.html" {
		t.Fatalf("%v, %v", written, err)
	}
	page, err := os.ReadFile(written[0])
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(page), "logs of 1 run in addition to this one, metrics-2.jsonl", "epoch 5 of 5")
	if strings.Contains(string(page), "Confusion matrix") {
		t.Error("the evaluation is that of the other run")
	}
}

// The report of a folder shows everything that was written at the end of the run: a wrong prediction with its
// picture.
func TestLog(t *testing.T) {
	ctx, src := context.Background(), pictures(t)
	folder := folderOf(t, logOf(0, 2, 2, "sync"), nil)
	l := NewLog(folder, t.Logf)
	if err := l.Write(ctx); err != nil || l.Page() != "" {
		t.Fatalf("before the run: %v, page %q", err, l.Page())
	}
	recipe := recipe.Default("lenet-bn")
	line, err := json.Marshal(train.Started{Recipe: recipe})
	if err != nil {
		t.Fatal(err)
	}
	log := `{"event":"start",` + string(line[1:]) + "\n" + logOf(0, 2, 2, "sync")[strings.Index(logOf(0, 2, 2,
		"sync"), "\n")+1:]
	if err := os.WriteFile(filepath.Join(folder, metricsFile), []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	l.Show(train.Started{Recipe: recipe})
	e := &evaluation.Evaluation{Samples: 2, Counted: 2, Correct: 1,
		PerClass: []evaluation.ClassCount{{N: 2, Correct: 1,
			Predicted: 1}, {Predicted: 1}}, Confusion: evaluation.NewConfusion(2)}
	e.Confusion.Add(0, 0, 1)
	e.Confusion.Add(0, 1, 1)
	said := l.Observe().Observe
	said(0, 0, []float64{math.Log(0.9), math.Log(0.1)}, math.NaN())
	said(1, 0, []float64{math.Log(0.25), math.Log(0.75)}, math.NaN())
	l.Evaluated(train.Evaluated{Epoch: 2, Evaluation: e, Source: src,
		Model: &models.Model{Labels: []string{"cat", "<dog>"}}})
	if err := l.Write(ctx); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(l.Page())
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(page), "data:image/png;base64,", "said <b class=\"bad\">&lt;dog&gt;</b> 75.0 %",
		"is <b>cat</b> 25.0 %", "1 of 2 samples: the surest first.",
		"1 of 2 samples met (50.00 %)")
	if _, err := os.Stat(filepath.Join(folder, "confusion.svg")); err != nil {
		t.Error(err)
	}
}

// pictures is a source of glyphs.
func pictures(t *testing.T) data.Source {
	t.Helper()
	src, err := data.Open(context.Background(), "glyphs:10", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// Labels that do not exclude each other, and predicted numbers, have their own tables and no confusions. A
// label that never occurs has no recall, and a constant number has no R2.
func TestPageOfElements(t *testing.T) {
	labels := &evaluation.Evaluation{MultiLabel: true}
	scores := tensor.New(tensor.F32, 2, 2)
	copy(scores.F32(), []float32{1, -1, -1, -1})
	known := tensor.New(tensor.I32, 2, 2)
	copy(known.I32(), []int32{1, 0, 1, 0})
	if err := labels.Add(scores, known, false); err != nil {
		t.Fatal(err)
	}
	numbers := &evaluation.Evaluation{Targets: make([]evaluation.TargetError, 2)}
	for i, v := range []float32{3, 5, 2, 5} {
		known.I32()[i] = int32(math.Float32bits(v))
	}
	copy(scores.F32(), []float32{2, 5, 2, 5})
	if err := numbers.Add(scores, known, false); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return []string{"<red>", "age"}[i] }
	for _, c := range []struct {
		of    *evaluation.Evaluation
		title string
		wants []string
	}{
		{labels, "Labels", []string{"&lt;red&gt;", "100.00 %", "50.00 %", "66.67 %", "of 2 samples 1 have all labels right"}},
		{numbers, "Numbers", []string{"0.5", "0.7071", "-1", "age"}},
	} {
		e := summarise(c.of, name)
		e.Epoch = 1
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back evaluated
		if err := json.Unmarshal(b, &back); err != nil || !back.valid() {
			t.Fatalf("%v: %s", err, b)
		}
		s := (&Run{evaluation: &back}).classesSection()
		if s == nil || s.Title != c.title || s.Matrix != nil || len(s.Table.Rows) != 2 {
			t.Fatalf("section %+v", s)
		}
		if confusionSVG(&Run{evaluation: &back}) != nil {
			t.Error("a confusion matrix of what does not exclude each other")
		}
		var page strings.Builder
		if err := pageTemplate().ExecuteTemplate(&page, "classes", s); err != nil {
			t.Fatal(err)
		}
		wants(t, page.String(), append(c.wants, ">-<")...)
	}
}
