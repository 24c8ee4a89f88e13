package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// content that follows from a number, so that whoever reads it later knows what was lost or changed.
func content(number, size int) []byte {
	var out []byte
	sum := sha256.Sum256([]byte(strconv.Itoa(number)))
	for len(out) < size {
		out = hex.AppendEncode(out, sum[:])
		sum = sha256.Sum256(sum[:])
	}
	return out[:size]
}
