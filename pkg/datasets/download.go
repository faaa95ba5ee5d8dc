package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// fetcher downloads files; tests set its numbers and times.
type fetcher struct {
	opts     Options
	client   *http.Client
	attempts int           // after this number of failed attempts, counted as fill describes, the fetcher gives up
	backoff  time.Duration // the wait before the second attempt; each further wait is twice as long
	stall    time.Duration // an attempt fails if no byte arrives for this time
}

func newFetcher(opts Options) *fetcher {
	return &fetcher{
		opts: opts,
		client: &http.Client{Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 20 * time.Second}).DialContext,
			TLSHandshakeTimeout:   20 * time.Second,
			ResponseHeaderTimeout: 30 * time.Second,
			ForceAttemptHTTP2:     true,
		}},
		attempts: 5, backoff: time.Second, stall: time.Minute,
	}
}

// failure is an error of a download; after a final one there is no other attempt.
type failure struct {
	err   error
	final bool
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func final(format string, args ...any) error {
	return &failure{fmt.Errorf(format, args...), true}
}

// download fetches a file into the temporary file part and verifies it. It goes on from bytes that are there, and
// fetches a file that came in pieces once more if its checksum is wrong.
func (f *fetcher) download(ctx context.Context, file data.File, address, part string) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return unwritable(filepath.Dir(part), err)
	}
	defer func() {
		// What has arrived stays for the next call, unless it is nothing.
		if info, lost := out.Stat(); err != nil && lost == nil && info.Size() == 0 && info.Mode().IsRegular() {
			os.Remove(part)
		}
		out.Close()
	}()
	for restarted := false; ; restarted = true {
		resumed, err := f.fill(ctx, file, address, out)
		if err != nil {
			return err
		}
		if err := out.Sync(); err != nil {
			return writeError(part, err)
		}
		wrong := verifyFile(part, file)
		if wrong == nil {
			return nil
		}
		if err := out.Truncate(0); err != nil {
			return writeError(part, err)
		}
		if !resumed || restarted {
			return fmt.Errorf("%s does not serve the expected file (%w); try again later or give a mirror",
				address, wrong)
		}
	}
}

// fill requests the rest of a file until out is whole. resumed says that bytes may come from several responses. It
// gives up after f.attempts failures in a row without 64 KiB of progress.
func (f *fetcher) fill(ctx context.Context, file data.File, address string, out *os.File) (resumed bool, err error) {
	const noticeable = 64 << 10
	failed, best := 0, int64(0)
	for {
		done, err := out.Seek(0, io.SeekEnd)
		if err != nil {
			return resumed, writeError(out.Name(), err)
		}
		if done > file.Bytes {
			if err := out.Truncate(0); err != nil {
				return resumed, writeError(out.Name(), err)
			}
			continue
		}
		resumed = resumed || done > 0
		if done == file.Bytes {
			return resumed, nil
		}
		if done >= best+noticeable {
			failed, best = 0, done
		}
		err = f.attempt(ctx, file, address, out, done)
		if ctx.Err() != nil {
			return resumed, fmt.Errorf("the download of %s was cancelled; it resumes next time (%w)",
				file.Name, context.Cause(ctx))
		}
		if err == nil {
			return resumed, nil
		}
		var fail *failure
		if errors.As(err, &fail) && fail.final {
			return resumed, err
		}
		if failed++; failed >= f.attempts {
			return resumed, fmt.Errorf("cannot download %s after %d attempts (%w); "+
				"check the connection, or give a mirror", address, failed, err)
		}
		select {
		case <-time.After(f.backoff << (failed - 1)):
		case <-ctx.Done():
		}
	}
}

