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

// fetcher downloads files. The number of attempts and the waiting times are fields, so that tests can set smaller
// values.
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

// failure is an error of a download. If the field final is true, another attempt would fail in the same way, and no
// other attempt is made.
type failure struct {
	err   error
	final bool
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func final(format string, args ...any) error {
	return &failure{fmt.Errorf(format, args...), true}
}

// download fetches a file from the given address, writes it to a temporary file, and verifies it. The argument part is
// the path of the temporary file. If an earlier call was interrupted, the temporary file already has the first bytes.
// Then download requests only the remaining bytes. If a file that arrived in several pieces has a wrong checksum,
// download fetches the whole file once more.
func (f *fetcher) download(ctx context.Context, file data.File, address, part string) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return unwritable(filepath.Dir(part), err)
	}
	defer func() {
		// After an error, the temporary file keeps the bytes that have arrived, and the next call requests only the
		// remaining bytes. An empty temporary file is removed.
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

// fill requests the missing part of a file and appends it to the temporary file out, until out holds the whole file.
// The result resumed is true if the bytes in out may come from several responses.
//
// After f.attempts failed attempts, fill returns an error. But each time that out has grown by another 64 KiB, fill
// counts failed attempts from 0 again.
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

// attempt makes one request for the missing part of a file, and appends the body of the response to the temporary file
// out. The argument done is the number of bytes that out already holds.
func (f *fetcher) attempt(ctx context.Context, file data.File, address string, out *os.File, done int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return final("the address %q is malformed (%w); correct the mirror", address, err)
	}
	// Ask for the file without compression, since an interrupted transfer of compressed data cannot be resumed at a
	// given byte of the file.
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

// accept checks the status of a response, and prepares the temporary file out for the response's body. The argument
// done is the number of bytes that out already holds. If done is not 0, the request asked only for the rest of the
// file. If the server sends the whole file instead, accept empties out. The result from is the number of bytes that out
// holds when accept returns.
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

// empty removes all content of a file.
func empty(out *os.File) error {
	if err := out.Truncate(0); err != nil {
		return writeError(out.Name(), err)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return writeError(out.Name(), err)
	}
	return nil
}

// startsAt tells whether the body of a response begins at byte number done of the file, counted from 0.
func startsAt(response *http.Response, done int64) bool {
	rest, ok := strings.CutPrefix(response.Header.Get("Content-Range"), "bytes ")
	start, _, found := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(start, 10, 64)
	return ok && found && err == nil && n == done
}

// receive appends the body of a response to out. The argument done is the number of bytes that out already holds.
// receive reads at most one byte more than the file should have, which is enough to see that the body is too long. If
// no byte arrives for the time f.stall, receive calls cancel, which ends the request.
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

// writeError returns the error for a failed write, with advice for the user.
func writeError(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return final("the disk is full: cannot write %s (%w); free some space or choose another folder with --data",
			path, err)
	}
	return final("cannot write %s (%w); choose another folder with --data", path, err)
}

// copyFile copies a file from a mirror that is a folder, and verifies the copy. The argument source is the path of the
// file in the mirror. The argument part is the path of the copy, which is a temporary file.
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
