package ceph

import (
	"context"
	"errors"
)

// Keys returns the entries of the monitors' key store whose keys begin with the prefix.
func (c Client) Keys(ctx context.Context, prefix string) (map[string]string, error) {
	return question[keysAnswer](ctx, c, "reading the keys "+prefix, c.keys("dump", prefix)...)
}

type keysAnswer map[string]string

func (a keysAnswer) read() (map[string]string, error) {
	if a == nil {
		return nil, errors.New("the answer is null")
	}
	return a, nil
}

// SetKey stores an entry in the monitors' key store. The value is not passed as an argument, which other processes of the host could
// read.
func (c Client) SetKey(ctx context.Context, key, value string) error {
	return c.do(ctx, "storing the key "+key, Command{Args: c.keys("set", key, "-i", "-"), Input: []byte(value)})
}

// RemoveKey removes an entry. An entry that does not exist is no error.
func (c Client) RemoveKey(ctx context.Context, key string) error {
	return c.do(ctx, "removing the key "+key, Command{Args: c.keys("rm", key)})
}

// keys returns the arguments of a command about keys.
func (c Client) keys(args ...string) []string {
	args = append([]string{"config-key"}, args...)
	if c.KeysFrom == (Daemon{}) {
		return args
	}
	return append([]string{"tell", c.KeysFrom.String()}, args...)
}
