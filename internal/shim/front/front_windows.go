package front

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// extensions are the possible endings of a program's file name. npm installs a .cmd.
var extensions = [...]string{".exe", ".cmd"}

// Exit codes of the shell for a command that can't be run.
const (
	exitCannot   = 126
	exitNoClient = 127
)

// Main runs the client as a child and returns its exit code, since on Windows a process cannot become another one. A job
// object ends both together. relay runs an app-server and relays between its streams and the caller's.
func (p *Program) Main(given []string, relay func(client string, args []string) (code int, err error)) int {
	client, tried, found := p.Find()
	if !found {
		say("there is no client behind this shim: neither " + p.ClientVar + " nor PATH leads to one")
		return exitNoClient
	}
	program, args, err := p.command(client, given)
	if err != nil {
		say(err.Error())
		return exitCannot
	}
	run := runDirectly
	if ModeOf() != Off {
		switch c := p.parse(given); {
		case c.Kind == Session:
			sayDoubts()
			p.look(c)
		case c.Kind == Server && (c.Listen == "" || c.Listen == "stdio://"):
			sayDoubts()
			run = relay
		}
	}
	rememberTried(append(tried, client)...)
	joinJob()
	code, err := run(program, args)
	if err != nil {
		say("running " + program + ": " + err.Error())
		return exitCannot
	}
	return code
}

// command returns the program to run for a client, and its arguments. What npm installs is a script for cmd.exe, which
// changes some arguments and would execute what others contain. So the client's JavaScript is run directly, as the script
// does.
func (p *Program) command(client string, args []string) (program string, withScript []string, err error) {
	dir, ok := strings.CutSuffix(client, p.Name+".cmd")
	if !ok {
		return client, args, nil
	}
	script := dir + "node_modules/" + p.script
	if !runnable(script) {
		return "", nil, errors.New(client + " is a script of cmd.exe, which does not hand on every argument as it is: set " + p.ClientVar + " to the client's .exe")
	}
	node := dir + "node.exe"
	if !runnable(node) {
		if node, err = exec.LookPath("node.exe"); err != nil {
			return "", nil, err
		}
	}
	return node, append([]string{script}, args...), nil
}

// runDirectly runs a program with this process's own streams.
func runDirectly(client string, args []string) (code int, err error) {
	child, err := os.StartProcess(client, append([]string{client}, args...), &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, err
	}
	state, err := child.Wait()
	if err != nil {
		return 0, err
	}
	return state.ExitCode(), nil
}

// joinJob puts this process into a job object that ends all its processes when its last handle is closed. The only handle
// is this process's, so the client ends when this process does.
func joinJob() {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return
	}
	windows.AssignProcessToJobObject(job, windows.CurrentProcess()) //nolint:errcheck // then the client may outlive a shim that is killed
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// endSignal ends a process: Windows cannot ask it to.
const endSignal = syscall.SIGKILL
