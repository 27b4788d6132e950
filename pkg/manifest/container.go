package manifest

import "time"

// EnvVar is one environment variable. Exactly one of Value, Secret and
// FromEnv says where its value comes from.
type EnvVar struct {
	// Name is not empty and holds neither = nor NUL.
	Name string
	// Value is the literal value.
	Value *string
	// Secret is the name of a declared secret.
	Secret string
	// FromEnv is the name of a variable of the caller's environment.
	FromEnv string
	// Default is the value when the caller does not have FromEnv; nil makes
	// that an error.
	Default *string
	// Description for people and models.
	Description string
	// Ephemeral values never reach an image.
	Ephemeral bool
	// Pos is where the document names the variable, zero for one built in Go.
	// It is no part of the canonical form.
	Pos Position
}

// User is an account of the workspace.
type User struct {
	// Name of the account.
	Name string `json:"name"`
	// UID and GID are chosen when the workspace is compiled if nil.
	UID *int `json:"uid"`
	GID *int `json:"gid"`
	// Home and Shell are absolute paths.
	Home  string `json:"home"`
	Shell string `json:"shell"`
	// Groups are the names of further groups.
	Groups []string `json:"groups" manifest:"account"`
}

// Group is a group of accounts.
type Group struct {
	// Name of the group.
	Name string `json:"name"`
	// GID is chosen when the workspace is compiled if nil.
	GID *int `json:"gid"`
	// Users are the names of its members.
	Users []string `json:"users" manifest:"account"`
}

// PathGrant is a path outside the root that the workspace may use.
type PathGrant struct {
	// Path is absolute, clean and not the root of the file system.
	Path string `json:"path"`
	// HostPath is bound to Path in the container; empty means that the grant
	// only allows access.
	HostPath string `json:"host_path"`
	// ReadOnly grants no writing.
	ReadOnly bool `json:"read_only"`
	// Description for people and models.
	Description string `json:"description"`
}

// Port is an exposed port of the container.
type Port struct {
	// Port of the container, 1 to 65535.
	Port int `json:"port"`
	// HostPort is where it is published; 0 means a free port.
	HostPort int `json:"host_port"`
	// HostIP defaults to 127.0.0.1.
	HostIP string `json:"host_ip"`
	// Protocol is tcp (the default), udp or sctp.
	Protocol string `json:"protocol"`
}

func (p *Port) setDefaults() {
	p.HostIP = "127.0.0.1"
	p.Protocol = "tcp"
}

// NetworkNone cuts the container off.
const NetworkNone = "none"

// networkDefault is what documents may write for the engine's default.
const networkDefault = "default"

// Resources bound the container. Zero means no bound.
type Resources struct {
	// CPUs is a number of processors; fractions are fine.
	CPUs float64 `json:"cpus" manifest:"positive"`
	// Memory and ShmSize are in bytes.
	Memory  Bytes `json:"memory" manifest:"positive"`
	ShmSize Bytes `json:"shm_size" manifest:"positive"`
	// Pids is the largest number of processes.
	Pids int `json:"pids" manifest:"positive"`
	// Ulimits by name, such as nofile.
	Ulimits map[string]Ulimit `json:"ulimits"`
	// ExecTimeout bounds one command, SessionTimeout the whole workspace.
	ExecTimeout    time.Duration `json:"exec_timeout" manifest:"positive"`
	SessionTimeout time.Duration `json:"session_timeout" manifest:"positive"`
}

// Bytes is a size. Documents may use Docker's units: 512m, 1.5g.
type Bytes int64

// Ulimit is a resource limit; -1 is unlimited.
type Ulimit struct {
	// Soft is the limit in force, Hard the highest that it may be raised to.
	Soft int `json:"soft"`
	Hard int `json:"hard"`
}

// Secret says where the caller finds a secret; exactly one field is set.
type Secret struct {
	// Env is the name of a variable of the caller's environment.
	Env string `json:"env"`
	// File is a path on the caller's machine, relative to the base directory.
	// One line break at its end is no part of the secret.
	File string `json:"file"`
}

// SecretRef names a declared secret.
type SecretRef struct {
	// Secret is the name.
	Secret string `json:"secret"`
}

// Credential is a literal value or the name of a declared secret.
type Credential struct {
	Value  string
	Secret string
}

// IaC is infrastructure that is applied before the container is created.
type IaC struct {
	// Provider is terraform, tofu or pulumi.
	Provider string `json:"provider"`
	// WorkingDirectory may be relative to the caller's base directory.
	WorkingDirectory string `json:"working_directory"`
	// Variables of the infrastructure.
	Variables map[string]string `json:"variables"`
	// OutputEnvMapping goes from output to environment variable.
	OutputEnvMapping map[string]string `json:"output_env_mapping"`
	// DestroyOnExit defaults to true.
	DestroyOnExit bool `json:"destroy_on_exit"`
	// Timeout of each run, default 300 s.
	Timeout time.Duration `json:"timeout" manifest:"positive"`
}

func (i *IaC) setDefaults() {
	i.DestroyOnExit = true
	i.Timeout = 300 * time.Second
}

// Command is the main process of the container.
type Command struct {
	// Image means the image's own command.
	Image bool
	// Words are the command's arguments; nothing passes through a shell.
	Words []string
}

// Healthcheck as in Docker and Compose.
type Healthcheck struct {
	// Test starts with CMD, CMD-SHELL or NONE.
	Test []string `json:"test" manifest:"test"`
	// Durations of zero mean the engine's defaults.
	Interval      time.Duration `json:"interval"`
	Timeout       time.Duration `json:"timeout"`
	StartPeriod   time.Duration `json:"start_period"`
	StartInterval time.Duration `json:"start_interval"`
	// Retries of zero means the engine's default.
	Retries int `json:"retries"`
}
