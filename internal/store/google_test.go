package store_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/storetest"
)

// tokenServer answers as Google's token endpoint does: it checks the claim and its signature.
func tokenServer(t *testing.T, key *rsa.PublicKey, expires int) *storetest.Server {
	var server *storetest.Server
	server = storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(reason string) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, reason)
		}
		parts := strings.Split(r.PostFormValue("assertion"), ".")
		if r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
			refuse("no assertion")
			return
		}
		signature, err := base64.RawURLEncoding.DecodeString(parts[2])
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if err != nil || rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil {
			refuse("Invalid JWT Signature.")
			return
		}
		var claim struct {
			Iss, Scope, Aud string
			Iat, Exp        int64
		}
		text, err := base64.RawURLEncoding.DecodeString(parts[1])
		now := time.Now().Unix()
		if err != nil || json.Unmarshal(text, &claim) != nil || claim.Iss != "me@project.iam.example" ||
			claim.Aud != server.URL+"/token" || claim.Iat > now+5 || claim.Exp <= now || claim.Exp > now+3700 ||
			!strings.HasSuffix(claim.Scope, "/auth/devstorage.read_write") {
			refuse("invalid claim " + string(text))
			return
		}
		fmt.Fprintf(w, `{"access_token":"verysecrettoken","expires_in":%d,"token_type":"Bearer"}`, expires)
	}))
	return server
}

// accountFile writes the file of a service account, and returns its path.
func accountFile(t *testing.T, key *rsa.PrivateKey, tokenURI string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "project",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": "me@project.iam.example", "token_uri": tokenURI})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestServiceAccount exchanges the signed claim of a service account for a token, and uses the token
// until it expires.
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ expires, asked int }{{3600, 1}, {61, 1}, {30, 2}} {
		w, server := newWorld(t), storetest.S3(t, "bucket")
		tokens := tokenServer(t, &key.PublicKey, c.expires)
		w.env["STORAGE_EMULATOR_HOST"] = server.URL
		w.env["GOOGLE_APPLICATION_CREDENTIALS"] = accountFile(t, key, tokens.URL+"/token")
		w.put("gs://bucket/net.bnm", []byte("content"))
		tokens.Requests()
		wantLocal(t, w.store(), "gs://bucket/net.bnm", []byte("content"))
		if n := len(tokens.Requests()); n < c.asked || c.asked == 1 && n > 1 {
			t.Errorf("%d requests for a token of %d seconds", n, c.expires)
		}
		for _, r := range server.Requests() {
			if r.Header.Get("Authorization") != "Bearer verysecrettoken" {
				t.Errorf("%s %s has the authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
			}
		}
	}
}

// TestRefusedAccount checks that the error has the reason, and no part of the key.
func TestRefusedAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	other, err2 := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	w, server := newWorld(t), storetest.S3(t, "bucket")
	w.env["STORAGE_EMULATOR_HOST"] = server.URL
	tokens := tokenServer(t, &key.PublicKey, 3600)
	text := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(text, []byte(`{"type":"authorized_user","refresh_token":"secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		accountFile(t, other, tokens.URL+"/token"):                       "Invalid JWT Signature.",
		accountFile(t, key, "http://models.example/token"):               "not encrypted",
		accountFile(t, key, "http://user:secret@127.0.0.1:1/x?x=secret"): "a token for me@project.iam.example",
		text:                            "is not the file of a service account",
		filepath.Join(t.TempDir(), "y"): "no such file",
	} {
		w.env["GOOGLE_APPLICATION_CREDENTIALS"] = file
		_, err := w.store().Local("gs://bucket/net.bnm")
		wantError(t, err, "gs://bucket/net.bnm", want)
	}
	for _, r := range server.Requests() {
		t.Errorf("%s %s without a token", r.Method, r.URL.Path)
	}
}

// TestGoogleKeys signs with the keys of Google's HMAC kind.
func TestGoogleKeys(t *testing.T) {
	w, server := newWorld(t), storetest.S3(t, "bucket")
	w.env["STORAGE_EMULATOR_HOST"] = server.URL
	w.env["GS_ACCESS_KEY_ID"], w.env["GS_SECRET_ACCESS_KEY"] = "GOOGAKID", "verysecretkey"
	w.put("gs://bucket/net.bnm", []byte("content"))
	wantLocal(t, w.store(), "gs://bucket/net.bnm", []byte("content"))
	for _, r := range server.Requests() {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=GOOGAKID/") {
			t.Errorf("%s %s has the authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
	}
}
