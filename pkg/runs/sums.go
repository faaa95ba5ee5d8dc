package runs

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
)

// SQLite checks the structure of its file, but not the values: each row has a checksum. Rows of early versions get
// theirs when the file is opened for writing.

const (
	sumName   = "sum"
	sumColumn = `"` + sumName + `"`
	addSums   = "ALTER TABLE runs ADD COLUMN " + sumColumn + " TEXT NOT NULL DEFAULT ''"
)

// sumOf returns the SHA-256 of the cells of a row, each after its length, in hex digits.
func sumOf(cells []string) string {
	h := sha256.New()
	for _, c := range cells {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(c))))
		h.Write([]byte(c))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hasSums(q querier) (has bool, err error) {
	err = q.QueryRow("SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'sum'").Scan(&has)
	return has, err
}

func (s *Store) completeSums(tx *sql.Tx) error {
	has, err := hasSums(tx)
	if err != nil {
		return err
	}
	if !has {
		if _, err := tx.Exec(addSums); err != nil {
			return err
		}
	}
	s.sums = true
	sums, err := missingSums(tx)
	if err != nil {
		return err
	}
	for id, sum := range sums {
		if _, err := tx.Exec("UPDATE runs SET "+sumColumn+" = ? WHERE id = ?", sum, id); err != nil {
			return err
		}
	}
	return nil
}

// missingSums computes the checksums of the rows that have none, by ID.
func missingSums(tx *sql.Tx) (map[string]string, error) {
	sums := map[string]string{}
	err := rowsOf(tx, sumColumn, "WHERE "+sumColumn+" = ''", nil, func(cells []string, _ string) error {
		sums[cells[0]] = sumOf(cells)
		return nil
	})
	return sums, err
}

// Repair removes damaged records, and returns their IDs.
func (s *Store) Repair() (removed []string, err error) {
	removed = []string{}
	err = s.write(func(tx *sql.Tx) error {
		if err := s.completeSums(tx); err != nil {
			return err
		}
		err := rowsOf(tx, sumColumn, "", nil, func(cells []string, sum string) error {
			if _, unreadable := fromCells(cells); sum != sumOf(cells) || unreadable != nil {
				removed = append(removed, cells[0])
			}
			return nil
		})
		for _, id := range removed {
			if err == nil {
				_, err = tx.Exec("DELETE FROM runs WHERE id = ?", id)
			}
		}
		return err
	})
	if err != nil {
		return nil, s.explain(err)
	}
	return removed, nil
}
