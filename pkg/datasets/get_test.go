package datasets

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/data"
)

func TestCancelledDownloadResumes(t *testing.T) {
	dir, file := t.TempDir(), fileOf(content)
	ctx, cancel := context.WithCancel(t.Context())
	err := fetchFrom(ctx, dir, file, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		w.Write(content[:100000])
		w.(http.Flusher).Flush()
		time.Sleep(50 * time.Millisecond)
		cancel()
		<-r.Context().Done()
	})
	mustFail(t, "cancelled", err, "was cancelled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error %v does not wrap the context's", err)
	}
	ranges := ""
	err = fetchFrom(t.Context(), dir, file, func(w http.ResponseWriter, r *http.Request) {
		ranges = r.Header.Get("Range")
		serve(w, r)
	})
	if err != nil || ranges != "bytes=100000-" {
		t.Errorf("resuming asked for %q: %v", ranges, err)
	}
}

func TestNoServer(t *testing.T) {
	server := httptest.NewServer(nil)
	address := server.URL
	server.Close()
	f := newFetcher(Options{Mirror: address})
	f.backoff = time.Millisecond
	err := f.all(t.Context(), data.Dataset{Name: "some", Files: []data.File{fileOf(content)}}, t.TempDir())
	mustFail(t, "no server", err, "after 5 attempts")
}

func TestProgress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	last := int64(0)
	f := newFetcher(Options{Mirror: server.URL + "/", Progress: func(name string, done, total int64) {
		if name != "some.npz" || done <= last || total != int64(len(content)) {
			t.Errorf("progress of %s: %d of %d after %d", name, done, total, last)
		}
		last = done
	}})
	if err := f.all(t.Context(), data.Dataset{Files: []data.File{fileOf(content)}}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if last != int64(len(content)) {
		t.Errorf("progress ended at %d", last)
	}
}

func TestFolderMirrorWorksOffline(t *testing.T) {
	mirror, dir := t.TempDir(), filepath.Join(t.TempDir(), "not", "there", "yet")
	f := newFetcher(Options{Mirror: mirror, Offline: true})
	set := data.Dataset{Name: "some", Files: []data.File{fileOf(content)}}
	mustFail(t, "empty mirror", f.all(t.Context(), set, dir), "the mirror does not have some.npz")
	if err := os.WriteFile(filepath.Join(mirror, "some.npz"), content[1:], 0o644); err != nil {
		t.Fatal(err)
	}
	mustFail(t, "short mirror file", f.all(t.Context(), set, dir), "unexpected EOF")
	if err := os.WriteFile(filepath.Join(mirror, "some.npz"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.all(t.Context(), set, dir); err != nil {
		t.Error(err)
	}
}

func TestUnwritableFolder(t *testing.T) {
	notAFolder := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notAFolder, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := fetchFrom(t.Context(), notAFolder, fileOf(content), serve)
	mustFail(t, "a file for a folder", err, "cannot write to the data directory")
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere: the test of a read-only folder is skipped")
	}
	readOnly := t.TempDir()
	if err := os.Chmod(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	mustFail(t, "read-only", fetchFrom(t.Context(), readOnly, fileOf(content), serve),
		"cannot write to the data directory")
}

// TestFullDisk writes to /dev/full, a device on which every write fails as on a full disk.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full: the test of a full disk is skipped")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "some.npz.part")); err != nil {
		t.Fatal(err)
	}
	mustFail(t, "full", fetchFrom(t.Context(), dir, fileOf(content), serve), "the disk is full")
}

func TestSecondHandSumsYieldToTheBlobID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.npz")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	file := fileOf(content)
	file.SHA256 = strings.Repeat("0", 64)
	mustFail(t, "wrong sum", verifyFile(path, file), "has the SHA-256")
	file.SHA256SecondHand = true
	mustFail(t, "no blob id", verifyFile(path, file), "has the SHA-256")
	file.GitBlob = fmt.Sprintf("%x", sha1.Sum(append([]byte(fmt.Sprintf("blob %d\x00", len(content))), content...)))
	if err := verifyFile(path, file); err != nil {
		t.Error(err)
	}
}

// TestTwoProcessesShareAFolder starts four downloads of the same file at the same time. Only one of the four may send a
// request. The other three must wait until the file is there, and then use it.
func TestTwoProcessesShareAFolder(t *testing.T) {
	dir, calls := t.TempDir(), make(chan int, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- 1
		serve(w, r)
	}))
	defer server.Close()
	results := make(chan error)
	for range 4 {
		go func() {
			f := newFetcher(Options{Mirror: server.URL})
			results <- f.all(t.Context(), data.Dataset{Files: []data.File{fileOf(content)}}, dir)
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if len(calls) != 1 {
		t.Errorf("%d requests", len(calls))
	}
}

func TestAbsent(t *testing.T) {
	dir := t.TempDir()
	info, err := Info("minesweeper")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, info.Files[0].Name)
	says := func(name, want string) {
		t.Helper()
		if why := Absent(name, dir); !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("%s is %q, want %q", name, why, want)
		}
	}
	says("minesweeper", "not here")
	for size, want := range map[int64]string{1: "damaged (minesweeper.npz has 1 bytes", info.Files[0].Bytes: ""} {
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		says("minesweeper", want)
	}
	says("zzz", "not known")
}
