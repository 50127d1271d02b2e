package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const deploy = "../../server/deploy/"

// TestManifests: the project's manifests have no mistakes.
func TestManifests(t *testing.T) {
	for _, name := range []string{"devices.yaml", "kubernetes.yaml"} {
		if n, err := checkFile(deploy + name); err != nil || n < 2 {
			t.Errorf("%s: %d objects, %v", name, n, err)
		}
	}
}

// TestMistakes: each kind of mistake in a manifest is found.
func TestMistakes(t *testing.T) {
	text, err := os.ReadFile(deploy + "devices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"kind: Deployment", "kind: Deploiment", `no kind "Deploiment"`},
		{"  replicas: 2", "  replica: 2", `unknown field "spec.replica"`},
		{"  replicas: 2", "  replicas: two", "cannot unmarshal"},
		{"  replicas: 2", "  replicas: 2\n  replicas: 3", "already set"},
		{"matchLabels: {app: bnctl-device}", "matchLabels: {app: other}", "does not match its pods"},
		{"targetPort: devices", "targetPort: other", "no pod that it selects has port other"},
		{"name: keys, mountPath", "name: key, mountPath", "mounts volume key"},
		{"tcpSocket: {port: devices}", "tcpSocket: {port: 7444}", "no port 7444 for a probe"},
		{"restartPolicy: OnFailure", "restartPolicy: Always", `no restartPolicy "Always"`},
		{"image: bnctl", "imagePullPolicy: Always", "has no image"},
		{`limits: {cpu: "2", memory: 2Gi}`, `limits: {cpu: "2"}`, "no limit of memory"},
	} {
		wrong := strings.Replace(string(text), c.old, c.new, 1)
		if wrong == string(text) {
			t.Errorf("%q is not in the manifest", c.old)
		}
		name := filepath.Join(t.TempDir(), "wrong.yaml")
		if err := os.WriteFile(name, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := checkFile(name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}
