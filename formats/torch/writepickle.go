package torch

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// pickler writes the opcodes of protocol 2 that a state dict needs.
type pickler struct{ bytes.Buffer }

// stateDictPickle returns the pickle of an OrderedDict of tensors, with its attributes.
// Tensor i uses storage i.
func stateDictPickle(tensors []foreign.Tensor, labels []string) []byte {
	p := &pickler{}
	p.WriteString("\x80\x02")
	p.orderedDict()
	p.WriteByte('(')
	for i, t := range tensors {
		p.text(t.Name)
		p.tensor(t, strconv.Itoa(i))
	}
	p.WriteByte('u')
	p.attributes(labels)
	p.WriteByte('.')
	return p.Bytes()
}

// Attributes of a state dict. load_state_dict looks up the version of every module in the
// metadata; torchvision's MNASNet accepts only its current version. Batch norms have no
// version here, so that they do not need counters.
const (
	labelAttribute    = "labels"
	metadataAttribute = "_metadata"
	moduleVersion     = 2
)

// attributes adds the version of the outermost module and the names of classes to the state
// dict on the stack.
func (p *pickler) attributes(labels []string) {
	p.WriteByte('}') // the state: a dict of attributes
	p.text(metadataAttribute)
	p.orderedDict()
	p.text("")
	p.WriteByte('}')
	p.text("version")
	p.number(moduleVersion)
	p.WriteString("sss")
	if len(labels) > 0 {
		p.text(labelAttribute)
		p.WriteString("](")
		for _, s := range labels {
			p.text(s)
		}
		p.WriteString("es")
	}
	p.WriteByte('b')
}

func (p *pickler) orderedDict() {
	p.global("collections", "OrderedDict")
	p.WriteString(")R")
}

func (p *pickler) global(module, name string) { p.WriteString("c" + module + "\n" + name + "\n") }

func (p *pickler) text(s string) {
	p.WriteByte('X')
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.WriteString(s)
}

// number writes a nonnegative int.
func (p *pickler) number(n int) {
	switch {
	case n < 1<<8:
		p.Write([]byte{'K', byte(n)})
	case n < 1<<31:
		p.WriteByte('J')
		p.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	default:
		p.Write([]byte{0x8a, 8})
		p.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
}

func (p *pickler) tuple(values []int) {
	p.WriteByte('(')
	for _, v := range values {
		p.number(v)
	}
	p.WriteByte('t')
}

// tensor writes the call of the function that rebuilds t: (storage, offset, size, stride,
// requires_grad, hooks), and its type if no class of storages has it.
func (p *pickler) tensor(t foreign.Tensor, key string) {
	row := dtypes[0]
	for _, d := range dtypes {
		if d.dtype == t.DType {
			row = d
		}
	}
	name := "_rebuild_tensor_v2"
	if row.storage == "" {
		name = "_rebuild_tensor_v3"
	}
	p.global("torch._utils", name)
	p.WriteByte('(')
	p.storage(row.storage, key, t)
	p.number(0)
	p.tuple(t.Shape)
	p.tuple(strides(t.Shape))
	p.WriteByte(0x89) // False
	p.orderedDict()
	if row.storage == "" {
		p.global("torch", row.name)
	}
	p.WriteString("tR")
}

// storage writes the persistent id ('storage', class, key, location, numel).
func (p *pickler) storage(class, key string, t foreign.Tensor) {
	p.WriteByte('(')
	p.text("storage")
	if class == "" {
		p.global("torch.storage", "UntypedStorage")
	} else {
		p.global("torch", class)
	}
	p.text(key)
	p.text("cpu")
	if class == "" {
		p.number(t.Size())
	} else {
		p.number(tensor.Count(t.Shape))
	}
	p.WriteString("tQ")
}

// strides returns the strides of a contiguous tensor, in elements.
func strides(shape []int) []int {
	out := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = n
		n *= max(shape[i], 1)
	}
	return out
}
