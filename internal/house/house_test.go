package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// layers lists which package may import which inside this module. It is a statement of
// policy: change the code to fit it, not the other way round.
//
// Each line is "package: imports it may have"; a package may have several lines. A package that is not
// listed must not exist. Every listed package exists, and every listed import is used: an import that is no
// longer used leaves the table.
const layers = `
internal/regular: problem
internal/storetest:
internal/store: internal/regular problem
internal/awake:
internal/interrupt:
internal/memory:
internal/legible:
internal/ulimit:
internal/waiting: internal/legible
internal/house:
internal/shareddata:
tensor: internal/regular
graph: tensor
device/collective: tensor
graph/dot: graph problem
device: device/collective graph tensor problem

device/fabric: internal/awake device/collective tensor
internal/fabrictest: device/collective device/fabric
internal/inprocess: device/collective device/fabric device/fabric/mailbox
device/fabric/mailbox:
device/fabric/launcher:

device/lifecycle: device device/collective graph problem tensor
device/ref: device/collective device device/class device/detection device/lifecycle graph internal/memory
device/ref: tensor
device/class: device/collective device graph tensor
device/suppress:
device/detection: device/suppress graph tensor
device/devicetest: device/collective device device/class device/ref graph tensor
device/conformance: device device/devicetest device/remote graph problem spec
spec: device graph problem tensor
device/starter: problem
device/starter/mine: device device/lifecycle device/ref device/serve graph
device/internal/devicepb:
device/internal/fabricpb:
device/internal/shm: device/collective tensor
device/internal/wire: device/collective device device/internal/devicepb graph tensor problem
device/serve: device/collective device device/internal/devicepb device/internal/shm device/internal/wire
device/serve: device/internal/fabricpb graph tensor problem
device/remote: device/collective device device/internal/devicepb device/internal/shm device/internal/wire
device/remote: internal/awake device/internal/fabricpb device/fabric device/fabric/launcher
device/remote: device/fabric/mailbox graph tensor problem internal/memory internal/regular

bn: device/collective graph problem tensor
models: graph problem tensor
models/qat: device device/class graph models problem tensor
models/fit: data data/images graph models problem tensor
data: data/augmentation data/images data/internal/names data/internal/stream data/tables problem
data: internal/regular tensor
data/tables: data/images data/internal/names data/internal/stream internal/regular problem
data/augmentation: data/images tensor
data/images: data/internal/jpeg data/internal/stream problem tensor
data/internal/jpeg:
data/internal/names:
data/internal/picturetest:
data/internal/stream:
objects: data data/images data/tables internal/regular problem tensor
objects/average: objects problem
objects/cells: device/detection device/suppress graph problem tensor
objects/anchors: device/detection graph objects/cells problem tensor
objects/detect: device/detection graph objects/anchors
objects/detect: data models models/fit objects objects/cells device/suppress predict/answer problem tensor
objects/samples: data data/images objects problem tensor
serialize: bn graph models models/qat problem internal/regular serialize/chain tensor
serialize/chain: problem
parts:
parallel: internal/awake device/collective device device/fabric graph tensor problem
parallel: parallel/internal/placement parallel/internal/ranks parallel/internal/record parallel/pipeline
parallel: parallel/stage parallel/step parallel/weightsync
parallel/internal/ranks: device/fabric parallel/step tensor
parallel/internal/record: device/collective
parallel/losses: graph parallel/step tensor
parallel/weightsync: device device/collective graph parallel/step tensor
parallel/spmd: bn graph parallel/losses parallel/step problem tensor
parallel/internal/placement: device
parallel/stage: device device/class graph problem tensor
parallel/step: device graph problem tensor
parallel/pipeline: device device/collective device/fabric graph internal/memory parallel/stage parallel/step
parallel/pipeline: problem tensor
evaluation: data graph models parallel/losses problem tensor objects objects/anchors objects/average
evaluation: objects/cells
evaluation/estimation: bn data graph models parallel parallel/losses parallel/spmd problem tensor
train/internal/tfevents:
recipe: bn data data/augmentation device device/class evaluation graph models parallel parallel/losses parts
recipe: parallel/weightsync problem tensor
recipe/progress: evaluation models parallel/weightsync recipe serialize
internal/style:
internal/chart: internal/style
train: internal/awake bn data data/augmentation device device/fabric graph models parallel problem serialize
train: serialize/chain tensor objects/anchors objects/cells internal/regular
train: parallel/losses parallel/spmd parallel/weightsync train/internal/tfevents
train: evaluation evaluation/estimation models/fit recipe recipe/progress
cmd/bnctl/internal/study: internal/chart internal/style problem

problem:
device/machine: problem
fleet: device device/class device/machine device/ref device/remote device/fabric
fleet: device/fabric/launcher parallel spec
cmd/bnctl/internal/machines: device/machine device/serve fleet internal/memory problem
fleet: plugins/cpu problem
modelfile: bn data data/images formats graph models models/fit problem internal/regular serialize tensor
cmd/bnctl/internal/bench: device device/class device/devicetest device/remote fleet graph internal/memory
cmd/bnctl/internal/bench: parallel/spmd recipe
cmd/bnctl/internal/bench: models parallel parallel/losses parallel/stage plugins/cpu problem tensor train
modelfile/draft: formats problem tensor
modelfile/strip: modelfile/doctor formats modelfile models problem internal/regular recipe
modelfile/quantize: bn data device device/class fleet graph modelfile formats models models/fit predict
modelfile/quantize: objects objects/samples parts problem internal/regular serialize tensor recipe
modelfile/export: modelfile/doctor fleet formats modelfile models objects/cells predict problem
modelfile/export: internal/regular
modelfile/inspect: bn modelfile/doctor formats graph modelfile models problem serialize tensor
modelfile/inspect: models/qat recipe/progress
modelfile/doctor: bn data fleet formats graph modelfile models parallel/spmd predict problem serialize
modelfile/doctor: internal/regular models/fit tensor evaluation/estimation recipe/progress
predict: data device device/fabric fleet graph internal/memory internal/regular models models/fit
predict: parallel parallel/spmd parallel/stage problem tensor
predict: internal/style predict/answer evaluation recipe internal/chart objects objects/average
predict: objects/cells objects/detect
bnctltest: inprocess tensor
predict/answer: device graph models problem tensor
inprocess: data device graph internal/memory modelfile models models/fit parallel/spmd plugins/cpu/local
inprocess: predict/answer problem tensor
cmd/bnctl/internal/live: internal/waiting train evaluation
cmd/bnctl/internal/view: internal/legible internal/waiting problem train evaluation
cmd/bnctl/internal/report: bn data internal/chart internal/legible internal/style internal/regular
cmd/bnctl/internal/report: formats objects/average
cmd/bnctl/internal/report: predict problem serialize tensor train evaluation recipe recipe/progress
cmd/bnctl/internal/format: data internal/legible internal/style predict problem internal/regular tensor
server/internal/protocol: tensor
server/internal/batching: tensor
server/internal/repository: problem
server/internal/inferencepb:
server/internal/tracing: problem
server: bn data data/images internal/chart internal/style
server: modelfile/doctor modelfile models models/fit predict problem internal/regular
server: objects/detect
server: internal/legible server/internal/batching
server: server/internal/inferencepb server/internal/tracing server/internal/protocol
server: server/internal/repository tensor recipe
cmd/bnctl/internal/zoo: cmd/bnctl/internal/recipefile models problem
cmd/bnctl/internal/demo: bn data modelfile problem serialize tensor evaluation
cmd/bnctl/internal/study/experiment: cmd/bnctl/internal/bench bn data fleet models models/fit parallel
cmd/bnctl/internal/study/experiment: problem internal/regular serialize cmd/bnctl/internal/study tensor
cmd/bnctl/internal/study/experiment: parallel/spmd parallel/weightsync train evaluation/estimation recipe

formats/torch: formats/torch/internal/pickle formats/internal/foreign problem
formats/torch: tensor
formats/torch/internal/pickle:
formats/keras: formats/keras/internal/hdf5 formats/internal/foreign graph
formats/keras: models problem tensor
formats/keras/internal/hdf5: problem
formats/onnx: formats/onnx/internal/batchaxis formats/onnx/internal/decode
formats/onnx: formats/onnx/internal/element formats/onnx/internal/encode
formats/onnx: formats/onnx/internal/fold formats/onnx/internal/node
formats/onnx: formats/onnx/internal/qdq
formats/onnx/internal/qdq: formats/onnx/internal/decode formats/onnx/internal/element
formats/onnx/internal/qdq: formats/onnx/internal/onnxpb tensor
formats/onnx: formats/onnx/internal/onnxpb
formats/onnx: formats/internal/foreign device/class graph internal/memory models objects/cells problem
formats/onnx: tensor
formats/onnx/internal/batchaxis: formats/onnx/internal/element
formats/onnx/internal/batchaxis: formats/onnx/internal/node tensor
formats/onnx/internal/fold: formats/onnx/internal/decode
formats/onnx/internal/fold: formats/onnx/internal/element
formats/onnx/internal/fold: formats/onnx/internal/node
formats/onnx/internal/fold: formats/onnx/internal/onnxpb graph device/suppress tensor
formats/onnx/internal/node: formats/onnx/internal/element
formats/onnx/internal/node: formats/onnx/internal/onnxpb
formats/onnx/internal/node: formats/internal/foreign graph problem tensor
formats/onnx/internal/decode: formats/onnx/internal/element
formats/onnx/internal/decode: formats/onnx/internal/onnxpb
formats/onnx/internal/decode: formats/internal/foreign formats/internal/message
formats/onnx/internal/decode: internal/regular problem tensor
formats/onnx/internal/element: tensor
formats/onnx/internal/encode: formats/onnx/internal/onnxpb
formats/onnx/internal/encode: formats/internal/foreign graph models objects/anchors objects/cells tensor
formats/onnx/internal/onnxpb: tensor
formats/safetensors: formats/internal/foreign problem tensor
formats/tensorflow: formats/internal/foreign formats/internal/message problem
formats/tensorflow: internal/regular tensor
formats/caffe: formats/internal/foreign formats/internal/message graph models
formats/caffe: problem tensor
formats/internal/foreign: models problem internal/regular tensor
formats/internal/message:
formats/internal/timm:
formats: formats/caffe formats/keras formats/onnx
formats: formats/safetensors formats/tensorflow formats/torch
formats: formats/internal/timm
formats: formats/internal/foreign bn graph models objects/cells problem internal/regular serialize
formats: tensor

plugins/cpu/internal/amxemulation:
plugins/cpu/internal/kernel: device/class plugins/cpu/internal/amxemulation
plugins/cpu/internal/machine: internal/memory internal/regular
plugins/cpu/internal/schedule: plugins/cpu/internal/machine
plugins/cpu/internal/workers: plugins/cpu/internal/kernel
plugins/cpu/internal/fusion: device/class graph tensor
plugins/cpu/internal/layout: graph plugins/cpu/internal/schedule tensor
plugins/cpu/internal/arena: device graph plugins/cpu/internal/layout tensor
plugins/cpu/internal/run: device/collective device device/lifecycle graph
plugins/cpu/internal/run: plugins/cpu/internal/arena plugins/cpu/internal/layout
plugins/cpu/internal/run: plugins/cpu/internal/kernel plugins/cpu/internal/schedule
plugins/cpu/internal/run: plugins/cpu/internal/workers tensor
plugins/cpu/internal/convolution: device/collective device/class graph plugins/cpu/internal/kernel
plugins/cpu/internal/convolution: plugins/cpu/internal/plan plugins/cpu/internal/run
plugins/cpu/internal/convolution: plugins/cpu/internal/arena plugins/cpu/internal/layout
plugins/cpu/internal/convolution: plugins/cpu/internal/schedule
plugins/cpu/internal/operations: device/collective device device/class device/detection graph
plugins/cpu/internal/operations: plugins/cpu/internal/convolution plugins/cpu/internal/fusion
plugins/cpu/internal/operations: plugins/cpu/internal/kernel plugins/cpu/internal/plan
plugins/cpu/internal/operations: plugins/cpu/internal/layout plugins/cpu/internal/run
plugins/cpu/internal/operations: plugins/cpu/internal/schedule tensor
plugins/cpu/internal/plan: device/collective device device/class graph plugins/cpu/internal/fusion
plugins/cpu/internal/plan: plugins/cpu/internal/arena plugins/cpu/internal/kernel
plugins/cpu/internal/plan: plugins/cpu/internal/machine plugins/cpu/internal/run
plugins/cpu/internal/plan: plugins/cpu/internal/schedule tensor
plugins/cpu/internal/cpu: device device/class device/lifecycle graph internal/memory
plugins/cpu/internal/cpu: plugins/cpu/internal/arena plugins/cpu/internal/convolution
plugins/cpu/internal/cpu: plugins/cpu/internal/kernel plugins/cpu/internal/machine
plugins/cpu/internal/cpu: plugins/cpu/internal/operations plugins/cpu/internal/plan plugins/cpu/internal/run
plugins/cpu/internal/cpu: plugins/cpu/internal/schedule plugins/cpu/internal/workers tensor
plugins/cpu: device device/serve graph plugins/cpu/internal/cpu
plugins/cpu/local: device graph plugins/cpu/internal/cpu
plugins/cpu/bnctl-device-cpu: plugins/cpu
plugins/internal/library:
plugins/gpu: device/collective device device/class device/lifecycle graph tensor problem
plugins/internal/bitwise: bn device graph models parallel parallel/spmd plugins/cpu tensor
plugins/opencl/internal/cl: plugins/internal/library internal/regular
plugins/opencl/internal/opencl: device plugins/gpu plugins/opencl/internal/cl problem
plugins/opencl: device/serve plugins/opencl/internal/opencl
plugins/opencl/bnctl-device-opencl: plugins/opencl
plugins/mpi/internal/mpi: plugins/internal/library problem
plugins/mpi/internal/rank: device device/serve device/fabric/launcher plugins/mpi/internal/mpi problem
plugins/mpi: device/serve plugins/mpi/internal/rank
plugins/mpi/bnctl-fabric-mpi: plugins/mpi
plugins/cuda/internal/cu: plugins/internal/library problem
plugins/cuda/internal/ptx:
plugins/cuda/internal/cuda: device plugins/cuda/internal/cu plugins/gpu problem
plugins/cuda: device/serve plugins/cuda/internal/cuda
plugins/cuda/bnctl-device-cuda: plugins/cuda

.: objects/samples
.: data device/fabric fleet inprocess internal/regular modelfile modelfile/quantize models models/fit parallel
.: parallel/stage problem serialize serialize/chain train evaluation recipe recipe/progress

cmd/bnctl/internal/golden: device device/class device/conformance device/remote fleet problem spec
cmd/bnctl/internal/pretrained: internal/regular internal/store modelfile models problem
cmd/bnctl/internal/stores: cmd/bnctl/internal/commandline cmd/bnctl/internal/pretrained internal/legible
cmd/bnctl/internal/stores: internal/regular internal/store problem modelfile models
cmd/bnctl: cmd/bnctl/internal/collection cmd/bnctl/internal/stores
cmd/bnctl/internal/collection:
cmd/bnctl/internal/drafting: internal/regular modelfile modelfile/draft
cmd/bnctl/internal/nearest:
cmd/bnctl/internal/manual: models problem
cmd/bnctl/internal/help:
cmd/bnctl/internal/commandline: cmd/bnctl/internal/nearest problem
cmd/bnctl/internal/recipefile: cmd/bnctl/internal/nearest internal/regular models problem serialize
cmd/bnctl/internal/recipefile: recipe cmd/bnctl/internal/stores
cmd/bnctl: . cmd/bnctl/internal/nearest cmd/bnctl/internal/bench bn data device device/conformance
cmd/bnctl: device/devicetest device/remote device/starter device/fabric device/fabric/launcher
cmd/bnctl: formats internal/interrupt internal/legible models models/fit cmd/bnctl/internal/demo
cmd/bnctl: modelfile/doctor modelfile/export fleet graph/dot modelfile/inspect modelfile predict
cmd/bnctl: cmd/bnctl/internal/format problem server modelfile/strip internal/regular
cmd/bnctl: cmd/bnctl/internal/machines cmd/bnctl/internal/study cmd/bnctl/internal/study/experiment train
cmd/bnctl: cmd/bnctl/internal/live cmd/bnctl/internal/view cmd/bnctl/internal/recipefile internal/waiting
cmd/bnctl: cmd/bnctl/internal/report cmd/bnctl/internal/manual cmd/bnctl/internal/commandline
cmd/bnctl: cmd/bnctl/internal/zoo cmd/bnctl/internal/golden
cmd/bnctl: cmd/bnctl/internal/build cmd/bnctl/internal/reproduce
cmd/bnctl: cmd/bnctl/internal/attest cmd/bnctl/internal/version
cmd/bnctl: cmd/bnctl/internal/boxes
cmd/bnctl: cmd/bnctl/internal/tuned
cmd/bnctl/internal/tuned: cmd/bnctl/internal/commandline data formats internal/regular models predict
cmd/bnctl/internal/boxes: internal/regular objects objects/average problem
cmd/bnctl/internal/boxes: cmd/bnctl/internal/commandline
cmd/bnctl: cmd/bnctl/internal/detect
cmd/bnctl/internal/detect: cmd/bnctl/internal/boxes cmd/bnctl/internal/format data internal/legible
cmd/bnctl/internal/detect: internal/regular models objects objects/average objects/cells objects/detect
cmd/bnctl/internal/detect: modelfile objects/samples predict problem recipe tensor
cmd/bnctl/internal/attest: cmd/bnctl/internal/build cmd/bnctl/internal/commandline internal/regular models
cmd/bnctl/internal/attest: problem serialize serialize/chain train recipe
cmd/bnctl/internal/version: cmd/bnctl/internal/build device/class fleet parts
cmd/bnctl/internal/build: recipe
cmd/bnctl/internal/reproduce: . cmd/bnctl/internal/attest cmd/bnctl/internal/commandline data fleet models
cmd/bnctl/internal/reproduce: internal/regular modelfile problem serialize
cmd/bnctl/internal/reproduce: serialize/chain train recipe recipe/progress
cmd/bnctl: cmd/bnctl/internal/drafting cmd/bnctl/internal/help parallel/stage
cmd/bnctl: modelfile/quantize internal/ulimit evaluation recipe

docs/examples/pictures:
docs/examples/browser: inprocess device/suppress predict/answer tensor
docs/examples/service: inprocess
docs/examples/wasi: inprocess
scripts/internal/report:
scripts/architecture:
scripts/benchpeers: scripts/internal/report
scripts/browserpage:
scripts/benchserve: models serialize
scripts/kerneltable: bn device graph models parallel/spmd plugins/gpu tensor
scripts/results: scripts/internal/report
scripts/slowlink:
scripts/network: bn graph models parallel/spmd
scripts/op: graph
scripts/polynomials:
scripts/plainsum: serialize recipe
scripts/stores: internal/storetest
scripts/sickdevice: device/class device/collective device device/ref device/serve graph tensor
scripts/vectors: device device/class device/ref graph spec tensor
scripts/testtimes:
scripts/vulndb:
scripts/turns:
scripts/mutate:
`

