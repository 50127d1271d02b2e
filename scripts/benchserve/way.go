package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// way is a method of sending requests.
type way struct {
	name string
	asker
}

// ways returns the methods of requesting the prediction of one row, and the outputs of this row. All methods
// must return these outputs.
func (b *bench) ways(s *server, n network, d dial) (list []way, want []byte, err error) {
	list = []way{{"HTTP", newHTTP(s, d, n.pixels(), "Inference-Header-Content-Length: 0\r\n")},
		{"gRPC", newGRPC(s, d, n)}, {"JSON", newHTTP(s, d, n.json(), "")}}
	want, err = list[0].ask()
	for _, w := range list[1:] {
		got, other := w.ask()
		if err = errors.Join(err, other); err == nil && w.name != "JSON" && !bytes.Equal(got, want) {
			err = errors.New("other bits by " + w.name)
		}
	}
	return list, want, err
}

func closeAll(ways []way) {
	for _, w := range ways {
		w.close()
	}
}

// json returns the request in JSON.
func (n network) json() []byte {
	data := strings.Join(strings.Fields(fmt.Sprint(n.pixels())), ",")
	shape := strings.ReplaceAll(fmt.Sprint(n.shape), " ", ",")
	return fmt.Appendf(nil, `{"inputs":[{"name":"x","datatype":"UINT8","shape":[1,%s,"data":%s}]}`,
		shape[1:], data)
}
