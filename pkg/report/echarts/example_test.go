package echarts_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// A copy of the library that is not the expected version, byte for byte, is refused. echarts.Source reads the installed
// copy with this check.
func ExampleCheck() {
	if err := echarts.Check([]byte("/* something else */")); err != nil {
		fmt.Println("not version", echarts.Version)
	}
	// Output: not version 5.6.0
}

// A page that fetches the library tells the browser which bytes to accept.
func ExampleIntegrity() {
	fmt.Printf("<script src=\"echarts.min.js\" integrity=%q></script>\n", echarts.Integrity())
	// Output: <script src="echarts.min.js" integrity="sha256-v0oiNSTkC3fDBL7GfhIiz1UfFIgM9Cxp3ARlWOEcB7E="></script>
}
