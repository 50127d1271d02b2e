package torch

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/problem"
)

// Advice for converting unsupported files. Each ends a message.
const (
	adviceModule = "in Python, with the class's source at hand: " +
		"torch.save(model.state_dict(), 'weights.pth')"
	adviceScript    = "in Python: torch.save(torch.jit.load('FILE').state_dict(), 'weights.pth')"
	adviceQuantised = "save the float model from before torch.quantization.convert, " +
		"or its dequantised tensors (t.dequantize()); or export it with torch.onnx.export: " +
		"ONNX files with integers are read"
	adviceSharded = "in Python: torch.distributed.checkpoint.format_utils." +
		"dcp_to_torch_save('DIR', 'weights.pth')"
	adviceTensors = "save the tensors without it, in Python: " +
		"torch.save({k: v for k, v in d.items() if torch.is_tensor(v)}, 'weights.pth')"
	adviceSubclass = "save the weights from before torchao's quantize_, or t.dequantize()"
	adviceZero     = "run the script zero_to_fp32.py that DeepSpeed left beside the checkpoint"
)

// refuseTensor explains why a tensor made by a known function is not read.
func refuseTensor(name string, args pickle.Tuple) error {
	switch {
	case name == "_rebuild_wrapper_subclass" && len(args) > 0: // torch._utils: class, dtype, size, ...
		class := fmt.Sprint(args[0])
		if strings.HasSuffix(class, "DTensor") {
			return problem.Advise("save t.full_tensor()", "a %s, of which each rank has a part", class)
		}
		return problem.Advise(adviceSubclass, "a tensor of class %s, which only its own code puts together", class)
	case name == "_rebuild_qtensor":
		return problem.Advise(adviceQuantised, "a quantised tensor")
	case strings.Contains(name, "sparse"):
		return problem.Advise("save t.to_dense()", "a sparse tensor")
	case strings.Contains(name, "meta_tensor"):
		return fmt.Errorf("a tensor without data (device meta)")
	}
	return problem.Advise("save t.detach().cpu().clone()",
		"a tensor made by %s with %d arguments is not supported",
		name, len(args))
}

// refuseObject explains why an object is not allowed in place of a tensor.
func refuseObject(v any) error {
	call, ok := v.(*pickle.Call)
	if !ok {
		return fmt.Errorf("%s stands among the tensors", pickle.Describe(v))
	}
	class := className(call)
	if strings.HasPrefix(class, "torch.distributed") {
		return problem.Advise(adviceSharded, "%s: a part of a sharded checkpoint", class)
	}
	return problem.Advise(adviceTensors, "an object of %s stands among the tensors; it is not opened", class)
}

// className returns the class of an object. For functions that make an object of the class
// in their argument, it returns that class.
func className(call *pickle.Call) string {
	g, _ := call.Func.(pickle.Global)
	if (g.Module == "copy_reg" || g.Module == "copyreg") && len(call.Args) > 0 {
		if class, ok := call.Args[0].(pickle.Global); ok {
			return class.String()
		}
	}
	return g.String()
}

// refuseModule explains a file with its tensors inside an object.
func refuseModule(call *pickle.Call) error {
	return problem.Advise(adviceModule,
		"a pickled object (%s) without the _parameters, _buffers and _modules of a "+
			"module; its code would have to run to open it", className(call))
}
