package manifest

import (
	"context"
	"fmt"
	"reflect"
)

// Processor changes a manifest before anything is planned, such as to add what
// every workspace of a platform has. It may change any field. Once it has
// returned it has no hold on the manifest: what is planned is a copy, so that
// later changes have no effect.
type Processor func(context.Context, *Manifest) error

// Process returns a copy of m that the processors have changed, in their order,
// and leaves m alone. The first error of a processor ends it. The result may be
// invalid: see Validate.
func (m *Manifest) Process(ctx context.Context, processors ...Processor) (*Manifest, error) {
	work := m.Clone()
	for i, process := range processors {
		if err := process(ctx, work); err != nil {
			return nil, fmt.Errorf("process manifest: processor %d: %w", i+1, err)
		}
	}
	return work.Clone(), nil
}

// Clone returns a copy that shares nothing with m.
func (m *Manifest) Clone() *Manifest {
	return deepCopy(reflect.ValueOf(m)).Interface().(*Manifest)
}

// deepCopy copies what manifests are made of.
func deepCopy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if v.IsNil() {
			return v
		}
	default:
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(deepCopy(v.Elem()))
	case reflect.Interface:
		out.Set(deepCopy(v.Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(deepCopy(v.Field(i)))
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(deepCopy(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			out.SetMapIndex(key, deepCopy(value))
		}
	default:
		return v
	}
	return out
}
