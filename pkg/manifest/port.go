package manifest

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
)

var errPort = errors.New(`not a port: write 8080, "18080:8080" or "127.0.0.1:18080:8080/tcp"`)

// ParsePort reads a port as documents and command lines write it:
// [[IP:][HOST_PORT]:]PORT[/PROTOCOL], an IPv6 address in brackets.
func ParsePort(s string) (Port, error) {
	var p Port
	p.setDefaults()
	s, protocol, ok := strings.Cut(s, "/")
	if ok {
		p.Protocol = protocol
	}
	i := strings.LastIndexByte(s, ':')
	if p.Port = portNumber(s[i+1:]); p.Port == 0 {
		return Port{}, errPort
	}
	if i < 0 {
		return p, nil
	}
	host := s[:i]
	i = strings.LastIndexByte(host, ':')
	if i >= 0 {
		p.HostIP = strings.TrimSuffix(strings.TrimPrefix(host[:i], "["), "]")
	}
	if host[i+1:] == "" && i >= 0 {
		return p, nil // an address and a free port
	}
	if p.HostPort = portNumber(host[i+1:]); p.HostPort == 0 {
		return Port{}, errPort
	}
	return p, nil
}

// portNumber is 0 for what is none.
func portNumber(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

func (p *Port) decodeNode(d *decoder, n *node, at *docPath) {
	switch n.kind {
	case mapNode:
		d.object(n, at, reflect.ValueOf(p).Elem())
	case intNode:
		if i := d.integer(n, at); i > 0 && i <= math.MaxUint16 {
			p.Port = int(i)
			return
		}
		d.report(n.pos, at, CodeInvalidValue, n.text+" is not from 1 to 65535", "")
	case stringNode:
		var err error
		if *p, err = ParsePort(n.text); err != nil {
			d.report(n.pos, at, CodeInvalidValue, strconv.Quote(n.text)+" is "+err.Error(), "")
		}
	default:
		d.wrongType(n, at, "a port")
	}
}
