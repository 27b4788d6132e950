package manifest

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestParseEnvFile(t *testing.T) {
	tests := []struct {
		name, file string
		want       map[string]string
	}{
		{"empty", "", map[string]string{}},
		{"lines", "A=1\nB=2\n", map[string]string{"A": "1", "B": "2"}},
		{"no end of line", "A=1", map[string]string{"A": "1"}},
		{"Windows ends of lines", "A=1\r\n\r\nB='2'\r\n", map[string]string{"A": "1", "B": "2"}},
		{"byte order mark", "\ufeffA=1", map[string]string{"A": "1"}},
		{"comments and blank lines", "# A=1\n\n \t\n  # B=2\nC=3\n", map[string]string{"C": "3"}},
		{"blanks before the name", " \tA=1", map[string]string{"A": "1"}},
		{"export", "export A=1\nexport \t B=2\nexport=3", map[string]string{"A": "1", "B": "2", "export": "3"}},
		{"a name alone", "A\nexport B\nC=", map[string]string{"C": ""}},
		{"the last one counts", "A=1\nA=2", map[string]string{"A": "2"}},
		{"a value is the rest of its line", "A= b # c \nB=x=y\nC=a\"b'c", map[string]string{"A": " b # c ", "B": "x=y", "C": "a\"b'c"}},
		{"nothing is expanded", "A=$B ${C} \\n\nD=\"${C}\"", map[string]string{"A": "$B ${C} \\n", "D": "${C}"}},
		{"single quotes", `A='a "b" \n $c #d'`, map[string]string{"A": `a "b" \n $c #d`}},
		{"double quotes", `A="a 'b' #c"`, map[string]string{"A": "a 'b' #c"}},
		{"escapes", `A="\n\r\t\"\\\$\d\'"`, map[string]string{"A": "\n\r\t\"\\$\\d\\'"}},
		{"empty quotes", "A=''\nB=\"\"", map[string]string{"A": "", "B": ""}},
		{"several lines", "A='1\n2\n'\nB=\"1\n\n2\"\nC=3", map[string]string{"A": "1\n2\n", "B": "1\n\n2", "C": "3"}},
		{"after the quote", "A='1' \nB='2' # c\nC=\"3\"\t#c", map[string]string{"A": "1", "B": "2", "C": "3"}},
		{"any name that Docker takes", "a.b-c=1\nÄ=2", map[string]string{"a.b-c": "1", "Ä": "2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseEnvFile(strings.NewReader(tt.file), ".env")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseEnvFileFindings(t *testing.T) {
	const secret = "hunter2"
	tests := []struct {
		name, file string
		want       string
	}{
		{"no name", "A=1\n=" + secret, ".env:2:1: no name stands before ="},
		{"blank in the name", "A =" + secret, `.env:1:1: "A " is not a name; it has a blank`},
		{"no end of the quote", "A=1\nB='" + secret + "\nC=1\n", ".env:2:1: the quote around the value of B has no end"},
		{"escaped end of the quote", `A="` + secret + `\"`, ".env:1:1: the quote around the value of A has no end"},
		{"more after the quote", "A='\n\n'\nB='1'" + secret + "\n", ".env:4:1: something follows the quoted value of B"},
		{"comment close to the quote", "A='1'#" + secret, ".env:1:1: something follows the quoted value of A"},
		{"NUL", "A=" + secret + "\nB=a\x00" + secret, ".env:2:1: the value of B has a NUL byte"},
		{"not UTF-8", "A=1\nB=\xff" + secret, ".env:2:1: the file is not UTF-8"},
		{"too large", "A=" + strings.Repeat("x", MaxSize), ".env:1:1: the file is larger than 16777216 bytes"},
		{"several", "=1\nA=1\n=2", ".env:1:1: no name stands before =\n.env:3:1: no name stands before ="},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vars, err := ParseEnvFile(strings.NewReader(tt.file), ".env")
			if vars != nil || !errors.Is(err, ErrInvalid) {
				t.Fatalf("got %v, error %v", vars, err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	broken := errors.New("broken")
	if _, err := ParseEnvFile(iotest.ErrReader(broken), ".env"); !errors.Is(err, broken) || !strings.Contains(err.Error(), ".env") {
		t.Errorf("with a broken reader: error %v", err)
	}
}
