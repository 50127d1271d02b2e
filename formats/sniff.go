package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl/formats/caffe"
	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/keras"
	"github.com/bnctl/bnctl/formats/onnx"
	"github.com/bnctl/bnctl/formats/safetensors"
	"github.com/bnctl/bnctl/formats/tensorflow"
	"github.com/bnctl/bnctl/formats/torch"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// reader opens a file of one format.
type reader func(path string, o Options) (*File, error)

// headSize is the number of bytes of a file that are examined.
const headSize = 4096

// refused lists formats that are recognised by their first bytes, but not read.
var refused = []struct {
	start  string
	name   string
	advice string // "" if there is no remedy
}{
	{"version https://git-lfs", "a Git LFS pointer, not the file itself", "fetch the file with git lfs pull"},
	{"\x12\x01\x00\x00\x00\x00\x00\x00", "MXNet .params", adviceMXNet},
	{"\x04\x00\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00V 1", "Torch7 .t7", adviceTorch7},
	{"\x03\x00\x00\x00\x01\x00\x00\x00", "Torch7 .t7", adviceTorch7},
	{"4\n1\n3\nV 1\n", "Torch7 .t7 (ASCII)", adviceTorch7},
	{"\x08\x01\x12", "the graph of a TensorFlow SavedModel",
		"name its folder instead: the weights are in variables/"},
	{"GGUF", "GGUF", "use the model's .safetensors: quantised weights are not read"},
	{"\x93NUMPY", "NumPy .npy: it is an array, not a model", ""},
}

const (
	adviceMXNet = "in Python: save mxnet.nd.load(FILE) with safetensors.numpy.save_file, " +
		"its names without arg: and aux:; where a BatchNorm has fix_gamma=True its gamma is 1"
	adviceTorch7 = "in Lua: write each of model:parameters() and running_mean, running_var with npy4th; " +
		"or convert with onnx's torch7 converters"
	adviceMindSpore = "in Python: safetensors.numpy.save_file({k: v.asnumpy() for k, v in " +
		"mindspore.load_checkpoint('FILE').items()}, 'model.safetensors')"
	adviceTFLite = "convert it to ONNX with tf2onnx, which takes .tflite files, quantised or not, or use the " +
		"Keras model that it was made from"
	adviceSharded = "in Python: torch.distributed.checkpoint.format_utils." +
		"dcp_to_torch_save('DIR', 'weights.pth')"
	adviceDeepZero = "name its file mp_rank_00_model_states.pt, or run zero_to_fp32.py, which lies beside it"
)

// formats lists the readers of all formats except safetensors, in the order in which they
// are tried.
var formats = []struct {
	name string
	is   func(head []byte, f *os.File, size int64) bool
	read reader
}{
	{"keras", byHead(keras.Sniff), readKeras},
	{"torch", byHead(torch.Sniff), readTorch},
	{"tensorflow", func(_ []byte, f *os.File, size int64) bool { return tensorflow.Sniff(f, size) },
		readTensorFlow},
	{"onnx", byHead(onnx.Sniff), readONNX},
	{"caffe", byHead(caffe.Sniff), readCaffe},
}

// byHead makes a test for a format that is recognised by the start of a file.
func byHead(is func([]byte) bool) func([]byte, *os.File, int64) bool {
	return func(head []byte, _ *os.File, _ int64) bool { return is(head) }
}

// recognise returns the format of a file, by its content: "torch", "keras", "onnx",
// "safetensors", "tensorflow" or "caffe", and its reader. The error names a known format
// that cannot be read, and how to convert it.
func recognise(path string) (string, reader, error) {
	path = regular.Resolve(path)
	several, err := findShards(path)
	if err != nil {
		return "", nil, err
	}
	if several != nil {
		return several.reader()
	}
	if index, err := tensorflow.Locate(path); err != nil || index != "" {
		return "tensorflow", func(_ string, o Options) (*File, error) { return readTensorFlow(index, o) }, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", nil, refuseFolder(path)
	}
	return recogniseFile(path)
}

