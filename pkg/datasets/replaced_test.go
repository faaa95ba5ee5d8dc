package datasets

import (
	"archive/zip"
	"bytes"
)

// replaced returns a copy of the archive b with npy in place of the array with the given name. If npy is nil, the copy
// lacks this array. replaced returns nil if b is not an archive, or has no array with this name.
func replaced(b []byte, name string, npy []byte) []byte {
	old, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	found := false
	for _, f := range old.File {
		if f.Name == name+".npy" {
			found = true
			if npy == nil {
				continue
			}
			var into interface{ Write([]byte) (int, error) }
			if into, err = w.Create(f.Name); err == nil {
				_, err = into.Write(npy)
			}
		} else {
			err = w.Copy(f)
		}
		if err != nil {
			return nil
		}
	}
	if !found || w.Close() != nil {
		return nil
	}
	return out.Bytes()
}
