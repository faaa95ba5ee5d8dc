package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// Get downloads and verifies the files of a dataset. It keeps right ones, replaces wrong ones and resumes; a file gets
// its name when it is whole and verified.
func Get(ctx context.Context, name string, opts Options) error {
	info, err := Info(name)
	if err != nil {
		return err
	}
	dir, err := Dir(opts.Dir)
	if err != nil {
		return err
	}
	return newFetcher(opts).all(ctx, info, dir)
}

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
	if verifyFile(path, file) == nil {
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
	return verifyOnce(path, file)
}

func unwritable(dir string, err error) error {
	return fmt.Errorf("cannot write to the data directory %s (%w); choose another with --data or REVGNN_DATA",
		dir, err)
}