// outside lists the folders that may import modules of others, by prefixes of the paths of the modules. gRPC
// is limited to the plugin protocol and the server, the library of flags to the command, and calls without
// cgo to the plugins.
var outside = map[string][]string{
	"google.golang.org/grpc":       {"device/", "server/", "scripts/benchserve/"},
	"github.com/urfave/cli":        {"cmd/"},
	"github.com/ebitengine/purego": {"plugins/"},
	"github.com/prometheus":        {"server/"},
	"go.opentelemetry.io":          {"server/"},
	"github.com/vmihailenco":       {"serialize/"},
	"github.com/hashicorp":         {"device/"},

	"github.com/minio":               {"internal/store/"},
	"oras.land":                      {"internal/store/"},
	"github.com/opencontainers":      {"internal/store/"},
	"github.com/johannesboyne":       {"internal/storetest/"},
	"github.com/google/go-container": {"internal/storetest/"},

	"github.com/in-toto":            {"cmd/bnctl/internal/attest/"}, // only in tests
	"github.com/secure-systems-lab": {"cmd/bnctl/internal/attest/"},
}

// thirdParty returns the folders that may import a package of another module; nil if
// all may.
func thirdParty(imp string) []string {
	for prefix, folders := range outside {
		if strings.HasPrefix(imp, prefix) {
			return folders
		}
	}
	return nil
}

