package server

import (
	"crypto/tls"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// TestOtherNamesOverGRPC checks that the server refuses gRPC calls that are addressed to another host name.
func TestOtherNamesOverGRPC(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Security.Hosts = []string{"models.example"}
	s := start(t, o)
	_, port, _ := net.SplitHostPort(s.GRPC())
	for name, want := range map[string]codes.Code{"": codes.OK, "localhost:" + port: codes.OK,
		"models.example": codes.OK, "evil.example:" + port: codes.PermissionDenied, "192.0.2.1": codes.PermissionDenied} {
		c, err := grpc.NewClient(s.GRPC(), grpc.WithAuthority(name),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = pb.NewGRPCInferenceServiceClient(c).ServerLive(t.Context(), &pb.ServerLiveRequest{})
		if status.Code(err) != want {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// TestReflection checks that gRPC reflection is disabled on addresses that other machines can reach, unless
// an option enables it.
func TestReflection(t *testing.T) {
	for _, reflects := range []bool{false, true} {
		o := on("ref", write(t, newModel(t, 1), "m.bnm"))
		o.GRPC, o.Security.Insecure, o.Security.Reflection = "0.0.0.0:0", true, reflects
		client := reflectionpb.NewServerReflectionClient(dial(t, start(t, o)))
		stream, err := client.ServerReflectionInfo(t.Context())
		if err != nil || stream.CloseSend() != nil {
			t.Fatal(err)
		}
		if _, err = stream.Recv(); (status.Code(err) == codes.Unimplemented) == reflects {
			t.Errorf("by flag %v: %v", reflects, err)
		}
	}
}

// TestSlowOverGRPC checks that a call without a message ends after a time limit, and that other
// calls are answered meanwhile.
func TestSlowOverGRPC(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Timeout = 500 * time.Millisecond
	s := start(t, o)
	c := dial(t, s)
	slow, err := c.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true},
		"/inference.GRPCInferenceService/ModelInfer")
	if err != nil {
		t.Fatal(err)
	}
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	if _, err := pb.NewGRPCInferenceServiceClient(c).ModelInfer(t.Context(), inMessage(x, true)); err != nil {
		t.Error(err)
	}
	if err := slow.RecvMsg(&pb.ModelInferResponse{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a message that does not come: %v", err)
	}
}

// TestCertificatesAreReadAgain checks that certificates are read again if their files change.
// If the new files do not belong together, the previous certificates stay in use.
func TestCertificatesAreReadAgain(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	cert, key, first := certificate(t, soon)
	other, otherKey, second := certificate(t, soon)
	o.Security.Certificate, o.Security.Key = cert, key
	s := start(t, o)
	replaced := func(from, to string) {
		b, err := os.ReadFile(from)
		if err != nil || os.WriteFile(to, b, 0o600) != nil {
			t.Fatal(err)
		}
	}
	shown := func(address string) *x509.Certificate {
		c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0]
	}
	for _, address := range []string{s.HTTP(), s.GRPC()} {
		if !shown(address).Equal(first.Leaf) {
			t.Error("another certificate from the start")
		}
	}
	replaced(other, cert) // a certificate that does not belong to the key
	time.Sleep(1100 * time.Millisecond)
	if !shown(s.HTTP()).Equal(first.Leaf) {
		t.Error("a certificate without its key is shown")
	}
	replaced(otherKey, key)
	for _, address := range []string{s.HTTP(), s.GRPC()} {
		until(t, "the other certificate", func() bool { return shown(address).Equal(second.Leaf) })
	}
	trust := x509.NewCertPool()
	trust.AddCert(second.Leaf)
	creds := credentials.NewClientTLSFromCert(trust, "127.0.0.1")
	c, err := grpc.NewClient(s.GRPC(), grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = pb.NewGRPCInferenceServiceClient(c).ServerLive(t.Context(), &pb.ServerLiveRequest{})
	if err != nil {
		t.Errorf("gRPC with the new certificate: %v", err)
	}
}
