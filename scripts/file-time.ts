/** The time of a test file: its process prints it in a separate line, which the run reads. */
import { treeTime } from '@claimcheck/server/plugins/isolation/process-usage'

export interface FileTime {
  readonly path: string
  readonly ms: number
  /** The processor time of its process and of all that this started, as Linux counts it; 0 elsewhere. */
  readonly processorMs: number
}

const LINE = /^# file (\S+) took (\d+) ms, processor (\d+) ms$/gm

/** @returns what to print when the file is done */
export function startFile(path: string): () => string {
  const startedAt = performance.now()
  const before = treeTime(process.pid)
  return () => {
    const ms = Math.round(performance.now() - startedAt)
    return `file ${path} took ${ms} ms, processor ${Math.max(0, treeTime(process.pid) - before)} ms`
  }
}

export function fileTimes(output: string): FileTime[] {
  return [...output.matchAll(LINE)].map(([, path, ms, processor]) => ({
    path: path!,
    ms: Number(ms),
    processorMs: Number(processor),
  }))
}
