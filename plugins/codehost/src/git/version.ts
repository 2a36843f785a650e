/** The git program that is installed: old ones do not know `http.curloptResolve`, and would pass over it in silence. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { DestinationError } from '@claimcheck/core/plugin'

const NEEDED = [2, 37] as const

let usable: Promise<void> | undefined

/** @throws DestinationError `unavailable` when there is no git, or none that can be pinned to an address */
export function requireGit(): Promise<void> {
  usable ??= checkVersion()
  return usable
}

async function checkVersion(): Promise<void> {
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'])
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
    const isOld = Number(major) < NEEDED[0] || (Number(major) === NEEDED[0] && Number(minor) < NEEDED[1])
    if (major === undefined || isOld)
      throw new Error(`git ${NEEDED.join('.')} or newer is needed, found: ${stdout.trim()}`)
  } catch (cause) {
    throw new DestinationError('unavailable', { cause })
  }
}
