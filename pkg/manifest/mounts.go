package manifest

import "io/fs"

// Mount has the fields that storage mounts of every type share. Their data
// is attached to the container and never copied.
type Mount struct {
	Attributes
	// MountPath is relative to the root; empty means the entry's own path.
	MountPath string `json:"mount_path" manifest:"nonempty"`
	// ReadOnly defaults to true, for volume_mount to false.
	ReadOnly bool `json:"read_only"`
	// Strategy is how the storage is attached: by default a Docker volume of
	// the rclone driver; for s3_files_mount, which no driver serves, the
	// s3files tool in the container. A volume_mount has none.
	Strategy MountStrategy `json:"mount_strategy"`
}

func (m *Mount) setDefaults() {
	m.Ephemeral = true
	m.ReadOnly = true
	m.Strategy = &DockerVolume{Driver: DriverRclone}
}

func (m *Mount) mount() *Mount { return m }

// mounter is implemented by every entry type that embeds Mount.
type mounter interface {
	Entry
	mount() *Mount
}

// S3Mount attaches a bucket of Amazon S3 or of a store that speaks S3.
type S3Mount struct {
	Mount
	// Bucket is the bucket's name.
	Bucket string `json:"bucket"`
	// Prefix is the part of the bucket to attach; empty means all of it.
	Prefix string `json:"prefix"`
	// Region of the bucket.
	Region string `json:"region"`
	// EndpointURL is the address of a store that is not Amazon's.
	EndpointURL string `json:"endpoint_url"`
	// S3Provider is rclone's name of the store, default AWS.
	S3Provider string `json:"s3_provider"`
	// AccessKeyID, SecretAccessKey and SessionToken are credentials of the
	// store.
	AccessKeyID     *Credential `json:"access_key_id"`
	SecretAccessKey *Credential `json:"secret_access_key"`
	SessionToken    *Credential `json:"session_token"`
}

// Type implements Entry.
func (*S3Mount) Type() string { return TypeS3Mount }

func (m *S3Mount) setDefaults() {
	m.Mount.setDefaults()
	m.S3Provider = "AWS"
}

// GCSMount attaches a bucket of Google Cloud Storage.
type GCSMount struct {
	Mount
	// Bucket is the bucket's name.
	Bucket string `json:"bucket"`
	// Prefix is the part of the bucket to attach; empty means all of it.
	Prefix string `json:"prefix"`
	// Project is the one that the bucket belongs to.
	Project string `json:"project"`
	// Region of the bucket.
	Region string `json:"region"`
	// EndpointURL is the address of a store that is not Google's.
	EndpointURL string `json:"endpoint_url"`
	// AccessID and SecretAccessKey are an HMAC pair.
	AccessID        *Credential `json:"access_id"`
	SecretAccessKey *Credential `json:"secret_access_key"`
	// ServiceAccountFile is a path where the mount runs.
	ServiceAccountFile string `json:"service_account_file"`
	// ServiceAccountCredentials are the content of such a file.
	ServiceAccountCredentials *Credential `json:"service_account_credentials"`
	// AccessToken is a token of OAuth 2.
	AccessToken *Credential `json:"access_token"`
}

// Type implements Entry.
func (*GCSMount) Type() string { return TypeGCSMount }

// R2Mount attaches a bucket of Cloudflare R2.
type R2Mount struct {
	Mount
	// Bucket is the bucket's name.
	Bucket string `json:"bucket"`
	// Prefix is the part of the bucket to attach; empty means all of it.
	Prefix string `json:"prefix"`
	// AccountID is the account that the bucket belongs to.
	AccountID string `json:"account_id"`
	// CustomDomain stands in for the address that Cloudflare gives an account.
	CustomDomain string `json:"custom_domain"`
	// AccessKeyID and SecretAccessKey are credentials of the account.
	AccessKeyID     *Credential `json:"access_key_id"`
	SecretAccessKey *Credential `json:"secret_access_key"`
}

// Type implements Entry.
func (*R2Mount) Type() string { return TypeR2Mount }

