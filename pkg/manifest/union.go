package manifest

// union is a set of types that a document tells apart by a "type" key.
type union[T any] []variant[T]

// variant creates an empty value of one type.
type variant[T any] struct {
	name   string
	create func() T
}

// create returns a value of the named type with its defaults.
func (u union[T]) create(name string) (T, bool) {
	for _, v := range u {
		if v.name == name {
			x := v.create()
			setDefaults(x)
			return x, true
		}
	}
	var none T
	return none, false
}

// all returns a value of each type with its defaults.
func (u union[T]) all() []T {
	list := make([]T, len(u))
	for i, v := range u {
		list[i], _ = u.create(v.name)
	}
	return list
}

func (u union[T]) names() []string {
	names := make([]string, len(u))
	for i, v := range u {
		names[i] = v.name
	}
	return names
}

// defaulter is implemented by pointers to types whose defaults are not all
// zero values. The decoder starts from the defaults and the encoder leaves
// them out.
type defaulter interface{ setDefaults() }

func setDefaults(p any) {
	if d, ok := p.(defaulter); ok {
		d.setDefaults()
	}
}
