package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// pictureAnswer is a model's answer to a picture file.
type pictureAnswer struct {
	model  *modelVersion
	pixels tensor.Tensor // u8 [1,H,W,C]: the model's input
	answer *protocol.Answer

	height, width int // size of the picture in the request, after its orientation is applied

	release func() // must be called when the response is written
}

// askPicture sends the picture file of a request to a model. check returns an error for a model that does not
// answer this kind of request, and may change the inference request for the model. If askPicture returns no
// error, the caller must call the function done of the answer.
func (s *Server) askPicture(w http.ResponseWriter, r *http.Request,
	check func(*modelVersion, *protocol.Request) error) (q *pictureAnswer, err error) {
	done, err := s.beginInference()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	res := &recordOf(r.Context()).reservation
	m, err := s.findPath(r)
	if err != nil {
		return nil, err
	}
	if err := m.takesPictures(); err != nil {
		return nil, invalid("model %s does not accept pictures: %v", m.name, err)
	}
	if err := check(m, &protocol.Request{}); err != nil {
		return nil, err
	}
	body, err := s.body(w, r, res)
	if err != nil {
		return nil, err
	}
	file, err := picture(r.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, err
	}
	x, err := m.pixels(r.Context(), file, res)
	if err != nil {
		return nil, err
	}
	a, err := s.infer(r.Context(), m.name, m.label(), func(now *modelVersion) (*protocol.Request, error) {
		m = now // the model may have a new version
		r := protocol.Whole(x.Bytes, m.input.Name, m.input.Datatype, x.Shape)
		return r, check(m, r)
	})
	if err != nil {
		return nil, err
	}
	height, width, err := m.pictureSize(r.Context(), file)
	if err != nil {
		return nil, err
	}
	return &pictureAnswer{model: m, pixels: x, answer: a, height: height, width: width, release: done}, nil
}

// picture returns the picture file in the body of a request.
func picture(contentType string, body []byte) ([]byte, error) {
	kind, parameters, _ := mime.ParseMediaType(contentType)
	isJSON := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
	if isJSON && kind != "multipart/form-data" {
		kind = "application/json" // a picture file does not begin with {, and curl -d sends JSON under another type
	}
	switch kind {
	case "application/json":
		var in struct{ Image []byte }
		err := json.Unmarshal(body, &in)
		if err == nil && in.Image == nil {
			err = errors.New("it contains no image")
		}
		if err != nil {
			return nil, invalid(`want JSON {"image": "..."} with a picture file in base64: %v`,
				protocol.JSONProblem(err))
		}
		return in.Image, nil
	case "multipart/form-data":
		form := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
		for {
			formPart, err := form.NextPart()
			if err != nil {
				return nil, invalid("the form contains no file: %v", err)
			}
			if formPart.FileName() == "" {
				continue
			}
			file, err := io.ReadAll(formPart)
			if err != nil {
				return nil, invalid("the form breaks off: %v", err)
			}
			return file, nil
		}
	}
	return body, nil
}

// pictureSize returns the size of a picture as the model reads it, after its orientation is applied.
func (s *modelVersion) pictureSize(ctx context.Context, file []byte) (height, width int, err error) {
	size, err := images.Measure(ctx, file)
	if err != nil {
		return 0, 0, invalid("%v", err)
	}
	if s.model.Preprocess.EXIF && size.Orientation > 4 {
		return size.Width, size.Height, nil
	}
	return size.Height, size.Width, nil
}

// pixels decodes a picture to the input of the model. It first reserves memory for decoding.
func (s *modelVersion) pixels(ctx context.Context, file []byte, res *reservation) (tensor.Tensor, error) {
	t, in := fit.Transform(s.model, data.Info{DType: tensor.U8}), s.model.Input().Shape
	n, err := t.Memory(ctx, file, s.model.Preprocess.EXIF, in[0], in[1])
	if err != nil {
		return tensor.Tensor{}, invalid("%v", err)
	}
	if err := res.grow(n); err != nil {
		return tensor.Tensor{}, err
	}
	x := tensor.New(tensor.U8, append([]int{1}, in...)...)
	row := tensor.Tensor{DType: tensor.U8, Shape: x.Shape[1:], Bytes: x.Bytes}
	if err := t.Decode(ctx, row, file, s.model.Preprocess.EXIF); err != nil {
		return tensor.Tensor{}, invalid("%v", err)
	}
	return x, nil
}
