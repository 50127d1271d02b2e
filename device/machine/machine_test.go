package machine_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/device/machine"
)

// keys makes the folders of both sides.
func keys(t *testing.T, folder string, days int) {
	t.Helper()
	if _, err := machine.MakeKeys(folder, days); err != nil {
		t.Fatal(err)
	}
}

func side(t *testing.T, folder string, r machine.Role) *machine.Side {
	t.Helper()
	s, err := machine.Open(filepath.Join(folder, string(r)), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connect connects two configurations, and returns the error of each side.
func connect(t *testing.T, host, device *tls.Config) (atHost, atDevice error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", device)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			_, err = c.Write([]byte("x"))
		}
		ended <- err
	}()
	c, atHost := tls.Dial("tcp", l.Addr().String(), host)
	if atHost == nil { // in TLS 1.3 a client learns at its first read that it is refused
		defer c.Close()
		_, atHost = c.Read(make([]byte, 1))
	}
	return atHost, <-ended
}

func TestBothSidesAreTrusted(t *testing.T) {
	folder := t.TempDir()
	keys(t, folder, 1)
	host, device := side(t, folder, machine.Host), side(t, folder, machine.Device)
	atHost, atDevice := connect(t, host.Config(), device.Config())
	if atHost != nil || atDevice != nil {
		t.Fatal(atHost, atDevice)
	}
}

// TestWhoIsRefused checks that a connection with a side that is not trusted ends, and that this side
// gets the reason.
func TestWhoIsRefused(t *testing.T) {
	mine, others := t.TempDir(), t.TempDir()
	keys(t, mine, 1)
	keys(t, others, 1)
	own := side(t, mine, machine.Device)
	pair := func(folder, role string) tls.Certificate {
		path := filepath.Join(folder, role, "tls.")
		c, err := tls.LoadX509KeyPair(path+"crt", path+"key")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	client := func(certificates ...tls.Certificate) *tls.Config {
		return &tls.Config{InsecureSkipVerify: true, Certificates: certificates}
	}
	for _, c := range []struct {
		name   string
		config *tls.Config
		want   string
	}{
		{"no certificate", client(), "didn't provide a certificate"},
		{"another authority", client(pair(others, "host")), "not of an authority in ca.crt"},
		{"a device as a host", client(pair(mine, "device")), "for the role device, not for host"},
		{"TLS 1.2", &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12,
			Certificates: []tls.Certificate{pair(mine, "host")}}, "unsupported versions"},
	} {
		_, err := connect(t, c.config, own.Config())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	server := &tls.Config{ClientAuth: tls.RequireAnyClientCert,
		Certificates: []tls.Certificate{pair(mine, "host")}}
	if err, _ := connect(t, side(t, mine, machine.Host).Config(), server); err == nil ||
		!strings.Contains(err.Error(), "for the role host, not for device") {
		t.Errorf("a host as a machine: %v", err)
	}
}

// TestDuringARun checks that an expired or revoked certificate is refused, for a new connection and by
// the check of an open one, and that new files are read without a restart.
func TestDuringARun(t *testing.T) {
	folder := t.TempDir()
	keys(t, folder, 1)
	host, device := side(t, folder, machine.Host), side(t, folder, machine.Device)
	first := serials(t, filepath.Join(folder, "host", "tls.crt"))
	if err := device.Verify(state(t, filepath.Join(folder, "host", "tls.crt"))); err != nil {
		t.Fatal(err)
	}
	old := state(t, filepath.Join(folder, "host", "tls.crt"))
	revoked := filepath.Join(folder, "device", "revoked")
	list := "# lost\n" + strings.ToUpper(first) + " the laptop\n"
	if err := os.WriteFile(revoked, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := device.Verify(old); err == nil || !strings.Contains(err.Error(), "is revoked") {
		t.Errorf("revoked: %v", err)
	}
	if _, err := connect(t, host.Config(), device.Config()); err == nil {
		t.Error("a revoked certificate connects")
	}
	keys(t, folder, 1) // rotation: new certificates of the same authority
	if atHost, atDevice := connect(t, host.Config(), device.Config()); atHost != nil || atDevice != nil {
		t.Errorf("after new certificates: %v, %v", atHost, atDevice)
	}
	half := filepath.Join(folder, "device", "tls.key")
	if err := os.WriteFile(half, []byte("half of"), 0o600); err != nil {
		t.Fatal(err)
	}
	if atHost, atDevice := connect(t, host.Config(), device.Config()); atHost != nil || atDevice != nil {
		t.Errorf("while files are replaced: %v, %v", atHost, atDevice)
	}
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		keys(t, folder, 1)
		device, peer := side(t, folder, machine.Device), state(t, filepath.Join(folder, "host", "tls.crt"))
		time.Sleep(23 * time.Hour)
		if err := device.Verify(peer); err != nil {
			t.Errorf("after 23 hours: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if err := device.Verify(peer); err == nil || !strings.Contains(err.Error(), "has expired") {
			t.Errorf("after 25 hours: %v", err)
		}
		if _, err := machine.Open(filepath.Join(folder, "device"), machine.Device); err == nil {
			t.Error("a side with an expired certificate opens")
		}
	})
}

func TestBadFolders(t *testing.T) {
	folder := t.TempDir()
	keys(t, folder, 1)
	for name, spoil := range map[string]func(path string) error{
		"no authority": func(p string) error { return os.Remove(filepath.Join(p, "ca.crt")) },
		"empty":        func(p string) error { return os.WriteFile(filepath.Join(p, "ca.crt"), nil, 0o600) },
		"no key":       func(p string) error { return os.Remove(filepath.Join(p, "tls.key")) },
		"another's key": func(p string) error {
			return copyFile(filepath.Join(folder, "host", "tls.key"), filepath.Join(p, "tls.key"))
		},
	} {
		path := filepath.Join(t.TempDir(), "device")
		if err := os.CopyFS(path, os.DirFS(filepath.Join(folder, "device"))); err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if _, err := machine.Open(path, machine.Device); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error with the folder", name, err)
		}
	}
	for _, days := range []int{0, -1, 10000} {
		if _, err := machine.MakeKeys(t.TempDir(), days); err == nil {
			t.Errorf("%d days are accepted", days)
		}
	}
}

// TestModes checks that only the owner can read the keys.
func TestModes(t *testing.T) {
	folder := t.TempDir()
	keys(t, folder, 1)
	for _, path := range []string{"authority/ca.key", "host/tls.key", "device/tls.key"} {
		if i, err := os.Stat(filepath.Join(folder, path)); err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, i.Mode(), err)
		}
	}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

func state(t *testing.T, path string) tls.ConnectionState {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(b)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return tls.ConnectionState{PeerCertificates: []*x509.Certificate{c}}
}

func serials(t *testing.T, path string) string {
	return fmt.Sprintf("%x", state(t, path).PeerCertificates[0].SerialNumber)
}
