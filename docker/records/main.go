// Command records keeps a group's shared run records. People read them as files, and add to them through this service
// of the hub; nobody can change or remove what is there.
//
//	records --dir /srv/records --private /srv/jupyterhub/records.sqlite --listen :8082
//
//	POST /    JSON lines as `revgnn runs export FILE.jsonl` writes them, with the header "Authorization: token TOKEN"
//
// Each POST becomes one more file, DIR/NAME/TIME.jsonl, all of it or nothing: NAME is whom the hub gave the token to.
// A record must be one that `revgnn runs import` takes, with its checksum where it has one, and one whose ID is there
// already must be the same record. Records that are there already are no error; a POST with nothing new adds no file.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/results"
)

// maxBody bounds what one POST may add.
const maxBody = 64 << 20

func main() {
	s := service{hub: os.Getenv("JUPYTERHUB_API_URL")}
	flag.StringVar(&s.dir, "dir", "/srv/records", "folder of the shared records")
	private := flag.String("private", "/srv/jupyterhub/records.sqlite", "file with all records, to check new ones against")
	listen := flag.String("listen", ":8082", "address to serve")
	flag.Parse()
	if err := s.serve(*private, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "records:", err)
		os.Exit(1)
	}
}

// service is the store with the folder that people see of it.
type service struct {
	hub, dir string
	mu       sync.Mutex // one POST at a time
	store    *results.Store
}

func (s *service) serve(private, listen string) (err error) {
	if s.hub == "" {
		return errors.New("JUPYTERHUB_API_URL is not set: the hub starts this service, see docker/hub/jupyterhub_config.py")
	}
	if s.store, err = results.Open(private); err != nil {
		return err
	}
	server := http.Server{Addr: listen, Handler: s, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	return server.ListenAndServe()
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "records can be added, by POST; they are read as files", http.StatusMethodNotAllowed)
		return
	}
	name, err := s.who(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, fmt.Sprintf("more than %d MiB at once, or cut short: %v", maxBody>>20, err), http.StatusBadRequest)
		return
	}
	added, skipped, err := s.add(name, body, time.Now().UTC())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%d records were added, %d were there already\n", added, skipped)
}

// plain names are those that are safe as a folder's.
var plain = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]*$`)

// who asks the hub whose token came with the request.
func (s *service) who(r *http.Request) (string, error) {
	token := r.Header.Get("Authorization")
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, s.hub+"/user", nil)
	if err != nil {
		return "", err
	}
	ask.Header.Set("Authorization", token)
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return "", fmt.Errorf("the hub does not answer: %w", err)
	}
	defer answer.Body.Close()
	var user struct{ Kind, Name string }
	err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&user)
	if token == "" || answer.StatusCode != http.StatusOK || err != nil || user.Kind != "user" || !plain.MatchString(user.Name) {
		return "", errors.New("the hub knows nobody with this token")
	}
	return user.Name, nil
}

// add checks records and gives them a file of their own.
func (s *service) add(name string, lines []byte, at time.Time) (added, skipped int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, 0, err
	}
	file := filepath.Join(dir, at.Format("20060102T150405.000000000Z")+".jsonl")
	// The file comes first: where the store refuses its records, nobody has seen more than a hidden name.
	hidden := filepath.Join(dir, "."+filepath.Base(file))
	if err := files.WriteText(hidden, lines); err != nil {
		return 0, 0, err
	}
	defer os.Remove(hidden)
	added, skipped, err = s.store.ImportFrom("records.jsonl", bytes.NewReader(lines))
	if err != nil || added == 0 {
		return 0, skipped, err
	}
	if err := os.Chmod(hidden, 0o444); err != nil {
		return 0, 0, err
	}
	return added, skipped, os.Link(hidden, file) // fails where there is such a file
}
