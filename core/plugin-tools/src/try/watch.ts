/** Runs a command again, in a new process each time, when files of a package change. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { writeError } from '@claimcheck/command-line/terminal'

const POLL_MS = 300
/** Large folders that authors do not edit. */
const SKIPPED = new Set(['node_modules', '.git'])

/** Runs the command at each change, until the process is ended. @param paths files, and folders with all that is in them */
export async function runOnChange(args: readonly string[], paths: readonly string[]): Promise<never> {
  for (;;) {
    const before = signature(paths)
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], { stdio: 'inherit' })
    await once(child, 'close')
    writeError('\nWaiting for a change. Stop with Ctrl+C.\n')
    await untilChanged(paths, before)
    writeError('\n')
  }
}

async function untilChanged(paths: readonly string[], before: string): Promise<void> {
  while (signature(paths) === before) await setTimeout(POLL_MS)
  // A build writes many files, and the run begins when it is done.
  for (let last = signature(paths); ; ) {
    await setTimeout(POLL_MS)
    const now = signature(paths)
    if (now === last) return
    last = now
  }
}

/**
 * Describes the state of all files, to be compared again and again: watching a folder costs a handle for each folder in it, and misses some editors.
 */
function signature(paths: readonly string[]): string {
  return paths.flatMap((path) => stamps(path)).join('\n')
}

function stamps(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return [`${path} missing`]
  if (!stats.isDirectory()) return [`${path} ${stats.mtimeMs} ${stats.size}`]
  return readdirSync(path)
    .filter((name) => !SKIPPED.has(name))
    .flatMap((name) => stamps(join(path, name)))
}

/** The folder of the package that a plugin's module belongs to; the module itself where it is a lone file. */
export function watchedPath(use: string): string {
  for (let folder = statSync(use).isDirectory() ? use : dirname(use); ; folder = dirname(folder)) {
    if (statSync(join(folder, 'package.json'), { throwIfNoEntry: false })) return folder
    if (folder === dirname(folder)) return use
  }
}
