package main

// captions describe the purpose of each folder in a few words.
var captions = map[string]string{
	"bnctl":      "the front door of the library",
	"bn":         "statistics that merge exactly",
	"bnctltest":  "a model's bits in tests",
	"cmd":        "the command line",
	"data":       "sources, pictures, sample order",
	"device":     "the contract, its wire, its judge",
	"evaluation": "figures of a model on data",
	"fleet":      "from --devices to open devices",
	"formats":    "files of other programs",
	"graph":      "operations, shapes, gradients",
	"inprocess":  "predictions without processes",
	"internal":   "small helpers",
	"modelfile":  "files: open, strip, export, doctor",
	"models":     "the zoo; what a model is",
	"objects":    "annotated boxes, average precision",
	"parallel":   "replicas over devices, losses",
	"parts":      "numbers of what a result depends on",
	"plugins":    "CPU, CUDA, OpenCL, MPI",
	"predict":    "answers of a model",
	"problem":    "errors that say what to do",
	"recipe":     "what determines a result",
	"serialize":  "templates and checkpoints",
	"server":     "HTTP and gRPC",
	"spec":       "golden vectors",
	"tensor":     "shapes and numbers",
	"train":      "the loop, checkpoints",
}

// ground lists the folders that all folders may use. They are drawn below the other folders, without arrows.
var ground = []string{"problem", "internal"}
