package manifest

import "testing"

func TestParsePort(t *testing.T) {
	tests := []struct {
		port string
		want Port // the zero Port means refused
	}{
		{"8080", Port{8080, 0, "127.0.0.1", "tcp"}},
		{"18080:8080", Port{8080, 18080, "127.0.0.1", "tcp"}},
		{"0.0.0.0:18080:8080/udp", Port{8080, 18080, "0.0.0.0", "udp"}},
		{"10.0.0.1::80", Port{80, 0, "10.0.0.1", "tcp"}},
		{"[::1]:1:2", Port{2, 1, "::1", "tcp"}},
		{"", Port{}},
		{"0", Port{}},
		{"65536", Port{}},
		{"-1", Port{}},
		{"0:80", Port{}},
		{":80", Port{}},
		{"a:80", Port{}},
		{"80:", Port{}},
	}
	for _, tt := range tests {
		t.Run(tt.port, func(t *testing.T) {
			got, err := ParsePort(tt.port)
			if got != tt.want || (err != nil) != (tt.want == Port{}) {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}
