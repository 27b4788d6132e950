//go:build !unix

package materialize

const openFlags = 0
