/** What a process of Node has mapped before it runs anything: the limit of a sandbox comes on top of it. */
import { execFileSync } from 'node:child_process'

const SCRIPT = "process.stdout.write(require('node:fs').readFileSync('/proc/self/status'))"

const START_TIMEOUT_MS = 10_000

let known: number | undefined

/**
 * What counts against `RLIMIT_DATA` when this version of Node starts, in MiB. It has to be measured: V8 of Node 24 and 26 reserves 512 MiB for
 * code and maps them writable, which takes no memory and cannot be used for anything else; that of 20 and 22 does not.
 *
 * @throws Error when the system does not tell
 */
export function startDataMib(): number {
  known ??= measured()
  return known
}

function measured(): number {
  // Other systems have no such limit.
  if (process.platform !== 'linux') return 0
  const status = execFileSync(process.execPath, ['-e', SCRIPT], {
    encoding: 'utf8',
    env: {},
    timeout: START_TIMEOUT_MS,
  })
  const [, kib] = /^VmData:\s*(\d+) kB$/m.exec(status) ?? []
  if (kib === undefined) throw new Error('/proc/self/status has no VmData')
  return Math.ceil(Number(kib) / 1024)
}
