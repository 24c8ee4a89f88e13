package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// journal is a file of numbered records, one per line: the number, and the content determined by it.
type journal struct {
	file        string
	count, size int
	every       time.Duration
}

func (j *journal) flags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&j.file, "file", "/data/records", "file")
	cmd.Flags().IntVar(&j.count, "count", 100, "records")
	cmd.Flags().IntVar(&j.size, "size", 64, "bytes of content of each")
	return cmd
}

func fileCommand() *cobra.Command {
	group := &cobra.Command{Use: "file", Short: "Numbered records in a file"}
	w := &journal{}
	write := w.flags(&cobra.Command{
		Use: "write", Short: "Append records up to a count, each on disk before the next is begun; continues where it was killed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.write(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "acknowledged %d\n", w.count)
			return nil
		},
	})
	write.Flags().DurationVar(&w.every, "every", 0, "pause between two records")
	v := &journal{}
	group.AddCommand(write, v.flags(&cobra.Command{
		Use: "verify", Short: "Fail unless every record up to the count is there, unchanged", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			again, err := v.verify()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "read %d, seen again %d\n", v.count, again)
			return nil
		},
	}))
	return group
}

func (j *journal) record(number int) string {
	return strconv.Itoa(number) + " " + string(content(number, j.size)) + "\n"
}

// write appends the records that are missing at the end. It first removes an incomplete record, which a killed
// writer has left.
func (j *journal) write(ctx context.Context) (err error) {
	f, err := os.OpenFile(j.file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	next, err := following(string(text[:whole]))
	if err != nil {
		return err
	}
	_, seekErr := f.Seek(int64(whole), io.SeekStart)
	if err := errors.Join(seekErr, f.Truncate(int64(whole))); err != nil {
		return err
	}
	pace := newPace(j.every)
	defer pace.stop()
	for i := next; i < j.count; i++ {
		_, writeErr := f.WriteString(j.record(i))
		if err := errors.Join(writeErr, f.Sync()); err != nil {
			return fmt.Errorf("writing record %d: %w", i, err)
		}
		if err := pace.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// following returns the number after the last record.
func following(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	last := text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
	word, _, _ := strings.Cut(last, " ")
	number, err := strconv.Atoi(word)
	if err != nil {
		return 0, fmt.Errorf("going on after %q: it is no record of ours", strings.TrimSpace(last))
	}
	return number + 1, nil
}

// verify returns how many records occur more than once. It fails for records that are missing, changed or not ours.
func (j *journal) verify() (again int, err error) {
	text, err := os.ReadFile(j.file)
	if err != nil {
		return 0, err
	}
	seen := make([]bool, j.count)
	var errs []error
	for line := range strings.Lines(string(text)) {
		word, _, _ := strings.Cut(line, " ")
		number, err := strconv.Atoi(word)
		switch {
		case err != nil || number < 0 || number >= j.count || line != j.record(number):
			errs = append(errs, fmt.Errorf("%q is no record of ours", strings.TrimSpace(line)))
		case seen[number]:
			again++
		default:
			seen[number] = true
		}
	}
	errs = append(errs, gaps(seen)...)
	if err := errors.Join(errs...); err != nil {
		return again, fmt.Errorf("reading %s: %w", j.file, err)
	}
	return again, nil
}

// gaps returns an error for each range of missing numbers.
func gaps(seen []bool) []error {
	var errs []error
	for i := 0; i < len(seen); i++ {
		if seen[i] {
			continue
		}
		first := i
		for i < len(seen) && !seen[i] {
			i++
		}
		if i-1 == first {
			errs = append(errs, fmt.Errorf("%d is missing", first))
		} else {
			errs = append(errs, fmt.Errorf("%d to %d are missing", first, i-1))
		}
	}
	return errs
}
