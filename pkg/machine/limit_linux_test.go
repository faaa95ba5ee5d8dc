package machine

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestAddressLimit runs this test program once more, in a process whose address space is limited by ulimit -v. In that
// process, Room must refuse more memory than the limit.
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

// TestFaultLittleGroup runs this test program once more, in a control group whose memory is limited to 500 MiB. There,
// Memory must return this limit, and Room must return an error for 1 GiB.
func TestFaultLittleGroup(t *testing.T) {
	if os.Getenv("REVGNN_TEST_LIMITED") != "" {
		total, free := Memory()
		fmt.Println(total>>20, free > 0 && free < total, Room(1<<30))
		return
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestFaultLittleGroup$")
	c.Env = append(os.Environ(), "REVGNN_TEST_LIMITED=1")
	out, err := filestest.Group(t, 500<<20)(c).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "500 true needs 1.0 GiB of memory") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestHalfACore runs this test program once more, in a control group with a quota of half a core.
func TestHalfACore(t *testing.T) {
	if os.Getenv("REVGNN_TEST_LIMITED") != "" {
		fmt.Println("cores:", Cores())
		return
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestHalfACore$")
	c.Env = append(os.Environ(), "REVGNN_TEST_LIMITED=1")
	out, err := filestest.HalfACore(t)(c).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "cores: 1\n") {
		t.Errorf("%v: %s", err, out)
	}
}
