package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// grpcurl is a gRPC client that is independent of this module.
const grpcurl = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3"

// TestPeerGrpcurl checks that grpcurl finds the service, by reflection or in the .proto file, and that its
// answers have the same bits as package predict.
func TestPeerGrpcurl(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("BNCTL_PEERS is not set; make test-peers builds grpcurl and sets it")
	}
	bin := t.TempDir()
	install := exec.Command("go", "install", grpcurl)
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := newModel(t, 1)
	s, p := start(t, on("ref", write(t, m, "m.bnm"))), predictor(t, m, "ref")
	run := func(in string, args ...string) string {
		cmd := exec.Command(filepath.Join(bin, "grpcurl"), append([]string{"-plaintext"}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("grpcurl %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	const service = "inference.GRPCInferenceService"
	if got := run("", s.GRPC(), "list"); !strings.Contains(got, service) ||
		!strings.Contains(got, "grpc.health.v1.Health") {
		t.Errorf("list: %s", got)
	}
	if got := run("", s.GRPC(), "grpc.health.v1.Health/Check"); !strings.Contains(got, "SERVING") {
		t.Errorf("health: %s", got)
	}
	x := rampOf(2)
	request := fmt.Sprintf(`{"model_name": "m", "inputs": [{"name": "x", "datatype": "UINT8",
		"shape": [2, 28, 28, 1]}], "raw_input_contents": [%q]}`, base64.StdEncoding.EncodeToString(x.Bytes))
	for _, from := range [][]string{nil, {"-import-path", "./proto", "-proto", "inference.proto"}} {
		var a struct{ RawOutputContents [][]byte }
		out := run(request, append(from, "-d", "@", s.GRPC(), service+"/ModelInfer")...)
		if err := json.Unmarshal([]byte(out), &a); err != nil || len(a.RawOutputContents) != 1 ||
			!bytes.Equal(a.RawOutputContents[0], predicted(t, p, x)) {
			t.Errorf("%v: %s, %v", from, out, err)
		}
	}
}
