package manifest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// ParseEnvFile reads variables in the dialect of docker run --env-file, with
// the quotes of Compose:
//
//   - Each line is NAME=VALUE, after an optional "export". Blank lines and
//     lines that start with # are skipped, and so is a NAME without a value,
//     which Docker takes for the caller's own variable.
//   - A value without quotes is everything up to the end of the line, blanks
//     and # included.
//   - A value in single quotes is literal. In double quotes, \n, \r, \t, \",
//     \\ and \$ are escapes; any other backslash stands for itself. Both may
//     go over several lines, and only blanks or a comment may follow.
//   - Nothing is expanded, and the last value of a name counts.
//
// The error is an *InvalidError, which holds no values, or what reading from
// r returned. A file has at most MaxSize bytes.
func ParseEnvFile(r io.Reader, filename string) (map[string]string, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read env file %q: %w", filename, err)
	}
	p := envParser{findings: findings{files: []string{filename}}, pos: Position{filename, 1, 1}, vars: map[string]string{}}
	p.file(data)
	if _, err := p.findings.sorted(); err != nil {
		return nil, err
	}
	return p.vars, nil
}

// envParser is the state of a parse.
type envParser struct {
	findings findings
	pos      Position // of the line that rest starts with
	rest     string
	vars     map[string]string
}

func (p *envParser) file(data []byte) {
	if len(data) > MaxSize {
		p.refuse(CodeTooLarge, fmt.Sprintf("the file is larger than %d bytes", MaxSize))
		return
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if err := checkEncoding(data); err != nil {
		p.pos.Line = err.pos.Line
		p.refuse(CodeEncoding, "the file is not UTF-8")
		return
	}
	for p.rest = string(data); p.rest != ""; {
		rest := p.assignment()
		p.pos.Line += strings.Count(p.rest[:len(p.rest)-len(rest)], "\n")
		p.rest = rest
	}
}

func (p *envParser) refuse(code, message string) {
	p.findings.add(Finding{Severity: SeverityError, Code: code, Message: message}, p.pos)
}

// assignment reads one line, or those that its quotes go over, and returns
// what follows.
func (p *envParser) assignment() (rest string) {
	line, rest, _ := strings.Cut(p.rest, "\n")
	name, value, assigned := strings.Cut(strings.TrimLeft(line, blanks), "=")
	if exported, ok := strings.CutPrefix(name, "export "); ok {
		name = strings.TrimLeft(exported, blanks)
	}
	if !assigned {
		name = strings.TrimSuffix(name, "\r")
	}
	switch {
	case name == "" && !assigned, strings.HasPrefix(name, "#"):
		return rest
	case name == "":
		p.refuse(CodeEnvFile, "no name stands before =")
		return rest
	case hasBlank(name):
		p.refuse(CodeEnvFile, fmt.Sprintf("%q is not a name; it has a blank", name))
		return rest
	case !assigned:
		return rest
	}
	if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") {
		return p.quoted(name, p.rest[len(line)-len(value):])
	}
	p.set(name, strings.TrimSuffix(value, "\r"))
	return rest
}

const blanks = " \t"

func (p *envParser) set(name, value string) {
	if strings.ContainsRune(value, 0) {
		p.refuse(CodeEnvFile, fmt.Sprintf("the value of %s has a NUL byte", name))
		return
	}
	p.vars[name] = value
}

// quoted reads a value from its opening quote on.
func (p *envParser) quoted(name, text string) (rest string) {
	value, after, closed := unquote(text)
	tail, rest, _ := strings.Cut(after, "\n")
	tail = strings.TrimSuffix(tail, "\r")
	comment := strings.TrimLeft(tail, blanks)
	switch {
	case !closed:
		p.refuse(CodeEnvFile, fmt.Sprintf("the quote around the value of %s has no end", name))
	case comment != "" && (comment[0] != '#' || comment == tail):
		p.refuse(CodeEnvFile, fmt.Sprintf("something follows the quoted value of %s", name))
	default:
		p.set(name, value)
	}
	return rest
}

var envEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\', '$': '$'}

// unquote reads up to the quote that text starts with.
func unquote(text string) (value, after string, closed bool) {
	var b strings.Builder
	quote := text[0]
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == quote {
			return b.String(), text[i+1:], true
		}
		if c == '\\' && quote == '"' && i+1 < len(text) {
			if escaped, ok := envEscapes[text[i+1]]; ok {
				c = escaped
				i++
			}
		}
		b.WriteByte(c)
	}
	return "", "", false
}
