package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// mountSupport says how a store can be attached: by which tools in the
// container, and by which of the drivers that we translate for.
type mountSupport struct {
	patterns []string
	drivers  []string
}

var mountSupports = map[string]mountSupport{
	TypeS3Mount:        {[]string{PatternRclone, PatternMountpoint}, []string{DriverRclone, DriverMountpoint}},
	TypeGCSMount:       {[]string{PatternRclone, PatternMountpoint}, []string{DriverRclone, DriverMountpoint}},
	TypeR2Mount:        {[]string{PatternRclone, PatternMountpoint}, []string{DriverRclone}},
	TypeAzureBlobMount: {[]string{PatternRclone, PatternFuse}, []string{DriverRclone}},
	TypeBoxMount:       {[]string{PatternRclone}, []string{DriverRclone}},
	TypeS3FilesMount:   {[]string{PatternS3Files}, nil},
}

func (v *validator) mountEntry(at *docPath, e mounter) {
	m := e.mount()
	if m.MountPath != "" {
		if _, err := CleanPath(m.MountPath); err != nil {
			v.pathError(at.field("mount_path"), err)
		}
	}
	switch e := e.(type) {
	case *VolumeMount:
		v.volumeMount(at, e)
		return
	case *S3Mount:
		v.require(at, "bucket", e.Bucket)
		v.credentials(at, named{"access_key_id", e.AccessKeyID}, named{"secret_access_key", e.SecretAccessKey}, named{"session_token", e.SessionToken})
	case *GCSMount:
		v.require(at, "bucket", e.Bucket)
		v.credentials(at, named{"access_id", e.AccessID}, named{"secret_access_key", e.SecretAccessKey},
			named{"service_account_credentials", e.ServiceAccountCredentials}, named{"access_token", e.AccessToken})
	case *R2Mount:
		v.require(at, "bucket", e.Bucket)
		v.require(at, "account_id", e.AccountID)
		v.credentials(at, named{"access_key_id", e.AccessKeyID}, named{"secret_access_key", e.SecretAccessKey})
	case *AzureBlobMount:
		v.require(at, "account", e.Account)
		v.require(at, "container", e.Container)
		v.credentials(at, named{"account_key", e.AccountKey})
	case *BoxMount:
		v.credentials(at, named{"client_id", e.ClientID}, named{"client_secret", e.ClientSecret}, named{"access_token", e.AccessToken},
			named{"token", e.Token}, named{"config_credentials", e.ConfigCredentials})
	case *S3FilesMount:
		if e.FileSystemID == "" && e.MountTargetID == "" {
			v.fail(at.field("file_system_id"), CodeMissing, `"file_system_id" or "mount_target_id" is missing`, "")
		}
	}
	v.strategy(at.field("mount_strategy"), e.Type(), m.Strategy)
}

// named is a credential and its key.
type named struct {
	key        string
	credential *Credential
}

func (v *validator) credentials(at *docPath, list ...named) {
	for _, c := range list {
		if c.credential != nil && c.credential.Value == "" {
			v.secretRef(at.field(c.key), c.credential.Secret)
		}
	}
}

// strategy checks that a store can be attached in this way; nil is the
// default way.
func (v *validator) strategy(at *docPath, mountType string, s MountStrategy) {
	support := mountSupports[mountType]
	switch s := s.(type) {
	case *DockerVolume:
		at := at.field("driver")
		switch known := []string{DriverRclone, DriverMountpoint}; {
		case support.drivers == nil:
			v.fail(at, CodeMountConfig, fmt.Sprintf("no volume driver serves %s", mountType), "use in_container with pattern s3files")
		case isBlankName(s.Driver):
			v.fail(at, CodeMountConfig, "the driver is blank", "")
		case slices.Contains(known, s.Driver) && !slices.Contains(support.drivers, s.Driver):
			v.fail(at, CodeMountConfig, fmt.Sprintf("driver %q does not serve %s", s.Driver, mountType), anyOf(support.drivers))
		}
	case *InContainer:
		at := at.field("pattern")
		if s.Pattern == nil {
			v.fail(at, CodeMissing, `"pattern" is missing`, anyOf(support.patterns))
		} else if !slices.Contains(support.patterns, s.Pattern.Type()) {
			v.fail(at.field("type"), CodeMountConfig, fmt.Sprintf("pattern %q does not serve %s", s.Pattern.Type(), mountType), anyOf(support.patterns))
		}
		if p, ok := s.Pattern.(*RclonePattern); ok {
			v.oneOf(at.field("mode"), p.Mode, "", "fuse", "nfs")
		}
		if p, ok := s.Pattern.(*FusePattern); ok {
			v.oneOf(at.field("cache_type"), p.CacheType, "", "block_cache", "file_cache")
		}
	}
}

// isBlankName reports whether nothing of a name can be seen.
func isBlankName(s string) bool {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\u200b\u200c\u200d\u2060\ufeff", r)
	}) == ""
}

func (v *validator) volumeMount(at *docPath, e *VolumeMount) {
	if e.Strategy != nil {
		v.fail(at.field("mount_strategy"), CodeUnknownKey, "a volume_mount has no strategy", `use "driver" and "driver_options"`)
	}
	if e.Volume != "" && !objectPattern.MatchString(e.Volume) {
		v.fail(at.field("volume"), CodeInvalidValue, fmt.Sprintf("%q is not the name of a volume", e.Volume), "host paths are for extra_path_grants")
	}
	if isBlankName(e.Driver) && e.Driver != "" {
		v.fail(at.field("driver"), CodeMountConfig, "the driver is blank", "")
	}
	if e.Subpath != "" && e.Subpath != "." {
		if _, err := CleanPath(e.Subpath); err != nil {
			v.pathError(at.field("subpath"), err)
		}
	}
	if t := e.Tmpfs; t != nil {
		v.notNegative(at.field("tmpfs").field("size"), int64(t.Size))
		if e.Volume != "" || e.Subpath != "" || e.NoCopy || len(e.DriverOptions) > 0 {
			v.fail(at.field("tmpfs"), CodeConflict, "a tmpfs has no volume, subpath, nocopy or driver options", "")
		}
	}
	v.hostDevice(at.field("driver_options"), e)
}

// hostDevice wants a grant for a local volume that is a host path.
func (v *validator) hostDevice(at *docPath, e *VolumeMount) {
	device := e.DriverOptions["device"]
	if (e.Driver != "" && e.Driver != DriverLocal) || !strings.HasPrefix(device, "/") {
		return
	}
	for _, g := range v.manifest.ExtraPathGrants {
		granted := g.HostPath
		if granted == "" {
			granted = g.Path
		}
		if within(device, granted) && !strings.Contains(device, "..") {
			return
		}
	}
	v.fail(at.key("device"), CodeConflict, fmt.Sprintf("host path %q needs a grant that covers it", device), "declare it in extra_path_grants")
}
