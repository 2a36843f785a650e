/** Starts a process of Node that can read what is given to it and do nothing else but talk with the host. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Isolation, outermost, type ReadableSet, sandboxCommand } from './command.ts'

export interface SandboxOptions {
  /** The module that runs, by its absolute real path, as all paths here. It can be read without being in `readable`. */
  readonly entry: string
  readonly readable: ReadableSet
  readonly args?: readonly string[]
  /** The limit of the heap. Buffers, young objects and compiled code have `BESIDE_HEAP_MIB` more. */
  readonly memoryMib?: number
  readonly isolation: Isolation
}

const HEAP_MIB = 128
/** Memory beside the heap. With less, the limit of data would end a process before the limit of its heap does, which leaves a trace that says why. */
const BESIDE_HEAP_MIB = 208
// The permission model's flag: Node 20 calls it experimental, 22 has both names, and newer versions the short one alone.
const PERMISSION_FLAG = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'
/**
 * The policy file that refuses code outside of files. Node 20 alone has policies, and no hooks for modules under its permission model:
 * `no-strings.ts`.
 */
const POLICY = process.allowedNodeEnvironmentFlags.has('--experimental-policy')
  ? fileURLToPath(new URL('../../src/sandbox/only-files.policy.json', import.meta.url))
  : undefined
/** Tells whether this version of Node has policies or hooks, so that plugins run code of files only: 22 has hooks from 22.15 on. */
export const KEEPS_TO_FILES = POLICY !== undefined || 'registerHooks' in module

/**
 * Starts a module in the sandbox. `stdio[3]` is a duplex stream to the process, `stdout` and `stderr` are what it prints: whoever starts it reads
 * them, or it waits. Its other handles are closed, its environment is empty, its working directory is the root folder. Only `kill('SIGKILL')` ends it
 * surely, and it is over with the event `close`: the event `exit` tells of the process that holds it. It dies with the thread of the host that
 * started it, even when that is killed.
 * @throws Error when a path cannot be given to Node
 */
export function startSandboxed({
  entry,
  readable,
  args = [],
  memoryMib = HEAP_MIB,
  isolation,
}: SandboxOptions): ChildProcess {
  const policy = POLICY === undefined ? [] : [POLICY]
  const all = { ...readable, files: [...readable.files, entry, ...policy] }
  const fromFiles = [
    '--disallow-code-generation-from-strings',
    ...policy.map((path) => `--experimental-policy=${path}`),
  ]
  const program = [
    process.execPath,
    ...permissions(all),
    ...networkFlags(isolation),
    ...flags(memoryMib),
    ...fromFiles,
    entry,
    ...args,
  ]
  return startProgram(program, all, { memoryMib, isolation })
}

/** Flags that allow sockets, which Node's permission model refuses from version 25 on. `full` has no network to reach anything by. */
function networkFlags(isolation: Isolation): readonly string[] {
  return isolation === 'loopback' && process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []
}

/**
 * Runs one line of JavaScript under the limits of a plugin, with nothing to read.
 *
 * @throws Error when Node cannot be measured
 */
export function startTrial(line: string, isolation: Isolation): ChildProcess {
  const program = [process.execPath, PERMISSION_FLAG, ...networkFlags(isolation), ...flags(HEAP_MIB), '-e', line]
  return startProgram(program, { packages: [], files: [], links: [] }, { memoryMib: HEAP_MIB, isolation })
}

/** Starts any program of Node in the sandbox: without what Node's permission model adds. */
export function startProgram(
  program: readonly string[],
  readable: ReadableSet,
  { memoryMib = HEAP_MIB, isolation }: Pick<SandboxOptions, 'memoryMib' | 'isolation'>,
): ChildProcess {
  const dataMib = startDataMib() + memoryMib + BESIDE_HEAP_MIB
  const { file, args, env } = sandboxCommand(program, { readable, dataMib, isolation })
  const nothing = openSync('/dev/null', 'r')
  try {
    // The child leads a session of its own: the id 0 and the terminal's Ctrl-C name its group of processes alone, across namespaces.
    return spawn(file, args, { cwd: '/', env, stdio: [...HANDLES, ...covers(nothing)], detached: true })
  } finally {
    closeSync(nothing)
  }
}

const STATUS_SCRIPT = "process.stdout.write(require('node:fs').readFileSync('/proc/self/status'))"

const START_TIMEOUT_MS = 10_000

/** Memory that an idle Node process maps, in MiB. A sandbox's limit is added to it. */
let startMib: number | undefined

/**
 * Measures what counts against `RLIMIT_DATA` when this version of Node starts, in MiB. It has to be measured: V8 of Node 24 and 26 reserves 512 MiB
 * for code and maps them writable, which takes no memory and cannot be used for anything else; that of 20 and 22 does not.
 * @throws Error when the system does not tell
 */
function startDataMib(): number {
  startMib ??= measureData()
  return startMib
}

function measureData(): number {
  // Systems other than Linux have no such limit.
  if (process.platform !== 'linux') return 0
  const status = execFileSync(process.execPath, ['-e', STATUS_SCRIPT], {
    encoding: 'utf8',
    env: {},
    timeout: START_TIMEOUT_MS,
  })
  const [, kib] = /^VmData:\s*(\d+) kB$/m.exec(status) ?? []
  if (kib === undefined) throw new Error('/proc/self/status has no VmData')
  return Math.ceil(Number(kib) / 1024)
}

const HANDLES = ['ignore', 'pipe', 'pipe', 'pipe'] as const
/** O_CLOEXEC, as Linux writes it in octal. */
const CLOSES_ON_EXEC = 0o2000000

/** Covers inherited handles with empty ones: whoever started the service may have left it handles that would go on to its children. */
function covers(nothing: number): number[] {
  const inherited = openHandles().filter((handle) => handle >= HANDLES.length && isInherited(handle))
  return new Array(Math.max(0, Math.max(0, ...inherited) + 1 - HANDLES.length)).fill(nothing)
}

function openHandles(): number[] {
  return existsSync('/proc/self/fdinfo') ? readdirSync('/proc/self/fdinfo').map(Number) : []
}

function isInherited(handle: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${handle}`, 'utf8')) ?? []
    return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0
  } catch {
    // A handle without such a file was closed since it was listed.
    return false
  }
}

/**
 * The flags by which Node refuses child processes, workers, native modules and writing, and reading of what is not named. Node follows links out of
 * what is named, so those are refused before. To resolve a package, it reads the link that leads there.
 */
function permissions({ packages, files, links }: ReadableSet): readonly string[] {
  // A path in a folder that is named, too, takes away the folder itself on Node 20.
  const paths = outermost([...packages, ...files, ...links.map(({ path }) => path)])
  const wrong = paths.find((path) => path.includes('*'))
  // Node would let the process read every path that begins with what stands before the star.
  if (wrong !== undefined) throw new Error(`the path contains a star: ${wrong}`)
  return [PERMISSION_FLAG, ...paths.map((path) => `--allow-fs-read=${path}`)]
}

function flags(memoryMib: number): readonly string[] {
  return ['--no-addons', '--no-warnings', `--max-old-space-size=${memoryMib}`]
}

/** Joins what two processes can read. */
export function together(one: ReadableSet, other: ReadableSet): ReadableSet {
  const links = new Map([...one.links, ...other.links].map((link) => [link.path, link]))
  return {
    packages: [...new Set([...one.packages, ...other.packages])],
    files: [...new Set([...one.files, ...other.files])],
    links: [...links.values()],
  }
}
