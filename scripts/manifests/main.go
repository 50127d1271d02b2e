// Manifests checks manifests of Kubernetes against the types of its API, like kubectl with --validate=strict:
// kinds, names and types of fields, and fields that occur twice. It also checks that every selector matches a
// pod, that the named ports and volumes exist, and that every container has limits.
//
//	manifests FILE...
//
// It is a separate module, because bnctl itself does not use Kubernetes.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	bad := false
	for _, name := range os.Args[1:] {
		n, err := checkFile(name)
		if err != nil {
			bad = true
			fmt.Fprintf(os.Stderr, "manifests: %s: %v\n", name, err)
			continue
		}
		fmt.Printf("%s: %d objects\n", name, n)
	}
	if bad {
		os.Exit(1)
	}
}

// checkFile checks the objects of a file, and returns their number.
func checkFile(name string) (int, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	var all []runtime.Object
	var problems []error
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	buffer := make([]byte, len(text)+1)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		o, kind, err := decoder.Decode(buffer[:n], nil, nil)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if gvk := o.GetObjectKind().GroupVersionKind(); gvk != *kind {
			problems = append(problems, fmt.Errorf("%v was read as %v", kind, gvk))
		}
		all = append(all, o)
	}
	return len(all), errors.Join(append(problems, checkObjects(all)...)...)
}

// checkObjects checks each object, and then all objects together.
func checkObjects(objects []runtime.Object) (problems []error) {
	var pods []corev1.PodTemplateSpec
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.Deployment:
			pods = append(pods, o.Spec.Template)
			if !labels.SelectorFromSet(o.Spec.Selector.MatchLabels).Matches(labels.Set(o.Spec.Template.Labels)) {
				problems = append(problems, fmt.Errorf("%s: its selector does not match its pods", o.Name))
			}
			problems = append(problems, checkPod(o.Name, o.Spec.Template.Spec)...)
		case *batchv1.Job:
			pods = append(pods, o.Spec.Template)
			p := o.Spec.Template.Spec.RestartPolicy
			if p != corev1.RestartPolicyOnFailure && p != corev1.RestartPolicyNever {
				problems = append(problems, fmt.Errorf("%s: a Job has no restartPolicy %q", o.Name, p))
			}
			problems = append(problems, checkPod(o.Name, o.Spec.Template.Spec)...)
		}
	}
	for _, o := range objects {
		if s, ok := o.(*corev1.Service); ok {
			problems = append(problems, checkService(s, pods)...)
		}
	}
	return problems
}

// checkService checks that a service selects at least one pod, and that the pods have its ports.
func checkService(s *corev1.Service, pods []corev1.PodTemplateSpec) (problems []error) {
	for _, port := range s.Spec.Ports {
		found := slices.ContainsFunc(pods, func(p corev1.PodTemplateSpec) bool {
			selected := labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels))
			return selected && hasPort(p.Spec, port.TargetPort)
		})
		if !found {
			problems = append(problems, fmt.Errorf("%s: no pod that it selects has port %s", s.Name,
				port.TargetPort.String()))
		}
	}
	return problems
}

func hasPort(p corev1.PodSpec, port intstr.IntOrString) bool {
	return slices.ContainsFunc(p.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(o corev1.ContainerPort) bool {
			return o.Name == port.StrVal && port.Type == intstr.String || o.ContainerPort == port.IntVal
		})
	})
}

// checkPod checks the containers of a pod.
func checkPod(name string, p corev1.PodSpec) (problems []error) {
	fail := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: "+format, append([]any{name}, args...)...))
	}
	for _, c := range p.Containers {
		if c.Image == "" {
			fail("container %s has no image", c.Name)
		}
		if c.Resources.Limits.Memory().IsZero() {
			fail("container %s has no limit of memory", c.Name)
		}
		for _, m := range c.VolumeMounts {
			if !slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
				fail("container %s mounts volume %s, which the pod does not have", c.Name, m.Name)
			}
		}
		for _, probe := range []*corev1.Probe{c.ReadinessProbe, c.LivenessProbe, c.StartupProbe} {
			if probe == nil {
				continue
			}
			if t := probe.TCPSocket; t != nil && !hasPort(p, t.Port) {
				fail("container %s has no port %s for a probe", c.Name, t.Port.String())
			}
			if t := probe.HTTPGet; t != nil && !hasPort(p, t.Port) {
				fail("container %s has no port %s for a probe", c.Name, t.Port.String())
			}
		}
	}
	return problems
}
