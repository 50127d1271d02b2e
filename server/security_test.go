package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// TestOtherSites checks that the server refuses requests that a page of another web site can make a browser
// send.
func TestOtherSites(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Security.Hosts = []string{"models.example"}
	s := start(t, o)
	_, port, _ := net.SplitHostPort(s.HTTP())
	body := jsonRequest(pictures(rand.New(rand.NewPCG(1, 1)), 1))
	for _, c := range []struct {
		headers []string
		want    int
	}{
		{nil, 200},
		{[]string{"Host", "localhost:" + port}, 200},
		{[]string{"Host", "LOCALHOST."}, 200},
		{[]string{"Host", "[::1]:" + port}, 200},
		{[]string{"Host", "models.example"}, 200},
		{[]string{"Host", "evil.example:" + port}, 403}, // DNS rebinding
		{[]string{"Host", "127.0.0.1.evil.example"}, 403},
		{[]string{"Host", "192.0.2.1"}, 403},
		{[]string{"Origin", "http://" + s.HTTP()}, 200},
		{[]string{"Origin", "http://evil.example", "Content-Type", "text/plain"}, 403},
		{[]string{"Origin", "http://localhost:1"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403},
		{[]string{"Sec-Fetch-Site", "same-origin"}, 200},
	} {
		r := ask(t, s, "POST", "/v2/models/m/infer", body, c.headers...)
		if r.status != c.want || c.want != 200 && !bytes.HasPrefix(r.body, []byte(`{"error":"`)) {
			t.Errorf("%v: %d %s, want %d", c.headers, r.status, r.body, c.want)
		}
		if r.header.Get("Access-Control-Allow-Origin") != "" ||
			!strings.HasPrefix(r.header.Get("Content-Security-Policy"), "default-src 'self'") {
			t.Errorf("%v: headers %v", c.headers, r.header)
		}
	}
}

// secrets writes a file of tokens, and returns its path.
func secrets(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTokens(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Security.Tokens = secrets(t, "alpha\n\n beta \n", 0o600)
	s := start(t, o)
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	for token, want := range map[string]int{"Bearer alpha": 200, "bearer beta": 200, "Basic eDphbHBoYQ==": 200,
		"": 401, "Bearer": 401, "Bearer gamma": 401, "Bearer alpha beta": 401, "alpha": 401} {
		if r := ask(t, s, "GET", "/v2/models/m", nil, "Authorization", token); r.status != want {
			t.Errorf("%q: %d", token, r.status)
		}
		_, err := client.ServerLive(metadata.AppendToOutgoingContext(t.Context(), "authorization", token),
			&pb.ServerLiveRequest{})
		if (status.Code(err) == codes.OK) != (want == 200) {
			t.Errorf("%q over gRPC: %v", token, err)
		}
	}
	for _, path := range []string{"/", "/page.js", "/metrics", "/v2", "/v2/health/live", "/v2/models/m/layers",
		"/nothing"} {
		if r := ask(t, s, "GET", path, nil); r.status != 401 || !bytes.HasPrefix(r.body, []byte(`{"error":"`)) {
			t.Errorf("%s without a token: %d %s", path, r.status, r.body)
		}
	}
	for _, path := range []string{"infer", "classify"} {
		if r := ask(t, s, "POST", "/v2/models/m/"+path, []byte("{}")); r.status != 401 {
			t.Errorf("%s without a token: %d %s", path, r.status, r.body)
		}
	}
	if err := os.WriteFile(o.Security.Tokens, []byte("gamma\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the token gamma", func() bool {
		return ask(t, s, "GET", "/v2", nil, "Authorization", "Bearer gamma").status == 200
	})
	if r := ask(t, s, "GET", "/v2", nil, "Authorization", "Bearer alpha"); r.status != 401 {
		t.Errorf("a token that was taken out: %d", r.status)
	}
	for path, want := range map[string]string{secrets(t, "a", 0o640): "chmod 600", secrets(t, " \n", 0o600): "no token",
		t.TempDir() + "/none": "no such file"} {
		o.Security.Tokens = path
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// certificate writes a self-signed certificate and its key.
func certificate(t *testing.T, until time.Time) (cert, key string, pair tls.Certificate) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(crand.Reader, about, about, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	err = errors.Join(err, os.WriteFile(cert, certPEM, 0o600), os.WriteFile(key, keyPEM, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return cert, key, pair
}

// TestMutualTLS checks that, if client certificates are required, a client without a certificate can only
// read the health of the server.
func TestMutualTLS(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	cert, key, _ := certificate(t, soon)
	ca, _, client := certificate(t, soon)
	o.Security.Certificate, o.Security.Key, o.Security.Clients, o.Health = cert, key, ca, "127.0.0.1:0"
	s := start(t, o)
	trust := x509.NewCertPool()
	if b, err := os.ReadFile(cert); err != nil || !trust.AppendCertsFromPEM(b) {
		t.Fatal(err)
	}
	var text []byte
	get := func(url string, certs ...tls.Certificate) error {
		c := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{RootCAs: trust, Certificates: certs}}}
		r, err := c.Get(url)
		if err == nil {
			defer r.Body.Close()
			text, err = io.ReadAll(r.Body)
		}
		return err
	}
	if err := get("https://"+s.HTTP()+"/metrics", client); err != nil ||
		!bytes.Contains(text, []byte("bnctl_certificate_end_seconds 1")) {
		t.Errorf("the end of the certificate: %v, %s", err, text)
	}
	if err := get("https://"+s.HTTP()+"/v2", client); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if get("https://"+s.HTTP()+"/v2") == nil {
		t.Error("without a certificate: an answer")
	}
	if err := get("http://" + s.Health() + "/v2/health/ready"); err != nil {
		t.Errorf("health: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	plain := pb.NewGRPCInferenceServiceClient(dial(t, s))
	if _, err := plain.ServerLive(ctx, &pb.ServerLiveRequest{}); err == nil {
		t.Error("without TLS: an answer over gRPC")
	}
}

func TestCertificatesThatDoNotFit(t *testing.T) {
	path := write(t, newModel(t, 1), "m.bnm")
	cert, _, _ := certificate(t, time.Now().Add(time.Hour))
	old, oldKey, _ := certificate(t, time.Now().Add(-time.Minute))
	for _, c := range []struct {
		security Security
		want     string
	}{
		{Security{Certificate: cert, Key: oldKey}, "private key does not match"},
		{Security{Certificate: old, Key: oldKey}, "valid from"},
		{Security{Certificate: path, Key: oldKey}, "failed to find any PEM"},
		{Security{Certificate: cert}, "go together"},
		{Security{Clients: cert}, "only with"},
	} {
		o := on("ref", path)
		o.Security = c.security
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.security, err, c.want)
		}
	}
	o := on("ref", path)
	o.HTTP, o.Security.Insecure = "0.0.0.0:0", true
	start(t, o)
}
