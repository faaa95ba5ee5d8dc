package engine

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/cpu"
)

// compileOptions returns revgnn's option for XLA's CPU compiler, or nil if XLA_FLAGS (flags) has it already: with
// AVX-512, it shall use the whole width of the vector registers, 512 bits. By default it uses half, and sums over
// neighbours take 1.3 to 2.3 times as long (docs/notes/2026-11-compiler.md).
//
// The result is appended to go-xla's own options, a protobuf message: two messages, one after the other, count as one
// with the fields of both (protobuf.dev/programming-guides/encoding, "Last One Wins").
func compileOptions(flags string) []byte {
	const width = "xla_cpu_prefer_vector_width"
	if !cpu.X86.HasAVX512F || strings.Contains(flags, width) {
		return nil
	}
	return option(width, number(512))
}

// CUDAGraphs names the environment variable that, set to "loops", has XLA put whole loops into CUDA graphs, without a
// host that waits for each iteration.
const CUDAGraphs = "REVGNN_CUDA_GRAPHS"

// cudaOptions are revgnn's options for XLA's CUDA compiler, unless XLA_FLAGS (flags) has them: no autotuning, which
// compiles each large kernel once more for every candidate; products of matrices by cuBLAS, which picks a kernel for
// the shape, where Triton without autotuning has tiles of 16 by 8; rows' softmax and norms as XLA's own reductions,
// which compile in half the time; the folder with ptxas and libdevice (tools), or "" where XLA searches itself; loops
// in CUDA graphs if asked for (docs/notes/2026-11-cuda.md).
func cudaOptions(flags, tools, graphs string) (options []byte) {
	for _, o := range []struct {
		name  string
		value []byte
		is    bool
	}{
		{"xla_gpu_autotune_level", number(0), true},
		{"xla_gpu_enable_triton_gemm", boolean(false), true},
		{"xla_disable_hlo_passes", text("triton-softmax-rewriter"), true},
		{"xla_gpu_cuda_data_dir", text(tools), tools != ""},
		{"xla_gpu_enable_command_buffer", text("FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,CONDITIONAL,WHILE"),
			graphs == "loops"},
	} {
		if o.is && !strings.Contains(flags, o.name) {
			options = append(options, option(o.name, o.value)...)
		}
	}
	return options
}

// option encodes an XLA flag and its value as a CompileOptionsProto (openxla/xla,
// xla/pjrt/proto/compile_options.proto), by the numbers of the fields
//
//	CompileOptionsProto { 7: entry { 1: name, 2: OptionOverrideProto { 1: text, 2: boolean or 3: number } } }
func option(name string, value []byte) []byte {
	return message(7, append(message(1, []byte(name)), message(2, value)...))
}

func text(s string) []byte   { return message(1, []byte(s)) }
func boolean(b bool) []byte  { return append(field(2, 0), map[bool]byte{true: 1}[b]) }
func number(n uint64) []byte { return binary.AppendUvarint(field(3, 0), n) }

// field and message are parts of protobuf messages: the head of a field with its number and type, and a field of bytes.
func field(id, wire uint64) []byte { return binary.AppendUvarint(nil, id<<3|wire) }

func message(id uint64, content []byte) []byte {
	return append(binary.AppendUvarint(field(id, 2), uint64(len(content))), content...)
}
