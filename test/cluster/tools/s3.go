package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/spf13/cobra"
)

// objects are numbered objects in a bucket, with content determined by their number.
type objects struct {
	endpoint, region, bucket string
	count, size              int
	every, limit             time.Duration
}

func (o *objects) flags(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&o.endpoint, "endpoint", "", "URL of the store, http or https")
	f.StringVar(&o.region, "region", "us-east-1", "region, which most stores do not care about")
	f.StringVar(&o.bucket, "bucket", "numbers", "bucket")
	f.IntVar(&o.count, "count", 1, "objects")
	f.IntVar(&o.size, "size", 4096, "bytes of each")
	f.DurationVar(&o.limit, "timeout", time.Minute, "when to give up")
	return cmd
}

func s3Command() *cobra.Command {
	group := &cobra.Command{Use: "s3", Short: "Numbered objects in an S3 store; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are whose"}
	w := &objects{}
	write := w.flags(&cobra.Command{
		Use: "write", Short: "Put objects, each with a checksum, and read each back before the next", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.write(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "acknowledged %d\n", w.count)
			return nil
		},
	})
	write.Flags().DurationVar(&w.every, "every", 0, "pause between two objects")
	v := &objects{}
	group.AddCommand(write, v.flags(&cobra.Command{
		Use: "verify", Short: "Fail unless every object up to the count is there, unchanged", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := v.verify(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "read %d\n", v.count)
			return nil
		},
	}))
	return group
}

func (o *objects) client() (*minio.Client, error) {
	u, err := url.Parse(o.endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.Join(fmt.Errorf("reading the endpoint %q: it is no URL such as http://store:8080", o.endpoint), err)
	}
	return minio.New(u.Host, &minio.Options{
		Creds: credentials.NewEnvAWS(), Secure: u.Scheme == "https", Region: o.region, BucketLookup: minio.BucketLookupPath,
	})
}

func (o *objects) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	client, err := o.client()
	if err != nil {
		return err
	}
	if err := o.makeBucket(ctx, client); err != nil {
		return err
	}
	p := newPace(o.every)
	defer p.stop()
	for i := range o.count {
		data := content(i, o.size)
		if _, err := client.PutObject(ctx, o.bucket, strconv.Itoa(i), bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{SendContentMd5: true}); err != nil {
			return fmt.Errorf("putting object %d: %w", i, err)
		}
		if err := o.check(ctx, client, i); err != nil {
			return err
		}
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (o *objects) makeBucket(ctx context.Context, client *minio.Client) error {
	there, err := client.BucketExists(ctx, o.bucket)
	if err == nil && !there {
		err = client.MakeBucket(ctx, o.bucket, minio.MakeBucketOptions{Region: o.region})
	}
	if err != nil {
		return fmt.Errorf("making bucket %s: %w", o.bucket, err)
	}
	return nil
}

// check fails unless an object has the content of its number.
func (o *objects) check(ctx context.Context, client *minio.Client, number int) error {
	object, err := client.GetObject(ctx, o.bucket, strconv.Itoa(number), minio.GetObjectOptions{})
	if err != nil {
		return fmt.Errorf("getting object %d: %w", number, err)
	}
	defer object.Close()
	data, err := io.ReadAll(object)
	if err != nil {
		return fmt.Errorf("getting object %d: %w", number, err)
	}
	if !bytes.Equal(data, content(number, o.size)) {
		return fmt.Errorf("getting object %d: its %d bytes are not those that were put", number, len(data))
	}
	return nil
}

// verify checks all objects. The error names every object that is missing or changed.
func (o *objects) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	client, err := o.client()
	if err != nil {
		return err
	}
	var errs []error
	for i := range o.count {
		errs = append(errs, o.check(ctx, client, i))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}
