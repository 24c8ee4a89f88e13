package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// content returns content that is determined by a number, so that a later reader detects loss and
// changes.
func content(number, size int) []byte {
	var out []byte
	sum := sha256.Sum256([]byte(strconv.Itoa(number)))
	for len(out) < size {
		out = hex.AppendEncode(out, sum[:])
		sum = sha256.Sum256(sum[:])
	}
	return out[:size]
}
