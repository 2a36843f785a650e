/**
 * What git's trace tells of a run. Git takes any web page for an old static repository without branches: only a server that has negotiated a
 * version of the protocol has really listed its branches.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRun } from './program.ts'

export interface TracedRun {
  readonly run: GitRun
  /** Of the protocol, when git has ended; `undefined`: none was negotiated. */
  negotiatedVersion(): Promise<string | undefined>
}

const NEGOTIATED = /"key":"negotiated-version","value":"(\d+)"/

export async function traced(run: GitRun): Promise<TracedRun> {
  const file = join(run.folder, 'trace')
  // Git appends to it.
  await rm(file, { force: true })
  return {
    run: { ...run, env: { ...run.env, GIT_TRACE2_EVENT: file } },
    async negotiatedVersion() {
      const events = await readFile(file, 'utf8').catch(() => '')
      return NEGOTIATED.exec(events)?.[1]
    },
  }
}