// AzureBlobMount attaches a container of Azure Blob Storage.
type AzureBlobMount struct {
	Mount
	// Account is the storage account.
	Account string `json:"account"`
	// Container is the container's name.
	Container string `json:"container"`
	// Prefix is the part of the container to attach; empty means all of it.
	Prefix string `json:"prefix"`
	// Endpoint is the address of a store that is not Azure's.
	Endpoint string `json:"endpoint"`
	// IdentityClientID names the managed identity that has access.
	IdentityClientID string `json:"identity_client_id"`
	// AccountKey is a key of the account.
	AccountKey *Credential `json:"account_key"`
}

// Type implements Entry.
func (*AzureBlobMount) Type() string { return TypeAzureBlobMount }

// BoxMount attaches a folder of Box.
type BoxMount struct {
	Mount
	// Path is below the root folder.
	Path string `json:"path"`
	// RootFolderID is called folder_id in the ADK's dialect.
	RootFolderID string `json:"root_folder_id"`
	// BoxSubType is user (the default) or enterprise.
	BoxSubType string `json:"box_sub_type"`
	// BoxConfigFile is the path of an application's configuration where the
	// mount runs.
	BoxConfigFile string `json:"box_config_file"`
	// Impersonate is the id of the user to act as.
	Impersonate string `json:"impersonate"`
	// OwnedBy shows only what belongs to this login.
	OwnedBy string `json:"owned_by"`
	// ClientID and ClientSecret are those of an application.
	ClientID     *Credential `json:"client_id"`
	ClientSecret *Credential `json:"client_secret"`
	// AccessToken is a token of an application, Token one of OAuth 2 as rclone
	// writes it.
	AccessToken *Credential `json:"access_token"`
	Token       *Credential `json:"token"`
	// ConfigCredentials are the content of an application's configuration.
	ConfigCredentials *Credential `json:"config_credentials"`
}

// Type implements Entry.
func (*BoxMount) Type() string { return TypeBoxMount }

func (m *BoxMount) setDefaults() {
	m.Mount.setDefaults()
	m.BoxSubType = "user"
}

// S3FilesMount attaches an Amazon S3 Files file system. FileSystemID names
// the file system, MountTargetID one of its mount targets: one does not
// stand for the other.
type S3FilesMount struct {
	Mount
	// FileSystemID is the file system.
	FileSystemID string `json:"file_system_id"`
	// MountTargetID is one of its mount targets.
	MountTargetID string `json:"mount_target_id"`
	// Subpath is the part of the file system to attach; empty means all of it.
	Subpath string `json:"subpath"`
	// MountTargetIP is the address of the mount target.
	MountTargetIP string `json:"mount_target_ip"`
	// AccessPoint is the access point to attach through.
	AccessPoint string `json:"access_point"`
	// Region of the file system.
	Region string `json:"region"`
	// ExtraOptions are mount options; nil makes an option without a value.
	ExtraOptions map[string]*string `json:"extra_options"`
}

// Type implements Entry.
func (*S3FilesMount) Type() string { return TypeS3FilesMount }

func (m *S3FilesMount) setDefaults() {
	m.Mount.setDefaults()
	m.Strategy = &InContainer{Pattern: &S3FilesPattern{}}
}

// VolumeMount attaches a Docker volume or a tmpfs. Entries that are declared
// below it are seeded into it.
type VolumeMount struct {
	Mount
	// Volume is the name of a Docker volume; empty means one of its own.
	Volume string `json:"volume" manifest:"nonempty"`
	// Driver of the volume, default local.
	Driver string `json:"driver"`
	// DriverOptions go to the driver as they are.
	DriverOptions map[string]string `json:"driver_options"`
	// Tmpfs makes it a tmpfs instead of a volume.
	Tmpfs *Tmpfs `json:"tmpfs"`
	// Subpath is the part of the volume to mount; empty means all of it.
	Subpath string `json:"subpath"`
	// NoCopy keeps the image's files at the target out of a new volume.
	NoCopy bool `json:"nocopy"`
}

// Type implements Entry.
func (*VolumeMount) Type() string { return TypeVolumeMount }

func (m *VolumeMount) setDefaults() {
	m.Ephemeral = true
	m.Driver = DriverLocal
}

// Tmpfs bounds a memory file system.
type Tmpfs struct {
	// Size limit; 0 means the kernel's default.
	Size Bytes `json:"size" manifest:"positive"`
	// Mode of its root directory; nil means the engine's default.
	Mode *fs.FileMode `json:"mode"`
}
