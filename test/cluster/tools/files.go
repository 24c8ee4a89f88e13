package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
)

// numberedFiles are files whose content follows from their number, so that whoever reads them later knows what was lost.
type numberedFiles struct {
	dir         string
	count, size int
}

func (n *numberedFiles) flags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&n.dir, "dir", "/data", "directory")
	cmd.Flags().IntVar(&n.count, "count", 100, "files")
	cmd.Flags().IntVar(&n.size, "size", 4096, "bytes of each")
	return cmd
}

func writeCommand() *cobra.Command {
	n := &numberedFiles{}
	return n.flags(&cobra.Command{
		Use: "write", Short: "Write numbered files, each on disk before the next is begun", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for i := range n.count {
				if err := n.write(i); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

func verifyCommand() *cobra.Command {
	n := &numberedFiles{}
	return n.flags(&cobra.Command{
		Use: "verify", Short: "Fail unless every numbered file is there in full", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var errs []error
			for i := range n.count {
				data, err := os.ReadFile(n.name(i))
				if err == nil && string(data) != string(n.content(i)) {
					err = fmt.Errorf("%s has another content", n.name(i))
				}
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		},
	})
}

func (n *numberedFiles) name(i int) string { return filepath.Join(n.dir, strconv.Itoa(i)) }

func (n *numberedFiles) content(i int) []byte {
	var out []byte
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	for len(out) < n.size {
		out = hex.AppendEncode(out, sum[:])
		sum = sha256.Sum256(sum[:])
	}
	return out[:n.size]
}

func (n *numberedFiles) write(i int) error {
	f, err := os.Create(n.name(i))
	if err != nil {
		return err
	}
	_, err = f.Write(n.content(i))
	return errors.Join(err, f.Sync(), f.Close())
}
