// Command records keeps the run records that a group shares, as a service of its JupyterHub. People read the records as
// files, and add records through the service. Nobody can change or remove a shared record.
//
//	records --dir /srv/records --private /srv/jupyterhub/records.sqlite --listen :8082
//
//	POST /    JSON lines as `revgnn runs export FILE.jsonl` writes them, with the header "Authorization: token TOKEN"
//
// A POST adds one file with its new records, DIR/NAME/TIME.jsonl, by the name of the person to whom the hub gave the
// token. Records that are shared already, or came with revgnn, are left out; without others there is no file. If one
// record is refused, no file is added: one that `revgnn runs import` would refuse, for example for its checksum, or
// another with the ID of a shared one.
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
	"github.com/revgnn/revgnn/pkg/runs"
)

// maxBody is the largest size of a POST, in bytes.
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

// service has a store with all shared records and those that came with revgnn, and the folder dir, in which people see
// the shared records as files. hub is the address of the hub's API.
type service struct {
	hub, dir string
	mu       sync.Mutex // one POST at a time
	store    *runs.Store
}

func (s *service) serve(private, listen string) error {
	if s.hub == "" {
		return errors.New("JUPYTERHUB_API_URL is not set: the hub starts this service, see docker/hub/jupyterhub_config.py")
	}
	if err := s.open(private); err != nil {
		return err
	}
	server := http.Server{Addr: listen, Handler: s, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	return server.ListenAndServe()
}

// open opens the store, and adds the records that came with revgnn. People have these, too, and do not share them.
func (s *service) open(private string) (err error) {
	if s.store, err = runs.Open(private); err != nil {
		return err
	}
	_, err = s.store.AddCommitted()
	return err
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

// plain matches names that are safe as the name of a folder.
var plain = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]*$`)

// who asks the hub for the person whose token came with the request, and returns this person's name.
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
	known := err == nil && answer.StatusCode == http.StatusOK && user.Kind == "user"
	if token == "" || !known || !plain.MatchString(user.Name) {
		return "", errors.New("the hub knows nobody with this token")
	}
	return user.Name, nil
}

// add checks records and adds them to the shared records, as a new file. name is the name of the person who adds them.
func (s *service) add(name string, lines []byte, at time.Time) (added, skipped int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, 0, err
	}
	file := filepath.Join(dir, at.Format("20060102T150405.000000000Z")+".jsonl")
	// The file is there before the store keeps the records. If the store then fails, for example because its disk is
	// full, the file is removed, and the person can send the same records again.
	publish := func(fresh []runs.Record) error {
		err := files.Write(file, func(w io.Writer) error { return runs.WriteLines(w, fresh) })
		if err != nil {
			return err
		}
		return os.Chmod(file, 0o444)
	}
	added, skipped, err = s.store.ImportNew("records.jsonl", bytes.NewReader(lines), publish)
	if err != nil {
		os.Remove(file)
	}
	return added, skipped, err
}