// attempt makes one request for what follows the first done bytes, and appends the body to out.
func (f *fetcher) attempt(ctx context.Context, file data.File, address string, out *os.File, done int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return final("the address %q is malformed (%w); correct the mirror", address, err)
	}
	// A compressed transfer could not be resumed.
	request.Header.Set("Accept-Encoding", "identity")
	if done > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", done))
	}
	response, err := f.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if done, err = accept(response, address, out, done); err != nil {
		return err
	}
	if n := response.ContentLength; n >= 0 && n != file.Bytes-done {
		return final("%s serves %d bytes where %d are expected; "+
			"it is not the published file, check the address or the network's login page", address, done+n, file.Bytes)
	}
	return f.receive(cancel, response.Body, file, out, done)
}

// accept checks the status of a response to a request for what follows done bytes, and empties out if the server sends
// the whole file. from is what out then holds.
func accept(response *http.Response, address string, out *os.File, done int64) (from int64, err error) {
	switch code := response.StatusCode; {
	case code == http.StatusPartialContent && done > 0 && startsAt(response, done):
		return done, nil
	case code == http.StatusOK:
		// The server sends the whole file: either the request asked for it, or the server ignored the header Range.
		if done > 0 {
			return 0, empty(out)
		}
		return 0, nil
	case code == http.StatusPartialContent || code == http.StatusRequestedRangeNotSatisfiable:
		if err := empty(out); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("the server cannot resume the file")
	case code == http.StatusNotFound || code == http.StatusGone:
		return 0, final("%s does not exist (%s); check the mirror, or look where the authors moved it",
			address, response.Status)
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server answered %s", response.Status)
	default:
		return 0, final("%s cannot be downloaded: the server answered %s; check the address or give a mirror", address,
			response.Status)
	}
}

func empty(out *os.File) error {
	if err := out.Truncate(0); err != nil {
		return writeError(out.Name(), err)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return writeError(out.Name(), err)
	}
	return nil
}

// startsAt tells whether the body begins at byte done of the file.
func startsAt(response *http.Response, done int64) bool {
	rest, ok := strings.CutPrefix(response.Header.Get("Content-Range"), "bytes ")
	start, _, found := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(start, 10, 64)
	return ok && found && err == nil && n == done
}

// receive appends a body to out, at most one byte more than the file should have. It cancels the request if nothing
// arrives for f.stall.
func (f *fetcher) receive(cancel func(), body io.Reader, file data.File, out *os.File, done int64) error {
	stalled := time.AfterFunc(f.stall, cancel)
	defer stalled.Stop()
	body = io.LimitReader(body, file.Bytes-done+1)
	buffer := make([]byte, 256<<10)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			stalled.Reset(f.stall)
			if _, err := out.Write(buffer[:n]); err != nil {
				return writeError(out.Name(), err)
			}
			if done += int64(n); done > file.Bytes {
				return final("%s is longer than the %d bytes expected; it is not the published file",
					file.Name, file.Bytes)
			}
			if f.opts.Progress != nil {
				f.opts.Progress(file.Name, done, file.Bytes)
			}
		}
		if err == io.EOF && done < file.Bytes {
			err = io.ErrUnexpectedEOF
		}
		if err == io.EOF {
			return nil
		}
		if err != nil && !stalled.Stop() {
			return fmt.Errorf("nothing arrived for %v after %d of %d bytes", f.stall, done, file.Bytes)
		}
		if err != nil {
			return fmt.Errorf("the connection broke after %d of %d bytes (%w)", done, file.Bytes, err)
		}
	}
}

func writeError(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return final("the disk is full: cannot write %s (%w); free some space or choose another folder with --data",
			path, err)
	}
	return final("cannot write %s (%w); choose another folder with --data", path, err)
}

// copyFile copies a file from a mirror that is a folder to the temporary file part, and verifies it.
func (f *fetcher) copyFile(ctx context.Context, file data.File, source, part string) error {
	in, _, err := files.Open(source, "a folder with the published files")
	if err != nil {
		return fmt.Errorf("the mirror does not have %s: %w", file.Name, err)
	}
	defer in.Close()
	out, err := os.Create(part)
	if err != nil {
		return unwritable(filepath.Dir(part), err)
	}
	defer out.Close()
	if err := f.receive(func() {}, in, file, out, 0); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return verifyFile(part, file)
}
