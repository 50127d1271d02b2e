//go:build !purego

package kernel

var (
	poolsAVX512 = pools{16, maxPoolAVX512, maxPoolGradientAVX512, maxPoolQuadsAVX512}
	poolsAVX2   = pools{8, maxPoolAVX2, maxPoolGradientAVX2, maxPoolQuadsAVX2}
)
