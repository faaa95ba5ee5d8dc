package runs

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

func damaged(what string) error {
	return fmt.Errorf("the file is damaged (%s); put a copy in its place, or move it away and import an export",
		strings.Join(strings.Fields(what), " "))
}

// ofStore tells whether an error comes from SQLite.
func ofStore(err error) bool {
	var from *sqlite.Error
	return errors.As(err, &from)
}

// explain adds the file's name to an error, and to SQLite's errors what the user can do.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	var from *sqlite.Error
	if errors.As(err, &from) {
		switch from.Code() & 0xff { // the lower byte is SQLite's general code, the rest is detail
		case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
			err = damaged(from.Error())
		case codes.SQLITE_FULL:
			err = errors.New("the disk is full; nothing was added, and earlier records are kept: " +
				"make room there and run again")
		case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
			err = fmt.Errorf("cannot write it or its folder (%w); choose another file", from)
		case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
			err = fmt.Errorf("another process has been writing to it for %s (%w); run again when that is done",
				patience, from)
		case codes.SQLITE_IOERR:
			err = fmt.Errorf("reading or writing failed (%w); earlier records are kept: see to the disk", from)
		}
	}
	return fmt.Errorf("run records at %s: %w", s.path, err)
}
