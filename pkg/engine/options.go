package engine

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/cpu"
)

// compileOptions returns revgnn's options for XLA's CPU compiler, encoded as a protobuf message. There is one option,
// and only for processors with AVX-512: the compiler shall use the whole width of the vector registers, 512 bits. By
// default it uses half of this width, and sums over neighbours take 1.3 to 2.3 times as long
// (docs/notes/2026-11-compiler.md). The argument flags is the value of the environment variable XLA_FLAGS. If the user
// has set the option there, compileOptions returns nil.
//
// go-xla passes its own options with each graph, also as an encoded protobuf message. The result of compileOptions is
// appended to that message. Two encoded messages, one after the other, count as one message with the fields of both
// (protobuf.dev/programming-guides/encoding, "Last One Wins").
func compileOptions(flags string) []byte {
	const width = "xla_cpu_prefer_vector_width"
	if !cpu.X86.HasAVX512F || strings.Contains(flags, width) {
		return nil
	}
	return optionOverride(width, 512)
}

// optionOverride encodes one option for XLA's compiler: the name of an XLA flag, and its value. The result is a
// protobuf message of the type CompileOptionsProto (openxla/xla, xla/pjrt/proto/compile_options.proto). Only the field
// env_option_overrides, which has the number 7, is set. Written with the numbers of the fields, the message is
//
//	CompileOptionsProto { 7: entry { 1: name, 2: OptionOverrideProto { 3: value } } }
func optionOverride(name string, value uint64) []byte {
	const bytes, number = 2, 0 // protobuf's codes for two types of values
	field := func(id, wire uint64) []byte { return binary.AppendUvarint(nil, id<<3|wire) }
	message := func(id uint64, content []byte) []byte {
		return append(binary.AppendUvarint(field(id, bytes), uint64(len(content))), content...)
	}
	setting := binary.AppendUvarint(field(3, number), value)
	return message(7, append(message(1, []byte(name)), message(2, setting)...))
}
