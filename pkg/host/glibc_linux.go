//go:build linux && cgo

package host

// #include <features.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// // glibc is 1 if the C library is glibc, and 0 if it is another one. Only glibc has the function malloc_trim, which
// // returns freed memory to the operating system. With another C library, trim does nothing.
// enum { glibc = 1 };
// static void trim(void) { malloc_trim(0); }
// #else
// enum { glibc = 0 };
// static void trim(void) {}
// #endif
import "C"

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// glibc tells whether the C library is glibc. Other C libraries do not have the settings [Tunables].
const glibc = C.glibc == 1

func trim() { C.trim() }

// restart starts this program again, in the same process and with the same arguments, but with one environment variable
// changed or added. The argument is this variable with its value, in the form NAME=value. restart returns only if it
// fails.
func restart(setting string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the program cannot be started again with %s: %w", setting, err)
	}
	name, _, _ := strings.Cut(setting, "=")
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, name+"=") })
	err = syscall.Exec(program, os.Args, append(env, setting))
	return fmt.Errorf("%s cannot be started again with %s: %w", program, setting, err)
}
