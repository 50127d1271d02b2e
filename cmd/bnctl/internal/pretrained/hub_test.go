package pretrained_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/pretrained"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
	"github.com/bnctl/bnctl/modelfile"
)

// timmConfig is the config.json of timm/resnet18.a1_in1k, in timm's format.
const timmConfig = `{"architecture": "resnet18", "num_classes": 1000, "num_features": 512,
	"pretrained_cfg": {"tag": "a1_in1k", "custom_load": false, "input_size": [3, 224, 224],
	"test_input_size": [3, 288, 288], "fixed_input_size": false, "interpolation": "bicubic", "crop_pct": 0.95,
	"test_crop_pct": 1.0, "crop_mode": "center", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
	"num_classes": 1000, "pool_size": [7, 7], "first_conv": "conv1", "classifier": "fc"}}`

// ownConfig is the config.json that timm writes for a network with other classes than ImageNet's.
const ownConfig = `{"architecture": "mobilenetv2_100", "num_classes": 3, "label_names": ["cat", "dog", "ünï cow"],
	"pretrained_cfg": {"input_size": [3, 160, 128], "interpolation": "bilinear", "crop_pct": 1.0,
	"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "num_classes": 3}}`

// The configs of a classifier of transformers.
const (
	classifier = `{"architectures": ["ResNetForImageClassification"], "id2label": {"0": "tench, Tinca tinca",
		"1": "goldfish", "2": "shark"}, "label2id": {"goldfish": 1}}`
	preprocessor = `{"crop_pct": 0.875, "do_normalize": true, "do_resize": true, "image_mean": [0.48, 0.46, 0.41],
		"image_std": [0.23, 0.22, 0.21], "resample": 3, "size": {"shortest_edge": 224}}`
	vitPreprocessor = `{"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2, "size": 384}`
)

// startHub starts a server that represents the hub, and makes URLs of the hub open its files.
func startHub(t *testing.T, files map[string]string) *storetest.Hub {
	t.Helper()
	all := map[string][]byte{}
	for name, text := range files {
		all[name] = []byte(text)
	}
	hub := storetest.NewHub(t, all)
	env := map[string]string{"HF_ENDPOINT": hub.URL}
	s, err := store.New(t.Context(), store.Options{Cache: filepath.Join(t.TempDir(), "cache"),
		Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	regular.SetRemote(s)
	t.Cleanup(func() { regular.SetRemote(nil) })
	return hub
}

// TestConfigs reads preprocessing and labels from configs on a hub, in the formats of timm and of
// transformers.
func TestConfigs(t *testing.T) {
	startHub(t, map[string]string{"timm/resnet18.a1_in1k/config.json": timmConfig,
		"me/own/config.json": ownConfig, "me/classifier/config.json": classifier,
		"me/classifier/preprocessor_config.json": preprocessor, "me/vit/preprocessor_config.json": vitPreprocessor,
		"me/bare/model.safetensors": "x"})
	type pre = modelfile.Preprocess
	for source, want := range map[string]struct {
		arch   string
		labels int
		first  string
		pre    pre
	}{
		"hf:timm/resnet18.a1_in1k": {"resnet18", 1000, "tench", pre{Mean: []float64{0.485, 0.456, 0.406},
			Std: []float64{0.229, 0.224, 0.225}, Interpolation: "bicubic", Resize: 235}}, // 224/0.95, rounded down
		"hf:me/own/model.safetensors": {"mobilenetv2", 3, "cat", pre{Mean: []float64{0.5, 0.5, 0.5},
			Std: []float64{0.5, 0.5, 0.5}, Interpolation: "bilinear", Resize: 160}},
		"hf:me/classifier": {"", 3, "tench, Tinca tinca", pre{Mean: []float64{0.48, 0.46, 0.41},
			Std: []float64{0.23, 0.22, 0.21}, Interpolation: "bicubic", Resize: 256}}, // 224/0.875
		"hf:me/vit": {"", 0, "", pre{Mean: []float64{0.5, 0.5, 0.5}, Std: []float64{0.5, 0.5, 0.5},
			Interpolation: "bilinear", Resize: 384}},
		"hf:me/bare": {},
	} {
		o := modelfile.Options{}
		if err := pretrained.Complete(&o, source, true); err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if o.Arch != want.arch || len(o.Labels) != want.labels || want.labels > 0 && o.Labels[0] != want.first {
			t.Errorf("%s is %q with %d labels, %.40q; want %+v", source, o.Arch, len(o.Labels), o.Labels, want)
		}
		if !reflect.DeepEqual(o.Preprocess, want.pre) {
			t.Errorf("%s: %+v; want %+v", source, o.Preprocess, want.pre)
		}
		chosen := modelfile.Options{Arch: "vit-b-16", Labels: []string{"a"}, Preprocess: pre{Name: "unit"}}
		own := chosen
		if err := pretrained.Complete(&own, source, true); err != nil || !reflect.DeepEqual(own, chosen) {
			t.Errorf("%s replaces options: %+v, %v", source, own, err)
		}
	}
}

// TestBadConfigs checks that the error about a bad config names its file.
func TestBadConfigs(t *testing.T) {
	hub := startHub(t, map[string]string{"me/broken/config.json": `{"architecture": `,
		"me/wrong/preprocessor_config.json": `{"image_mean": "grey"}`, "me/private/config.json": timmConfig})
	for source, want := range map[string]string{"hf:me/broken": "hf:me/broken/config.json: unexpected end",
		"hf:me/wrong": "hf:me/wrong/preprocessor_config.json: ", "hf:me/private": "401 Unauthorized"} {
		if strings.Contains(want, "401") {
			hub.Before(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusUnauthorized)
				return true
			})
		}
		err := pretrained.Complete(&modelfile.Options{}, source, true)
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v; want %q", source, err, want)
		}
		hub.Before(nil)
	}
}

// TestTorchvision compares the table with torchvision's documentation and the names of its files.
func TestTorchvision(t *testing.T) {
	w, err := pretrained.Find("resnet18")
	if err != nil {
		t.Fatal(err)
	}
	if w.URL != "https://download.pytorch.org/models/resnet18-f37072fd.pth" || w.Sum != "f37072fd" || w.Top1 != 69.758 {
		t.Errorf("%+v", w)
	}
	o := modelfile.Options{}
	if err := pretrained.Complete(&o, "torchvision:resnet50/IMAGENET1K_V2", true); err != nil {
		t.Fatal(err)
	}
	if o.Arch != "resnet50" || o.Preprocess.Resize != 232 || len(o.Labels) != 1000 || o.Labels[1] != "goldfish" {
		t.Errorf("%s, %+v, %d labels", o.Arch, o.Preprocess, len(o.Labels))
	}
	for _, w := range pretrained.All() {
		if !strings.Contains(w.URL, "-"+w.Sum) || len(w.Sum) < 8 {
			t.Errorf("%s: the sum %s is not in the name %s", w.Source, w.Sum, w.URL)
		}
	}
}