// ShardFiles returns the files of the model at a path, in their order, if they differ from
// the one file of that name: the shards of a model, or the index of a TensorFlow
// checkpoint. It returns nil for the path of a complete file, for a folder with one
// checkpoint, and for an unreadable path.
func ShardFiles(path string) []string {
	path = regular.Resolve(path)
	if s, err := findShards(path); s != nil && err == nil {
		return s.paths()
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if index, err := tensorflow.Locate(path); index != "" && err == nil {
		return []string{index}
	}
	return nil
}

// recogniseFile does the same as recognise for a single file; it does not look at others.
func recogniseFile(path string) (string, reader, error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	head := make([]byte, min(info.Size(), headSize))
	if err := foreign.ReadAt(f, head, 0); err != nil {
		return "", nil, err
	}
	if err := refuseRank(path); err != nil {
		return "", nil, err
	}
	// safetensors begins with the length of its header. These bytes may look like the start
	// of another format: 640 looks like a pickle. Only safetensors has a plausible length
	// followed by a brace.
	if safetensors.Sniff(head, info.Size()) {
		return "safetensors", readSafetensors, nil
	}
	for _, r := range refused {
		if bytes.HasPrefix(head, []byte(r.start)) {
			return "", nil, problem.Advise(r.advice, "%s: %s", path, r.name)
		}
	}
	if len(head) >= 8 && string(head[4:8]) == "TFL3" {
		return "", nil, problem.Advise(adviceTFLite, "%s: TensorFlow Lite", path)
	}
	for _, c := range formats {
		if c.is(head, f, info.Size()) {
			return c.name, c.read, nil
		}
	}
	if mindSpore(head) {
		return "", nil, problem.Advise(adviceMindSpore, "%s: a MindSpore checkpoint", path)
	}
	return "", nil, fmt.Errorf("%s: not a format that bnctl knows (it starts with %q); it reads PyTorch, "+
		"safetensors, Keras, ONNX, TensorFlow checkpoints and Caffe models", path, head[:min(len(head), 16)])
}

// mindSpore reports whether a file starts like a checkpoint of MindSpore: protocol buffers
// with a message as first field, which starts with the name of a parameter and its tensor.
func mindSpore(head []byte) bool {
	const text, message, longest = 1<<3 | 2, 2<<3 | 2, 127
	if len(head) == 0 || head[0] != text {
		return false
	}
	_, n := binary.Uvarint(head[1:])
	if n <= 0 || len(head) < n+3 || head[n+1] != text {
		return false
	}
	name := head[n+3:]
	size := int(head[n+2])
	return size > 0 && size <= longest && len(name) > size && name[size] == message &&
		bytes.IndexFunc(name[:size], func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// refuseFolder rejects a folder without a readable checkpoint, and names its contents.
func refuseFolder(path string) error {
	switch {
	case holds(path, ".metadata") && holds(path, "*.distcp"):
		return problem.Advise(adviceSharded, "%s: a sharded PyTorch checkpoint", path)
	case holds(path, "mp_rank_*_model_states.pt"), holds(path, "zero_to_fp32.py"):
		return problem.Advise(adviceDeepZero, "%s: a DeepSpeed checkpoint", path)
	case holds(path, "saved_model.pb"):
		return problem.Advise("save the model that it was frozen from",
			"%s: a SavedModel without variables/variables.index: its weights are constants of its graph, "+
				"which is not read", path)
	}
	return fmt.Errorf("%s: a folder that holds no checkpoint that bnctl knows", path)
}

func holds(folder, pattern string) bool {
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	return err == nil && len(found) > 0
}

func readTorch(path string, o Options) (*File, error) {
	return torch.Read(path, torch.Options{Key: o.Key, EMA: o.EMA})
}

func readKeras(path string, o Options) (*File, error) {
	return keras.Read(path, keras.Options{Description: o.Description, TensorsOnly: o.TensorsOnly,
		Input: o.Input})
}

func readONNX(path string, o Options) (*File, error) {
	return onnx.Read(path, onnx.Options{TensorsOnly: o.TensorsOnly, Input: o.Input, Inputs: o.Inputs,
		Training: o.Training, FloatQDQ: o.FloatQDQ, Memory: o.Memory})
}

func readCaffe(path string, o Options) (*File, error) {
	return caffe.Read(path, caffe.Options{TensorsOnly: o.TensorsOnly, Description: o.Description,
		Input: o.Input})
}

func readSafetensors(path string, _ Options) (*File, error) { return safetensors.Read(path) }

func readTensorFlow(path string, o Options) (*File, error) {
	return tensorflow.Read(path, tensorflow.Options{EMA: o.EMA})
}
