/** Says why plugins cannot run in processes of their own on this system, and what can be done about it. */
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Isolation, isRoot, missingTools, type ReadableSet, runsAsNobody } from './command.ts'
import { KEEPS_TO_FILES, startTrial } from './sandbox.ts'

const OTHERS_READ = 0o004
const OTHERS_ENTER = 0o001

const problems = new Map<Isolation, Promise<string | undefined>>()

/** The reason plugins cannot be isolated here, as one plain sentence; undefined when they can be. It is tried once. */
export function isolationProblem(isolation: Isolation = 'full'): Promise<string | undefined> {
  const known = problems.get(isolation)
  if (known) return known
  const problem = tryOnce(isolation)
  problems.set(isolation, problem)
  return problem
}

async function tryOnce(isolation: Isolation): Promise<string | undefined> {
  if (!KEEPS_TO_FILES)
    return `Node ${process.version} cannot keep plugins to the code in their files: take 22.15, 24 or a newer one`
  if (process.platform !== 'linux') {
    return isolation === 'open'
      ? undefined
      : `plugins can be isolated on Linux only, and this system is ${process.platform}`
  }
  const missing = missingTools(isolation)
  if (missing.length > 0) return `${missing.join(', ')} cannot be found: install the package ${PACKAGES[isolation]}`
  const reason = await trial(isolation)
  if (reason === undefined) return undefined
  return `this system does not let plugins be isolated (${reason}): ${remedy(isolation)}`
}

const PACKAGES: Readonly<Record<Isolation, string>> = {
  full: 'util-linux',
  loopback: 'util-linux, and iproute2 for ip',
  open: 'util-linux',
}

const SAY_VERSION = 'process.stdout.write(process.version)'
/** Program that connects to itself, because Linux lets a process listen at a loopback that is not started. */
const REACH_ITSELF = `const net = require('node:net')
const server = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1', () => {
  const socket = net.connect(server.address().port, '127.0.0.1', () => ${SAY_VERSION})
  socket.on('error', ({ message }) => process.stderr.write(message)).on('close', () => server.close()).resume()
})`

/** Has a script print its version of Node: `node --version` would start no V8, which may lack memory. @returns what went wrong */
async function trial(isolation: Isolation): Promise<string | undefined> {
  try {
    const child = startTrial(isolation === 'loopback' ? REACH_ITSELF : SAY_VERSION, isolation)
    const [version, said] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
    if (version === process.version) return undefined
    // V8 begins its last words with lines of nothing but `#`.
    return /.*\p{L}.*/u.exec(said)?.[0] ?? `exit code ${child.exitCode ?? child.signalCode}`
  } catch (error) {
    return (error as Error).message
  }
}

function remedy(isolation: Isolation): string {
  if (isolation === 'open') return 'let the program change its user and its limits, or run it as a plain user'
  const capabilities = isolation === 'loopback' ? 'capabilities SYS_ADMIN and NET_ADMIN' : 'capability SYS_ADMIN'
  if (isRoot())
    return `give the program the ${capabilities}, or let it make user namespaces, with a profile of AppArmor and seccomp that lets it mount; or run it outside the container`
  return 'allow plain users to make user namespaces (the settings user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns), and to mount in them; in a container, let its seccomp profile allow both'
}

/**
 * A host that is root mostly runs plugins as another user, who has to be able to read them.
 *
 * @returns one line for the first path that this user cannot read
 */
export async function readingProblem(
  { packages, files }: Pick<ReadableSet, 'packages' | 'files'>,
  isolation: Isolation,
): Promise<string | undefined> {
  if (!runsAsNobody(isolation)) return undefined
  for (const path of [...packages, ...files]) {
    const { mode } = await stat(path)
    const needed = packages.includes(path) ? OTHERS_READ | OTHERS_ENTER : OTHERS_READ
    if ((mode & needed) !== needed) return unreadable(path)
  }
  if (isolation !== 'open') return undefined
  // A full sandbox has folders of its own above the packages.
  for (const folder of new Set([process.execPath, ...packages, ...files].flatMap(foldersAbove))) {
    if (((await stat(folder)).mode & OTHERS_ENTER) === 0) return unreadable(folder)
  }
  return undefined
}

function unreadable(path: string): string {
  return `what root isolates runs as nobody, who cannot read ${path}: chmod -R a+rX ${path}, or run the program as a plain user`
}

function foldersAbove(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...foldersAbove(parent), parent]
}
