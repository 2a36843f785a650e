/** Starts the process of the kit: in the sandbox, or with the rights of the command. Its `stdio[3]` leads to `kit-run.ts`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { isWithin, outermost, type ReadableSet } from '@claimcheck/core/sandbox/command'
import { dependenciesOf } from '@claimcheck/core/sandbox/package-dependencies'
import { PackageError } from '@claimcheck/core/sandbox/package-error'
import { readPackageJson } from '@claimcheck/core/sandbox/package-json'
import { refuseElsewhere, refuseStrayLinks } from '@claimcheck/core/sandbox/package-links'
import { isolationProblem, readingProblem } from '@claimcheck/core/sandbox/problems'
import { startSandboxed, together } from '@claimcheck/core/sandbox/sandbox'

export interface KitProcess {
  readonly child: ChildProcess
  /** Ends the process with all that it started. */
  kill(): void
}

const [PROCESS, SANDBOXED, RUN, PACKAGE_JSON] = [
  './kit-process.js',
  './kit-sandboxed.js',
  './kit-run.js',
  '../../package.json',
].map((file) => fileURLToPath(new URL(file, import.meta.url))) as [string, string, string, string]
const TOOLS = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
/** Heap of the kit's process, which has six plugins at work, and the destination beside them. */
const HEAP_MIB = 512

/**
 * Starts the kit in the sandbox.
 * @param definition a module of the package in `folder`
 * @throws PackageError; Error when this system has no sandbox
 */
export async function startIsolated(folder: string, definition: string): Promise<KitProcess> {
  const [root, entry] = [await realpath(folder), await realpath(definition)]
  if (!isWithin(entry, [root])) {
    throw new PackageError('stray_link', `its definition leads out of the package, to ${entry}`)
  }
  const kit = { ...(await dependenciesOf(TOOLS, { dependencies: { '@claimcheck/core': '*' } })), files: KIT_FILES }
  const readable = together(await readableOf(root), kit)
  const problem = (await isolationProblem('loopback')) ?? (await readingProblem(readable, 'loopback'))
  if (problem !== undefined) throw new Error(problem)
  const child = startSandboxed({
    entry: SANDBOXED,
    readable,
    args: [entry, root],
    memoryMib: HEAP_MIB,
    isolation: 'loopback',
  })
  return { child, kill: () => child.kill('SIGKILL') }
}

const KIT_FILES = [RUN, PACKAGE_JSON]

/** The package with what it depends on, to be tested as well. */
async function readableOf(root: string): Promise<ReadableSet> {
  if (isWithin(homedir(), [root])) {
    throw new PackageError('forbidden_folder', `${root} holds your home folder, which no package may read`)
  }
  const json = await readPackageJson(root)
  const found = [await dependenciesOf(root, json), await dependenciesOf(root, { dependencies: json?.devDependencies })]
  const packages = [...new Set([root, ...found.flatMap((one) => one.packages)])]
  for (const path of packages) if (path !== root) await refuseElsewhere(path, TOOLS)
  for (const path of outermost(packages)) await refuseStrayLinks(path, packages)
  return { packages, files: [], links: found.flatMap(({ links }) => links) }
}

/** Starts the kit with the rights and the environment of the command. */
export function startTrusted(folder: string, definition: string): KitProcess {
  const args = [...process.execArgv, PROCESS, definition, folder]
  // The child leads a group of processes, by which all that it starts can be ended.
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  function kill(): void {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      child.kill('SIGKILL')
    }
  }
  // Processes that the child leaves behind would hold its output open.
  child.once('exit', kill)
  return { child, kill }
}
