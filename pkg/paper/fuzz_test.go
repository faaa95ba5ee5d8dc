package paper

import (
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// FuzzProfile reads arbitrary texts as profiles. If a text is refused, the error must have one line. If a text is
// accepted, the method Candidates of the profile must return candidates or an error of one line.
func FuzzProfile(f *testing.F) {
	for _, name := range data.SettingsNames() {
		text, err := data.Settings(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"candidates":[{"models":["gcn"],"settings":{"hidden":[8,1e99],"lr":null}}]}`))
	f.Add([]byte(`{"chosen":[{"dataset":"cora","model":"gcn","settings":{"hidden":-1}}]}`))
	f.Add([]byte(`{"complexity":{"model":{"model":"gcn"},"quantities":[{"setting":"hidden","values":[-1]}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var p Profile
		accepted := filestest.Parse(t, func() (err error) {
			p, err = readProfile(text)
			return err
		})
		if !accepted {
			return
		}
		filestest.Parse(t, func() error {
			_, err := p.Candidates("cora", "gcn+rep")
			return err
		})
	})
}
