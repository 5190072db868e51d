package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// Function attributes (cuda.h, CUfunction_attribute).
const (
	functionStaticShared     = 1
	functionMaxDynamicShared = 8
)

// plainShared is what a launch may take without asking (CUDA C++ guide).
const plainShared = 48 << 10

// Options of cuModuleLoadDataEx (cuda.h, CUjit_option).
const (
	jitErrorLog      = 5
	jitErrorLogBytes = 6
	jitLineInfo      = 13
)

// Load compiles PTX or loads a cubin; the compiler's words are in the error.
func (c *card) Load(image []byte, lines bool) (Module, error) {
	text := append(image[:len(image):len(image)], 0) // PTX ends with a zero byte
	log := make([]byte, 8<<10)
	options := []uint32{jitErrorLog, jitErrorLogBytes, jitLineInfo}
	values := struct { // void *[3]
		log   *byte
		bytes uintptr
		lines uintptr
	}{log: &log[0], bytes: uintptr(len(log) - 1)}
	if lines {
		values.lines = 1
	}
	var m uintptr
	err := c.d.call("cuModuleLoadDataEx", uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&text[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values)))
	runtime.KeepAlive(log)
	if err != nil {
		if words := strings.TrimSpace(cString(&log[0], len(log))); words != "" {
			return 0, fmt.Errorf("%w: %s", err, words)
		}
		return 0, err
	}
	return Module(m), nil
}

func (c *card) Unload(m Module) error {
	return c.d.call("cuModuleUnload", uintptr(m))
}

func (c *card) Function(m Module, entry string, shared uint32) (Function, error) {
	name := append([]byte(entry), 0)
	f := Function{Entry: entry}
	if err := c.d.call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f.Handle)), uintptr(m), uintptr(unsafe.Pointer(&name[0]))); err != nil {
		return f, fmt.Errorf("entry %q: %w", entry, err)
	}
	if err := c.allowShared(f.Handle, shared); err != nil {
		return f, fmt.Errorf("entry %q: %w", entry, err)
	}
	f.Params = c.paramSizes(f.Handle)
	return f, nil
}

// allowShared opts in to more dynamic shared memory, as jaxlib does: all that the
// card lets a block have, less what the kernel takes statically.
func (c *card) allowShared(handle uintptr, shared uint32) error {
	if shared <= plainShared {
		return nil
	}
	most, err := c.attribute(attributeSharedOptIn)
	if err != nil {
		return err
	}
	if int64(shared) > int64(most) {
		return fmt.Errorf("%d bytes of shared memory, the card gives a block %d", shared, most)
	}
	var static int32
	if err := c.d.call("cuFuncGetAttribute", uintptr(unsafe.Pointer(&static)), functionStaticShared, handle); err != nil {
		return err
	}
	return c.d.call("cuFuncSetAttribute", handle, functionMaxDynamicShared, uintptr(most-int(static)))
}

// paramSizes asks for the sizes of all parameters; nil where the driver does not say.
func (c *card) paramSizes(handle uintptr) []int {
	if !c.d.has("cuFuncGetParamInfo") {
		return nil
	}
	sizes := []int{}
	for i := range MaxParams {
		place := new([2]uint64) // offset, size
		err := c.d.call("cuFuncGetParamInfo", handle, uintptr(i), uintptr(unsafe.Pointer(&place[0])), uintptr(unsafe.Pointer(&place[1])))
		var e *DriverError
		if errors.As(err, &e) && e.Code == CodeInvalidValue {
			return sizes // one past the last
		}
		if err != nil {
			return nil
		}
		sizes = append(sizes, int(clampInt64(place[1])))
	}
	return nil
}

// Run zeroes, launches and waits for one kernel.
func (c *card) Run(l Launch, where Part, deadline time.Duration) (time.Duration, error) {
	stream := c.streams[where]
	if stream == 0 {
		return 0, errors.New("the card is not confined")
	}
	if err := l.check(); err != nil {
		return 0, err
	}
	if where != WholeCard { // the other stream does not wait for the main one
		if err := c.wait(); err != nil {
			return 0, err
		}
	}
	for _, z := range l.Zero {
		if err := c.fillOn(stream, z.At, 0, z.Bytes); err != nil {
			return 0, err
		}
	}
	if err := c.d.call("cuEventRecord", c.start, stream); err != nil {
		return 0, err
	}
	if err := c.launch(l, stream); err != nil {
		return 0, err
	}
	if err := c.d.call("cuEventRecord", c.stop, stream); err != nil {
		return 0, err
	}
	if err := c.await(deadline); err != nil {
		return 0, err
	}
	var ms float32
	err := c.d.call("cuEventElapsedTime", uintptr(unsafe.Pointer(&ms)), c.start, c.stop)
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// await polls the stop event: a wait inside the driver could not be given up.
// The first polls are close together, so that short kernels cost no sleep.
func (c *card) await(deadline time.Duration) error {
	begin := time.Now()
	for {
		err := c.d.call("cuEventQuery", c.stop)
		var e *DriverError
		if !errors.As(err, &e) || e.Code != codeNotReady {
			return err
		}
		spent := time.Since(begin)
		if spent > deadline {
			return ErrHang
		}
		if spent > 2*time.Millisecond {
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// launchAttributeBytes is sizeof(CUlaunchAttribute): an id, padding, 64 bytes of value.
const launchAttributeBytes = 72

// Launch attributes (cuda.h, CUlaunchAttributeID; CUclusterSchedulingPolicy).
const (
	attributeClusterDimension = 4
	attributeClusterPolicy    = 5
	clusterPolicySpread       = 1
)

// launch hands the kernel to the driver. kernelParams points to one pointer a
// parameter, each to that parameter's bytes.
func (c *card) launch(l Launch, stream uintptr) error {
	values := make([]*byte, len(l.Params)+1)
	for i, bytes := range l.Params {
		values[i] = &bytes[0]
	}
	defer runtime.KeepAlive(l.Params)
	if max(l.Cluster[0], l.Cluster[1], l.Cluster[2]) <= 1 {
		return c.d.call("cuLaunchKernel", l.Function.Handle,
			uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]),
			uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2]),
			uintptr(l.Shared), stream, uintptr(unsafe.Pointer(&values[0])), 0)
	}
	if !c.d.has("cuLaunchKernelEx") {
		return errors.New("the driver has no cuLaunchKernelEx: it cannot launch clusters")
	}
	attributes := clusterAttributes(l.Cluster)
	config := launchConfig{
		grid: l.Grid, block: l.Block, shared: l.Shared, stream: stream,
		attributes: &attributes[0], count: 2,
	}
	return c.d.call("cuLaunchKernelEx", uintptr(unsafe.Pointer(&config)), l.Function.Handle, uintptr(unsafe.Pointer(&values[0])), 0)
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid       [3]uint32
	block      [3]uint32
	shared     uint32
	stream     uintptr
	attributes *byte
	count      uint32
}

// clusterAttributes is an array of two CUlaunchAttribute: the cluster's size, and
// the policy that jaxlib sets with it.
func clusterAttributes(size [3]uint32) []byte {
	b := make([]byte, 2*launchAttributeBytes)
	binary.NativeEndian.PutUint32(b[0:], attributeClusterDimension)
	for i, n := range size {
		binary.NativeEndian.PutUint32(b[8+4*i:], max(n, 1))
	}
	policy := b[launchAttributeBytes:]
	binary.NativeEndian.PutUint32(policy[0:], attributeClusterPolicy)
	binary.NativeEndian.PutUint32(policy[8:], clusterPolicySpread)
	return b
}
