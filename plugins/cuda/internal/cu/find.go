package cu

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/plugins/internal/library"
	"github.com/bnctl/bnctl/problem"
)

// These are the minimum versions for PTX 6.0 with target sm_60.
const (
	leastVersion = 9020 // CUDA version of the driver; 9.2 is the first that reports UUIDs
	leastMajor   = 6    // compute capability
)

// Attributes of a device (CUdevice_attribute).
const (
	computeMode     = 20
	capabilityMajor = 75
	capabilityMinor = 76
)

// Show makes a part of a GPU the only visible device of this process. Otherwise no context could be
// created on the part. Call Show before OpenCUDA.
func Show(uuid string) error {
	libc, err := library.Open("libc.so.6", "libc.so")
	if err != nil {
		return err
	}
	var setenv func(name, value string, overwrite int32) int32
	if err := libc.Bind(&setenv, "setenv"); err != nil {
		return err
	}
	setenv("CUDA_VISIBLE_DEVICES", uuid, 1)
	return nil
}

// suits returns an error if the driver or the device cannot run the kernels.
func (c *CUDA) suits(device int32) error {
	var version, major, minor int32
	if err := c.check("cuDriverGetVersion", c.version(&version)); err != nil {
		return err
	}
	if version < leastVersion {
		return problem.Advise("install a newer NVIDIA driver",
			"the driver knows CUDA %d.%d, and the kernels need %d.%d",
			version/1000, version%1000/10, leastVersion/1000, leastVersion%1000/10)
	}
	if err := c.check("cuDeviceGetAttribute", c.attribute(&major, capabilityMajor, device)); err != nil {
		return err
	}
	if err := c.check("cuDeviceGetAttribute", c.attribute(&minor, capabilityMinor, device)); err != nil {
		return err
	}
	if major < leastMajor {
		return problem.Advise("use {devices} cpu",
			"the GPU has compute capability %d.%d, and the kernels need %d.0",
			major, minor, leastMajor)
	}
	return nil
}

// find returns the device with a UUID in NVML's form, "GPU-..." or "MIG-...". Show has made
// it the only visible one.
func (c *CUDA) find(uuid string) (int32, error) {
	var n int32
	if err := c.check("cuDeviceGetCount", c.count(&n)); err != nil {
		return 0, err
	}
	for i := range n {
		var device int32
		var id [16]byte
		if err := c.check("cuDeviceGet", c.device(&device, i)); err != nil {
			return 0, err
		}
		if strings.HasPrefix(uuid, "MIG-") {
			return device, nil
		}
		if err := c.check("cuDeviceGetUuid", c.uuid(&id, device)); err != nil {
			return 0, err
		}
		if text := fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]); text == uuid {
			return device, nil
		}
	}
	return 0, fmt.Errorf("libcuda sees %d GPUs, and %s is none of them", n, uuid)
}

// capability returns the compute capability of a device times ten, or 0 if the driver does not know it.
func (c *CUDA) capability(device int32) int {
	var major, minor int32
	if c.attribute(&major, capabilityMajor, device) != 0 || c.attribute(&minor, capabilityMinor, device) != 0 {
		return 0
	}
	return int(major*10 + minor)
}

// unavailable returns an error that explains why a context cannot be created.
func (c *CUDA) unavailable(device int32, err error) error {
	var mode int32
	const prohibited, exclusive = 2, 3
	if c.attribute(&mode, computeMode, device) == 0 {
		switch mode {
		case exclusive:
			return problem.Advise("wait for its end, or let several use it: nvidia-smi -c DEFAULT",
				"%w: the GPU is in exclusive use by another process", err)
		case prohibited:
			return problem.Advise("allow it: nvidia-smi -c DEFAULT", "%w: computing on the GPU is prohibited", err)
		}
	}
	return err
}
