package datasets

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// Get downloads and verifies the files of a dataset. It keeps right ones, replaces wrong ones and resumes; a file gets
// its name when it is whole and verified.
func Get(ctx context.Context, name string, opts Options) error {
	info, dir, err := published(name, opts)
	if err != nil {
		return err
	}
	return newFetcher(opts).all(ctx, info, dir)
}

// published describes a dataset's files, and the folder where they are kept.
func published(name string, opts Options) (info data.Dataset, dir string, err error) {
	if info, err = Info(name); err == nil {
		dir, err = Dir(opts.Dir)
	}
	return info, dir, err
}

// ensure downloads missing files, and returns their folder. A wrong file is an error here, since only [Get] was asked
// to replace it. Directions that cannot be had are none ([addDirections]).
func ensure(ctx context.Context, info data.Dataset, opts Options) (string, error) {
	dir, err := Dir(opts.Dir)
	if err != nil {
		return "", err
	}
	missing := false
	for _, file := range info.Files {
		err := verifyOnce(filepath.Join(dir, file.Name), file)
		if errors.Is(err, errMissing) {
			missing = true
		} else if err != nil {
			return "", fmt.Errorf("dataset %s: %w; replace it with `revgnn datasets get %s`",
				info.Name, err, info.Name)
		}
	}
	if !missing {
		return dir, nil
	}
	f, plain := newFetcher(opts), info
	plain.Directed = nil
	if err := f.all(ctx, plain, dir); err != nil {
		return dir, err
	}
	f.all(ctx, info, dir)
	return dir, nil
}

// fetcher downloads files; tests set its times.
type fetcher struct {
	opts    Options
	client  *http.Client
	backoff time.Duration // the wait before the second attempt; each further wait is twice as long
	stall   time.Duration // an attempt fails if no byte arrives for this time
}

const attempts = 5 // failures in a row, without noticeable progress, after which a download ends

func newFetcher(opts Options) *fetcher {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSHandshakeTimeout, transport.ResponseHeaderTimeout = 20*time.Second, 30*time.Second
	return &fetcher{opts, &http.Client{Transport: transport}, time.Second, time.Minute}
}

// finalError is an error of a download after which there is no other attempt.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func final(format string, args ...any) error { return finalError{fmt.Errorf(format, args...)} }

// all downloads each file that is missing or wrong.
func (f *fetcher) all(ctx context.Context, info data.Dataset, dir string) error {
	for _, file := range info.All() {
		path := filepath.Join(dir, file.Name)
		if verifyOnce(path, file) == nil {
			continue
		}
		if err := f.one(ctx, file, path); err != nil {
			return fmt.Errorf("dataset %s: %w", info.Name, err)
		}
	}
	return nil
}

// one fetches a file under a temporary name, verifies and renames it.
func (f *fetcher) one(ctx context.Context, file data.File, path string) error {
	source := file.Address
	if f.opts.Mirror != "" {
		source = strings.TrimSuffix(f.opts.Mirror, "/") + "/" + file.Name
	}
	remote := strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://")
	if remote && f.opts.Offline {
		state := "is not in the data directory " + filepath.Dir(path)
		if wrong := verifyFile(path, file); !errors.Is(wrong, errMissing) {
			state = fmt.Sprintf("in the data directory is not as published (%v)", wrong)
		}
		return fmt.Errorf("%s %s, and offline mode forbids the download; copy it there from %s, or go online", file.Name,
			state, file.Address)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return unwritable(filepath.Dir(path), err)
	}
	// Two processes must not download into one file at the same time.
	lock, err := files.AwaitLock(ctx, filepath.Join(filepath.Dir(path), ".lock"))
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("cancelled while another process downloads into %s (%w)", filepath.Dir(path),
				context.Cause(ctx))
		}
		return unwritable(filepath.Dir(path), err)
	}
	defer lock.Release()
	if verifyOnce(path, file) == nil {
		return nil
	}
	part := path + ".part"
	if remote {
		err = f.download(ctx, file, source, part)
	} else {
		err = f.copyFile(ctx, file, source, part)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return unwritable(filepath.Dir(path), err)
	}
	return nil
}

func unwritable(dir string, err error) error {
	return fmt.Errorf("cannot write to the data directory %s (%w); choose another with --data or REVGNN_DATA",
		dir, err)
}

