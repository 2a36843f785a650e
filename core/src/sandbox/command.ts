/** The command that starts a program in a sandbox of Linux, made by tools of util-linux alone. */
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'

/**
 * `full`: its own network, processes, mounts and IPC, and a root folder that holds the system's libraries and what is given to it.
 * `loopback`: the same, and its network has a loopback, by which the process reaches itself and nothing else. `open`: none of these. What
 * remains is Node's permission model, the empty environment, the limits, and another user when the host is root.
 */
export type Isolation = 'full' | 'loopback' | 'open'

/** The files and folders that a sandboxed process can read, by absolute real paths. */
export interface ReadableSet {
  /** Folders that can be read, with all that is in them. */
  readonly packages: readonly string[]
  readonly files: readonly string[]
  /** The symbolic links in `node_modules` by which packages find each other. */
  readonly links: readonly PackageLink[]
}

export interface PackageLink {
  /** The place of the link: the real path of its folder, and its name. */
  readonly path: string
  /** The real path of the package that the link leads to. */
  readonly target: string
}

/** The user `nobody`, as whom a plugin runs when the host is root. */
export const NOBODY = 65534
/** The programs that a sandbox is made with. `mount`, `mkdir` and `ln` are called by name, in the script below. */
const TOOLS = ['setpriv', 'prlimit', 'env']
/** The niceness of plugins, because the service itself comes first. More would leave a plugin next to nothing on a busy machine. */
const NICENESS = 5
const FULL_TOOLS = [...TOOLS, 'unshare', 'mount', 'chroot']
/** Tools, each of which can start a loopback. Debian has perl everywhere, and others ip. */
const LOOPBACK_TOOLS = ['ip', 'perl']
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
const LIBRARY_FOLDERS = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/share']
const DEVICES = ['/dev/null', '/dev/urandom']
// Limit of a user's threads. A fork bomb needs a way around Node's permission model first; then it ends here. On hosts that run as root all
// plugins are one user, on old kernels those of a plain user, too: a thousand processes of Node have a dozen threads each.
const MOST_THREADS = 16_384
// Limit of open handles, of which Node needs many, as it opens the modules of a package at once.
const MOST_HANDLES = 1024

/** The perl program that sets the flag `IFF_UP` of `lo` by `SIOCSIFFLAGS`, on a datagram socket of IPv4. */
const PERL_LOOPBACK =
  'my $lo = pack("a16 s x22", "lo", 1); my $s; socket($s, 2, 2, 0) && ioctl($s, 0x8914, $lo) or die "the loopback: $!\n"'

/**
 * Makes the root folder in the mount namespace of the sandbox alone, so that nothing of it is left when the process ends. It lies over
 * /sys, a folder that every Linux has and that nothing is taken from. There is no /proc in it: Node runs without.
 *
 * `mount -o bind,ro` makes two calls, the second of which sets the options of the bind.
 */
const SCRIPT = `set -e
umask 022
root=/sys
mount -t tmpfs -o size=1m,mode=755,nosuid,nodev claimcheck "$root"
into() { [ -d "$root$1" ] || mkdir -p "$root$1"; }
while [ "$1" != -- ]; do
  case $1 in
    ip) "$2" link set lo up; shift 2;;
    perl) "$2" -e '${PERL_LOOPBACK}'; shift 2;;
    folder) into "$3"; mount -o "bind,ro,nosuid,$2" "$3" "$root$3"; shift 3;;
    file) into "\${3%/*}"; : > "$root$3"; mount -o "bind,ro,nosuid,$2" "$3" "$root$3"; shift 3;;
    link) into "\${3%/*}"; ln -s "$2" "$root$3"; shift 3;;
  esac
done
shift
mount -o remount,bind,ro,nosuid,nodev "$root"
exec chroot "$root" "$@"`

/** The tools that this system lacks. */
export function missingTools(isolation: Isolation): readonly string[] {
  const needed = ['nice', ...(isolation === 'open' ? TOOLS : FULL_TOOLS)]
  const missing = needed.filter((name) => !pathOf(name))
  return isolation === 'loopback' && !loopbackTool() ? [...missing, LOOPBACK_TOOLS.join(' or ')] : missing
}

function loopbackTool(): string | undefined {
  return LOOPBACK_TOOLS.find(pathOf)
}

/**
 * Makes the command line of a sandboxed program.
 * @param program the program with its arguments, by its absolute path
 * @param dataMib limit of the memory that the program can write to: its heap, buffers, code and what it has mapped when it starts
 */
export function sandboxCommand(
  program: readonly string[],
  { readable, dataMib, isolation }: { readable: ReadableSet; dataMib: number; isolation: Isolation },
): { file: string; args: readonly string[]; env: Record<string, string> } {
  // Systems other than Linux have neither the tools nor these limits.
  if (process.platform !== 'linux') return { file: program[0]!, args: program.slice(1), env: {} }
  // When the host's thread ends, however it ends, so does what it started. A change of user forgets this, so it is said again inside.
  const start = ['-n', String(NICENESS), tool('setpriv'), '--pdeathsig=KILL']
  const around = isolation === 'open' ? [] : spaces(readable, isolation)
  const args = [...start, ...around, ...limits(isolation, dataMib), ...program]
  return { file: tool('nice'), args, env: { PATH: TOOL_FOLDERS.join(':'), LC_ALL: 'C' } }
}

