/**
 * What git's trace tells of a run. Git takes any web page for an old static repository without branches: only a server that has negotiated a
 * version of the protocol has really listed its branches.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRun } from './program.ts'

const NEGOTIATED = /"key":"negotiated-version","value":"(\d+)"/

export async function traced(run: GitRun) {
  const file = join(run.folder, 'trace')
  // Git appends to it.
  await rm(file, { force: true })
  return {
    run: { ...run, env: { ...run.env, GIT_TRACE2_EVENT: file } },
    /** Of the protocol, when git has ended; `undefined`: none was negotiated. */
    async negotiatedVersion(): Promise<string | undefined> {
      const events = await readFile(file, 'utf8').catch(() => '')
      return NEGOTIATED.exec(events)?.[1]
    },
  }
}
