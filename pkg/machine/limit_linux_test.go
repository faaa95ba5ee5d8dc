package machine

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAddressLimit asks a process under ulimit -v, which is this test again.
func TestAddressLimit(t *testing.T) {
	if os.Getenv("REVGNN_TEST_LIMITED") != "" {
		_, free := Memory()
		fmt.Println("free", free>>20, Room(8<<30))
		return
	}
	c := exec.Command("sh", "-c", `ulimit -v 8000000 && exec "$0" -test.run '^TestAddressLimit$'`, os.Args[0])
	c.Env = append(os.Environ(), "REVGNN_TEST_LIMITED=1")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "needs 8.0 GiB of memory") {
		t.Errorf("%v: %s", err, out)
	}
}