/** The command line that drops privileges, clears the environment and sets limits. */
function limits(isolation: Isolation, dataMib: number): readonly string[] {
  const user = runsAsNobody(isolation) ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
  // In a user namespace of its own, a plain user has every capability.
  const bounds = isolation === 'open' ? [] : ['--bounding-set=-all']
  const without = [...user, ...bounds, '--inh-caps=-all', '--no-new-privs', '--pdeathsig=KILL']
  const most = [`--data=${dataMib * 1024 * 1024}`, '--core=0', `--nofile=${MOST_HANDLES}`, `--nproc=${mostThreads()}`]
  return [tool('env'), '-i', tool('setpriv'), ...without, tool('prlimit'), ...most]
}

/** The limit of threads. Where the system's own is lower, as on small machines, no program without privileges may set a higher one. */
function mostThreads(): number {
  const [, hard = MOST_THREADS] = /^Max processes +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return Math.min(MOST_THREADS, Number(hard))
}

/** The command line that makes namespaces and a root folder of its own. */
function spaces(readable: ReadableSet, isolation: Isolation): readonly string[] {
  const user = mayMount(isolation) ? [] : ['--user', '--map-root-user']
  const own = ['--net', '--pid', '--mount', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL']
  const name = isolation === 'loopback' ? loopbackTool() : undefined
  const loopback = name ? [name, tool(name)] : []
  const script = ['/bin/sh', '-c', SCRIPT, 'sandbox', ...loopback, ...view(readable), '--']
  return [tool('unshare'), ...user, ...own, '--', ...script]
}

/**
 * Arguments of the script that name all that the sandbox's root folder holds. What is nobody's program is `noexec`, too, which also keeps the
 * options of a file system that the host mounted so: a user namespace may not take them away.
 */
function view({ packages, files, links }: ReadableSet): readonly string[] {
  const present = LIBRARY_FOLDERS.filter(existsSync)
  const system = present.filter((folder) => realpathSync(folder) === folder)
  const aliases = present.filter((folder) => !system.includes(folder))
  const folders = outermost(packages).filter((folder) => !isWithin(folder, system))
  const isNew = (path: string) => !isWithin(path, [...system, ...folders])
  const mounted = (kind: 'folder' | 'file', options: string, paths: readonly string[]) =>
    paths.flatMap((path) => [kind, options, path])
  return [
    ...mounted('folder', 'nodev', system),
    ...aliases.flatMap((alias) => ['link', resolve(dirname(alias), readlinkSync(alias)), alias]),
    ...mounted('file', 'nodev', [...TOOLS.map(tool), process.execPath].filter(isNew)),
    ...mounted('file', 'noexec', DEVICES),
    ...mounted('folder', 'nodev,noexec', folders),
    ...mounted('file', 'nodev,noexec', [...new Set(files)].filter(isNew)),
    // A link within a folder above comes with it.
    ...links.filter(({ path }) => isNew(path)).flatMap(({ path, target }) => ['link', target, path]),
  ]
}

/** Selects the folders that are in no other one of the list. */
export function outermost(folders: readonly string[]): readonly string[] {
  const all = [...new Set(folders)]
  return all.filter(
    (folder) =>
      !isWithin(
        folder,
        all.filter((other) => other !== folder),
      ),
  )
}

/** Tells whether a path is one of the folders or in one of them. */
export function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep))
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/**
 * Tells whether the program runs as `nobody`. A user namespace holds only the user who made it, so who needs one stays that user: in it, without any
 * capability.
 */
export function runsAsNobody(isolation: Isolation): boolean {
  return isRoot() && (isolation === 'open' || mayMount(isolation))
}

/**
 * Tells whether the host can mount without a user namespace. Root of a container often has no CAP_SYS_ADMIN, and makes a user namespace as a plain
 * user does, where the system allows that. To start a loopback takes CAP_NET_ADMIN, too.
 */
function mayMount(isolation: Isolation): boolean {
  const needed = isolation === 'loopback' ? SYS_ADMIN | NET_ADMIN : SYS_ADMIN
  return isRoot() && (effectiveCapabilities() & needed) === needed
}

const SYS_ADMIN = 1n << 21n
const NET_ADMIN = 1n << 12n

/** The capabilities of this process; all, where the system does not tell. */
function effectiveCapabilities(): bigint {
  try {
    const [, mask] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))!
    return BigInt(`0x${mask}`)
  } catch {
    return -1n
  }
}

/** The path of a tool. One that is missing is looked for where it usually stands, so that the failure names it. */
function tool(name: string): string {
  return pathOf(name) ?? join(TOOL_FOLDERS[0]!, name)
}

function pathOf(name: string): string | undefined {
  const folder = TOOL_FOLDERS.find((folder) => existsSync(join(folder, name)))
  // The tool's folder is by its real path, as /bin may be a link; its name stays, as it may be a link to a program of many names.
  return folder && join(realpathSync(folder), name)
}
