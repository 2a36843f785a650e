/** Checks the version of the installed git: older ones ignore `http.curloptResolve`, and are not pinned to an address. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { DestinationError } from '@claimcheck/core/plugin'

const MIN_VERSION = [2, 37] as const

// Tries the limit on memory: a system on which the memory of git cannot be limited is not one to run it on.
const SCRIPT = 'ulimit -v 1048576 && exec git --version'

let checked: Promise<void> | undefined

/** Checks git once for the whole process. @throws DestinationError `unavailable` when git is missing or too old, or cannot be limited */
export function requireGit(): Promise<void> {
  // A failure is not remembered, because it may pass.
  checked ??= checkVersion().catch((error: unknown) => {
    checked = undefined
    throw error
  })
  return checked
}

async function checkVersion(): Promise<void> {
  try {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', SCRIPT])
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
    const isOld = Number(major) < MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) < MIN_VERSION[1])
    if (major === undefined || isOld)
      throw new Error(`git ${MIN_VERSION.join('.')} or newer is needed, found: ${stdout.trim()}`)
  } catch (cause) {
    throw new DestinationError('unavailable', { cause })
  }
}
