package manifest

// Volume drivers that this project translates mounts for, and Docker's own.
const (
	DriverRclone     = "rclone"
	DriverMountpoint = "mountpoint"
	DriverLocal      = "local"
)

// MountStrategy is how a storage mount is attached: *DockerVolume or
// *InContainer.
type MountStrategy interface {
	// Type is the value of the strategy's "type" key.
	Type() string
}

// Strategy types.
const (
	StrategyDockerVolume = "docker_volume"
	StrategyInContainer  = "in_container"
)

var strategyTypes = union[MountStrategy]{
	{StrategyDockerVolume, func() MountStrategy { return new(DockerVolume) }},
	{StrategyInContainer, func() MountStrategy { return new(InContainer) }},
}

// DockerVolume attaches the storage through a volume driver of the engine.
type DockerVolume struct {
	// Driver defaults to rclone.
	Driver string `json:"driver"`
	// DriverOptions go to the driver next to those made from the mount.
	DriverOptions map[string]string `json:"driver_options"`
}

// Type implements MountStrategy.
func (*DockerVolume) Type() string { return StrategyDockerVolume }

func (s *DockerVolume) setDefaults() { s.Driver = DriverRclone }

// InContainer runs a mount tool inside the container.
type InContainer struct {
	// Pattern is the tool and its settings.
	Pattern MountPattern `json:"pattern"`
}

// Type implements MountStrategy.
func (*InContainer) Type() string { return StrategyInContainer }

// MountPattern is a mount tool with its settings: *RclonePattern,
// *MountpointPattern, *FusePattern or *S3FilesPattern.
type MountPattern interface {
	// Type is the value of the pattern's "type" key.
	Type() string
}

// Pattern types.
const (
	PatternRclone     = "rclone"
	PatternMountpoint = "mountpoint"
	PatternFuse       = "fuse"
	PatternS3Files    = "s3files"
)

var patternTypes = union[MountPattern]{
	{PatternRclone, func() MountPattern { return new(RclonePattern) }},
	{PatternMountpoint, func() MountPattern { return new(MountpointPattern) }},
	{PatternFuse, func() MountPattern { return new(FusePattern) }},
	{PatternS3Files, func() MountPattern { return new(S3FilesPattern) }},
}

// RclonePattern mounts with rclone.
type RclonePattern struct {
	// Mode is fuse (the default) or nfs.
	Mode string `json:"mode"`
	// RemoteName is the section of the rclone configuration; empty means a
	// name of our own.
	RemoteName string `json:"remote_name"`
	// ExtraArgs are added to the command of the tool.
	ExtraArgs []string `json:"extra_args"`
	// NFSAddr is where rclone serves in nfs mode.
	NFSAddr string `json:"nfs_addr"`
	// NFSMountOptions are separated by commas.
	NFSMountOptions string `json:"nfs_mount_options" manifest:"commas"`
	// ConfigFilePath is an existing rclone configuration to start from.
	ConfigFilePath string `json:"config_file_path"`
}

// Type implements MountPattern.
func (*RclonePattern) Type() string { return PatternRclone }

func (p *RclonePattern) setDefaults() { p.Mode = "fuse" }

// MountpointPattern mounts with Mountpoint for Amazon S3. Its settings stand
// in for those that the mount itself does not have.
type MountpointPattern struct {
	// Bucket is the bucket to mount.
	Bucket string `json:"bucket"`
	// Prefix is the part of the bucket to mount; empty means all of it.
	Prefix string `json:"prefix"`
	// Region of the bucket.
	Region string `json:"region"`
	// EndpointURL is the address of a store that speaks S3.
	EndpointURL string `json:"endpoint_url"`
	// ExtraArgs are added to the command of the tool.
	ExtraArgs []string `json:"extra_args"`
}

// Type implements MountPattern.
func (*MountpointPattern) Type() string { return PatternMountpoint }

// FusePattern mounts Azure Blob Storage with blobfuse2.
type FusePattern struct {
	// Container repeats the mount's container in the ADK's dialect.
	Container string `json:"container"`
	// AllowOther lets users besides the mounting one in; default true.
	AllowOther bool `json:"allow_other"`
	// LogType and LogLevel default to syslog and log_debug.
	LogType  string `json:"log_type"`
	LogLevel string `json:"log_level"`
	// CacheType is block_cache (the default) or file_cache.
	CacheType string `json:"cache_type"`
	// CachePath is the directory of the cache in the container.
	CachePath string `json:"cache_path"`
	// CacheSizeMB is the size of the block cache in MB; nil means the tool's
	// default.
	CacheSizeMB *int `json:"cache_size_mb"`
	// BlockCacheBlockSizeMB is the size of one of its blocks in MB.
	BlockCacheBlockSizeMB int `json:"block_cache_block_size_mb"`
	// BlockCacheDiskTimeoutSec is how long blocks stay on disk, in seconds.
	BlockCacheDiskTimeoutSec int `json:"block_cache_disk_timeout_sec"`
	// FileCacheTimeoutSec is how long files stay in the cache, in seconds.
	FileCacheTimeoutSec int `json:"file_cache_timeout_sec"`
	// FileCacheMaxSizeMB is the size of the file cache in MB; nil means the
	// tool's default.
	FileCacheMaxSizeMB *int `json:"file_cache_max_size_mb"`
	// AttrCacheTimeoutSec, EntryCacheTimeoutSec and
	// NegativeEntryCacheTimeoutSec are how long attributes, entries and the
	// absence of entries are remembered, in seconds; nil means the tool's
	// default.
	AttrCacheTimeoutSec          *int `json:"attr_cache_timeout_sec"`
	EntryCacheTimeoutSec         *int `json:"entry_cache_timeout_sec"`
	NegativeEntryCacheTimeoutSec *int `json:"negative_entry_cache_timeout_sec"`
	// ExtraArgs are added to the command of the tool.
	ExtraArgs []string `json:"extra_args"`
}

// Type implements MountPattern.
func (*FusePattern) Type() string { return PatternFuse }

func (p *FusePattern) setDefaults() {
	p.AllowOther = true
	p.LogType = "syslog"
	p.LogLevel = "log_debug"
	p.CacheType = "block_cache"
	p.BlockCacheBlockSizeMB = 16
	p.BlockCacheDiskTimeoutSec = 3600
	p.FileCacheTimeoutSec = 120
}

// S3FilesPattern mounts with mount.s3files. Its settings stand in for those
// that the mount itself does not have.
type S3FilesPattern struct {
	// MountTargetID and MountTargetIP name the mount target.
	MountTargetID string `json:"mount_target_id"`
	MountTargetIP string `json:"mount_target_ip"`
	// AccessPoint is the access point to mount through.
	AccessPoint string `json:"access_point"`
	// Region of the file system.
	Region string `json:"region"`
	// ExtraOptions are mount options; nil makes an option without a value.
	ExtraOptions map[string]*string `json:"extra_options"`
	// ExtraArgs are added to the command of the tool.
	ExtraArgs []string `json:"extra_args"`
}

// Type implements MountPattern.
func (*S3FilesPattern) Type() string { return PatternS3Files }
