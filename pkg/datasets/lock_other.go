//go:build !unix

package datasets

import "context"

// lockFolder does nothing on systems without flock. Two processes may then download one file at the same time; what
// they get is verified as always.
func lockFolder(context.Context, string) (unlock func(), err error) { return func() {}, nil }
