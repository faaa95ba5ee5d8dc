package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/data"
)

// content is the content of the file that the tests download. It is long enough to be downloaded in parts.
var content = bytes.Repeat([]byte("reversible "), 20000)

func fileOf(b []byte) data.File {
	return data.File{Name: "some.npz", Bytes: int64(len(b)), SHA256: fmt.Sprintf("%x", sha256.Sum256(b))}
}

// fetchFrom fetches a file into dir from a test server, whose answers come from handler. The waiting times between
// attempts are very short.
func fetchFrom(ctx context.Context, dir string, file data.File, handler http.HandlerFunc) error {
	server := httptest.NewServer(handler)
	defer server.Close()
	f := newFetcher(Options{Mirror: server.URL})
	f.backoff, f.stall = time.Millisecond, 300*time.Millisecond
	err := f.all(ctx, data.Dataset{Name: "some", Files: []data.File{file}}, dir)
	f.client.CloseIdleConnections()
	return err
}

// serve answers as a web server should: it sends all of content, or only the requested range of bytes.
func serve(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// cut announces the length of b, sends only the first n bytes of b, and breaks the connection.
func cut(w http.ResponseWriter, b []byte, n int) {
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestDownloads(t *testing.T) {
	file := fileOf(content)
	half := len(content) / 2
	for _, c := range []struct {
		what     string
		part     []byte // the beginning of the file that an earlier download left
		handler  func(call int, w http.ResponseWriter, r *http.Request)
		calls    int    // expected number of requests
		want     string // the expected error; none if empty
		leftover int64  // expected size of the .part file after an error; 0 means no file, -1 any size
	}{
		{what: "a good server", calls: 1, handler: func(_ int, w http.ResponseWriter, r *http.Request) {
			serve(w, r)
		}},
		{what: "no Content-Length", calls: 1, handler: func(_ int, w http.ResponseWriter, r *http.Request) {
			for at := 0; at < len(content); at += 50000 {
				w.Write(content[at:min(at+50000, len(content))])
				w.(http.Flusher).Flush()
			}
		}},
		{what: "500 and 503, then good", calls: 3, handler: func(call int, w http.ResponseWriter, r *http.Request) {
			if call < 3 {
				w.WriteHeader([]int{500, 503}[call-1])
				return
			}
			serve(w, r)
		}},
		{what: "cut once, then resumed", calls: 2, handler: func(call int, w http.ResponseWriter, r *http.Request) {
			if call == 1 {
				cut(w, content, half)
			}
			if r.Header.Get("Range") == "" {
				http.Error(w, "a range was expected", http.StatusTeapot)
				return
			}
			serve(w, r)
		}},
		{what: "cut, and the server cannot resume", calls: 2,
			handler: func(call int, w http.ResponseWriter, r *http.Request) {
				if call == 1 {
					cut(w, content, half)
				}
				w.Write(content)
			}},
		{what: "cut again and again with progress", calls: 4,
			handler: func(call int, w http.ResponseWriter, r *http.Request) {
				start, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
				if start > 0 {
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(content)-1, len(content)))
					w.WriteHeader(http.StatusPartialContent)
				}
				if call < 4 {
					w.Write(content[start : start+70000])
					w.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				}
				w.Write(content[start:])
			}},
		{what: "an earlier part is resumed", part: content[:half], calls: 1,
			handler: func(_ int, w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Range") != fmt.Sprintf("bytes=%d-", half) {
					http.Error(w, "another range was expected", http.StatusTeapot)
					return
				}
				serve(w, r)
			}},
		{what: "an earlier part is whole already", part: content, calls: 0},
		{what: "an earlier part is wrong", part: bytes.Repeat([]byte("x"), half), calls: 2,
			handler: func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r) }},
		{what: "an earlier part is too long", part: bytes.Repeat([]byte("x"), len(content)+1), calls: 1,
			handler: func(_ int, w http.ResponseWriter, r *http.Request) { serve(w, r) }},
		{what: "a range from elsewhere", part: content[:half], calls: 2,
			handler: func(call int, w http.ResponseWriter, r *http.Request) {
				if call == 1 {
					w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
					w.WriteHeader(http.StatusPartialContent)
					return
				}
				serve(w, r)
			}},
		{what: "416", part: content[:half], calls: 2, handler: func(call int, w http.ResponseWriter, r *http.Request) {
			if call == 1 {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			serve(w, r)
		}},
		{what: "404", calls: 1, want: "does not exist (404 Not Found)",
			handler: func(_ int, w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
		{what: "403", calls: 1, want: "the server answered 403 Forbidden",
			handler: func(_ int, w http.ResponseWriter, r *http.Request) { w.WriteHeader(403) }},
		{what: "500 for ever", calls: 5, want: "after 5 attempts",
			handler: func(_ int, w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }},
		{what: "cut for ever", calls: 5, want: "after 5 attempts", leftover: 3,
			handler: func(_ int, w http.ResponseWriter, r *http.Request) { cut(w, content, 3) }},
		{what: "wrong bytes", calls: 1, want: "does not serve the expected file",
			handler: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.Write(bytes.Repeat([]byte("x"), len(content)))
			}},
		{what: "a login page", calls: 1, want: "serves 23 bytes where 220000 are expected",
			handler: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.Write([]byte("<html>please log in</ht"))
			}},
		{what: "too long without Content-Length", calls: 1, want: "longer than the 220000 bytes", leftover: -1,
			handler: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.(http.Flusher).Flush()
				w.Write(content)
				w.Write(content)
			}},
		{what: "too short without Content-Length", calls: 6, want: "unexpected EOF", leftover: int64(half),
			handler: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.(http.Flusher).Flush()
				w.Write(content[:half])
			}},
		{what: "silence", calls: 5, want: "nothing arrived for 300ms", leftover: 3,
			handler: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(content)))
				w.Write(content[:3])
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, file.Name)
			if c.part != nil {
				if err := os.WriteFile(path+".part", c.part, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			calls := 0
			err := fetchFrom(t.Context(), dir, file, func(w http.ResponseWriter, r *http.Request) {
				calls++
				c.handler(calls, w, r)
			})
			if calls != c.calls {
				t.Errorf("%d requests, want %d", calls, c.calls)
			}
			_, exists := os.Stat(path)
			if c.want != "" {
				mustFail(t, "fetch", err, c.want)
				if exists == nil {
					t.Error("a wrong file was put in place")
				}
				info, err := os.Stat(path + ".part")
				if c.leftover == 0 && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("an empty partial file stayed: %v, %v", info, err)
				}
				if c.leftover > 0 && (err != nil || info.Size() != c.leftover) {
					t.Errorf("the partial file is %v, %v; want %d bytes", info, err, c.leftover)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
				t.Errorf("the file has %d bytes, %v", len(got), err)
			}
			if _, err := os.Stat(path + ".part"); !errors.Is(err, os.ErrNotExist) {
				t.Error("the partial file stayed")
			}
		})
	}
}
