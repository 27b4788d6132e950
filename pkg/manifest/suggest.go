package manifest

import "strings"

// nearest suggests the name that was probably meant, or nothing.
func nearest(got string, names []string) string {
	best, bestDistance := "", 3
	for _, name := range names {
		// Half of a name is not near.
		if d := editDistance(strings.ToLower(got), name); d < bestDistance && 2*d < len(name) {
			best, bestDistance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean \"" + best + "\"?"
}

// anyOf suggests any of the names.
func anyOf(names []string) string { return "one of " + strings.Join(names, ", ") }

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours between two short strings. Long ones are simply far apart.
func editDistance(a, b string) int {
	const far = 64
	if len(a) > far || len(b) > far {
		return far
	}
	var before, prev, row [far + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev = prev, row
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
