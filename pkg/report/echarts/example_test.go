package echarts_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// The example checks a text that is not the library in the expected version. So Check returns an error. (The function
// Source, which reads the installed library, calls Check as well.)
func ExampleCheck() {
	if err := echarts.Check([]byte("/* something else */")); err != nil {
		fmt.Println("not version", echarts.Version)
	}
	// Output: not version 5.6.0
}

// This example writes the script element with which a page loads the library. The attribute "integrity" makes the
// browser refuse the file if the content is not that of the expected version.
func ExampleIntegrity() {
	fmt.Printf("<script src=\"echarts.min.js\" integrity=%q></script>\n", echarts.Integrity())
	// Output: <script src="echarts.min.js" integrity="sha256-v0oiNSTkC3fDBL7GfhIiz1UfFIgM9Cxp3ARlWOEcB7E="></script>
}
