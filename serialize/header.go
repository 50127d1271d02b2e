package serialize

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/bnctl/bnctl/models"
)

// header is the header of a file. The order of the fields must not change, so that the same model
// always has the same bytes. New fields go at the end.
type header struct {
	Architecture string            `msgpack:"architecture"`
	Graph        string            `msgpack:"graph"` // text form
	Preprocess   models.Preprocess `msgpack:"preprocess"`
	Labels       list[string]      `msgpack:"labels"`
	Recipe       string            `msgpack:"recipe"` // JSON; "" if unknown
	Tensors      list[entry]       `msgpack:"tensors"`
	Training     *training         `msgpack:"training,omitempty"` // only in checkpoints
	Best         *models.BestEpoch `msgpack:"best,omitempty"`     // only with the weights of the best epoch
	Int8         *models.Quantised `msgpack:"int8,omitempty"`     // only in int8 templates
	Types        list[outputType]  `msgpack:"types,omitempty"`    // types of outputs in another program's file
	FileTensors  list[fileTensor]  `msgpack:"file_tensors,omitempty"`
	Chain        string            `msgpack:"chain,omitempty"`  // digest of the training's chain; in templates
	Inputs       list[inputField]  `msgpack:"inputs,omitempty"` // inputs of a template with several inputs
	Thresholds   list[float64]     `msgpack:"thresholds,omitempty"`
	Float        string            `msgpack:"float,omitempty"` // JSON of models.Model.Float
}

// training is the part of a header that only checkpoints have.
type training struct {
	Progress    string           `msgpack:"progress"` // JSON
	State       list[declared]   `msgpack:"state"`    // only needed for training
	Sets        list[setHeader]  `msgpack:"sets"`
	Attachments list[attachment] `msgpack:"attachments"`
}

// declared is a tensor of the optimizer or an average; its type is in the tensor table.
type declared struct {
	Name string `msgpack:"name"`
	Role string `msgpack:"role"`
}

type setHeader struct {
	Name    string      `msgpack:"name"`
	Updates list[int64] `msgpack:"updates"`
}

type attachment struct {
	Name string `msgpack:"name"`
	Data []byte `msgpack:"data"`
}

// list is a slice with a length that is checked before it is allocated.
type list[T any] []T

// DecodeMsgpack reads a list.
func (l *list[T]) DecodeMsgpack(d *msgpack.Decoder) error {
	n, err := d.DecodeArrayLen()
	if err != nil {
		return err
	}
	if n > maxList {
		return fmt.Errorf("a list of %d elements; at most %d are allowed", n, maxList)
	}
	*l = nil
	for range max(n, 0) {
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		*l = append(*l, v)
	}
	return nil
}

// listOf returns l, or nil if it is empty. Both are the same model, so that their files must
// have the same bytes.
func listOf[T any](l []T) list[T] {
	if len(l) == 0 {
		return nil
	}
	return l
}

// encode returns the bytes of h: the same for the same values.
func (h *header) encode() ([]byte, error) {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	e.UseCompactInts(true)
	if err := e.Encode(h); err != nil {
		return nil, err
	}
	if b.Len() > maxHeader {
		return nil, fmt.Errorf("header of %d bytes; at most %d are allowed", b.Len(), maxHeader)
	}
	return b.Bytes(), nil
}

// decodeHeader decodes a header that has passed its checksum. It may still be hostile.
func decodeHeader(b []byte) (*header, error) {
	if err := scan(b); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	var h header
	if err := msgpack.NewDecoder(bytes.NewReader(b)).Decode(&h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return &h, nil
}

// toJSON returns a JSON text of a header; nil for "".
func toJSON(s, field string) (json.RawMessage, error) {
	if s == "" {
		return nil, nil
	}
	if !json.Valid([]byte(s)) {
		return nil, fmt.Errorf("header: %s is not JSON", field)
	}
	return json.RawMessage(s), nil
}