func TestLayers(t *testing.T) {
	const module = "github.com/bnctl/bnctl"
	allowed := map[string][]string{}
	for line := range strings.Lines(layers) {
		if pkg, deps, ok := strings.Cut(line, ":"); ok {
			pkg = strings.TrimSpace(pkg)
			allowed[pkg] = append(allowed[pkg], strings.Fields(deps)...)
		}
	}
	used := map[string]map[string]bool{} // used imports of each package
	// The files are read here, not through go list, so that go test knows
	// what this test depends on and does not reuse a cached result.
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." {
			base := path.Base(name)
			_, nested := os.Stat(name + "/go.mod")
			if nested == nil || base == "testdata" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
				return fs.SkipDir // folders with other modules, or with data
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg := path.Dir(name)
		may, ok := allowed[pkg]
		if !ok {
			t.Errorf("%s: package %s is not in the layers table", name, pkg)
		}
		if used[pkg] == nil {
			used[pkg] = map[string]bool{}
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			dep, ours := strings.CutPrefix(imp, module+"/")
			if imp == module {
				dep, ours = ".", true // the package is the root package
			}
			if ours && !slices.Contains(may, dep) {
				t.Errorf("%s: package %s may not import %s", name, pkg, dep)
			}
			if folders := thirdParty(imp); folders != nil && !under(pkg+"/", folders...) {
				t.Errorf("%s: package %s may not import %s: packages below %s may", name, pkg, imp,
					strings.Join(folders, ", "))
			}
			used[pkg][dep] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, may := range allowed {
		if used[pkg] == nil {
			t.Errorf("the layers table has package %s, which is gone: take its line out", pkg)
			continue
		}
		for _, dep := range may {
			if !used[pkg][dep] {
				t.Errorf("package %s may import %s and does not: take it out of the layers table", pkg, dep)
			}
		}
	}
}

// widest is the maximum number of characters of a line. A tab is one character.
const widest = 110

// text matches a line of a test that cannot be broken: a golden, or the output of an
// example.
var text = regexp.MustCompile("[\"`].{60}|^\\s*//")

func TestLinesAreNotTooLong(t *testing.T) {
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil || generated.Match(b) {
			return err
		}
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			long := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) > widest
			if long && !(strings.HasSuffix(name, "_test.go") && text.MatchString(line)) {
				t.Errorf("%s:%d: the line is longer than %d characters", name, n, widest)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
