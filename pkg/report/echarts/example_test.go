package echarts_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// The example checks a file that is not the expected version of the library. Check returns an error. (The function
// Source reads the installed library, and calls Check.)
func ExampleCheck() {
	if err := echarts.Check([]byte("/* something else */")); err != nil {
		fmt.Println("not version", echarts.Version)
	}
	// Output: not version 5.6.0
}

// This example writes the script element of a page that loads the library. The attribute "integrity" makes the browser
// refuse any other file.
func ExampleIntegrity() {
	fmt.Printf("<script src=\"echarts.min.js\" integrity=%q></script>\n", echarts.Integrity())
	// Output: <script src="echarts.min.js" integrity="sha256-v0oiNSTkC3fDBL7GfhIiz1UfFIgM9Cxp3ARlWOEcB7E="></script>
}