// download fetches a file into the temporary file part and verifies it. It goes on from bytes that are there, and
// fetches a file that came in pieces once more if its checksum is wrong.
func (f *fetcher) download(ctx context.Context, file data.File, address, part string) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
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
// gives up after so many [attempts] without 64 KiB of progress.
func (f *fetcher) fill(ctx context.Context, file data.File, address string, out *os.File) (resumed bool, err error) {
	const noticeable = 64 << 10
	failed, best := 0, int64(0)
	for {
		info, err := out.Stat()
		if err != nil {
			return resumed, writeError(out.Name(), err)
		}
		done := info.Size()
		if done > file.Bytes {
			if err := out.Truncate(0); err != nil {
				return resumed, writeError(out.Name(), err)
			}
			done = 0
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
		if _, final := errors.AsType[finalError](err); final || err == nil {
			return resumed, err
		}
		if failed++; failed >= attempts {
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
	switch code := response.StatusCode; {
	case code == http.StatusPartialContent && done > 0 &&
		strings.HasPrefix(response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", done)):
	case code == http.StatusOK || code == http.StatusPartialContent || code == http.StatusRequestedRangeNotSatisfiable:
		// The server sends the whole file, or a part that was not asked for: what is there goes.
		if done > 0 {
			if err := out.Truncate(0); err != nil {
				return writeError(out.Name(), err)
			}
		}
		if done = 0; code != http.StatusOK {
			return errors.New("the server cannot resume the file")
		}
	case code == http.StatusNotFound || code == http.StatusGone:
		return final("%s does not exist (%s); check the mirror, or look where the authors moved it",
			address, response.Status)
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return fmt.Errorf("the server answered %s", response.Status)
	default:
		return final("%s cannot be downloaded: the server answered %s; check the address or give a mirror", address,
			response.Status)
	}
	if n := response.ContentLength; n >= 0 && n != file.Bytes-done {
		return final("%s serves %d bytes where %d are expected; "+
			"it is not the published file, check the address or the network's login page", address, done+n, file.Bytes)
	}
	return f.receive(cancel, response.Body, file, out, done)
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

// errMissing is wrapped by all errors about a file that does not exist.
var errMissing = errors.New("is missing")

// Verify compares the files of a dataset with the manifest by size and SHA-256; where that was reported by others, the
// Git blob ID in the manifest counts as well. The error names the first wrong file.
func Verify(name string, opts Options) error {
	info, dir, err := published(name, opts)
	if err != nil {
		return err
	}
	for _, f := range info.All() {
		if err := verifyFile(filepath.Join(dir, f.Name), f); err != nil {
			return fmt.Errorf("dataset %s: %w; fetch it with `revgnn datasets get %s`", name, err, name)
		}
	}
	return nil
}

// verifyFile compares size and checksum; it reads the whole file.
func verifyFile(path string, want data.File) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %w", path, errMissing)
	case err != nil:
		return fmt.Errorf("cannot look at the file: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case info.Size() != want.Bytes:
		return fmt.Errorf("%s has %d bytes instead of %d", path, info.Size(), want.Bytes)
	}
	f, _, err := files.Open(path, "the published file")
	if err != nil {
		return err
	}
	defer f.Close()
	sum, blob := sha256.New(), sha1.New()
	fmt.Fprintf(blob, "blob %d\x00", want.Bytes)
	into := io.Writer(sum)
	if want.SHA256SecondHand {
		into = io.MultiWriter(sum, blob)
	}
	if _, err := io.Copy(into, io.LimitReader(f, want.Bytes)); err != nil {
		return fmt.Errorf("cannot read the file: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		if want.SHA256SecondHand && hex.EncodeToString(blob.Sum(nil)) == want.GitBlob {
			return nil
		}
		return fmt.Errorf("%s has the SHA-256 %s instead of %s", path, got, want.SHA256)
	}
	return nil
}

// verified are files that this process has found right, by path, size, time and checksum.
var verified sync.Map

// verifyOnce is [verifyFile], but reads a right file again only after its size or time has changed.
func verifyOnce(path string, want data.File) error {
	state := ""
	if info, err := os.Stat(path); err == nil {
		state = fmt.Sprintf("%s %d %v %s", path, info.Size(), info.ModTime().UnixNano(), want.SHA256)
	}
	if _, ok := verified.Load(state); ok && state != "" {
		return nil
	}
	err := verifyFile(path, want)
	if err == nil {
		verified.Store(state, true)
	}
	return err
}

// Absent says in a few words why a dataset cannot be used from the folder dir: "not here", or which file is damaged; ""
// if nothing is wrong. It compares only the sizes of files, and leaves out that with the directions of edges, which
// most models do not need.
func Absent(name, dir string) (why string) {
	info, err := Info(name)
	if err != nil {
		return "not known"
	}
	for _, f := range info.Files {
		found, err := os.Stat(filepath.Join(dir, f.Name))
		switch {
		case err != nil:
			return "not here"
		case found.Size() != f.Bytes:
			return fmt.Sprintf("damaged (%s has %d bytes instead of %d; `revgnn datasets get %s` replaces it)", f.Name,
				found.Size(), f.Bytes, name)
		}
	}
	return ""
}
