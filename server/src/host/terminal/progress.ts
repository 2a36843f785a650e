/** A progress bar for long commands. Shown only where standard error is a terminal. */
import { CommandError } from '@claimcheck/command-line/errors'
import { Presets, SingleBar } from 'cli-progress'

export interface Progress {
  update(done: number, total: number): void
  stop(): void
}

const SILENT: Progress = { update() {}, stop() {} }
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Begins to show progress.
 * @param unit the name of what is counted, in the plural
 */
export function startProgress(unit: string): Progress {
  if (!process.stderr.isTTY) return SILENT
  const format = `{bar} {percentage} % · {value} of {total} ${unit} · {speed} a second · {duration_formatted}`
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true, fps: 10 }, Presets.shades_classic)
  const startedAt = performance.now()
  bar.start(0, 0, { speed: 0 })
  return {
    update(done, total) {
      bar.setTotal(total)
      bar.update(done, { speed: Math.round((1000 * done) / (performance.now() - startedAt)) })
    },
    stop: () => bar.stop(),
  }
}

/**
 * Shows how far the work has come. After a signal the next step of the work fails, so that it undoes what it began; a second signal ends the
 * process, and so does one after the last step, when what was done is printed.
 */
export async function withProgress<T>(
  unit: string,
  work: (onProgress: Progress['update']) => Promise<T>,
  end = (signal: string) => void process.kill(process.pid, signal),
): Promise<T> {
  const progress = startProgress(unit)
  let stopped: string | undefined
  const stop = (signal: string) => {
    stopped = signal
  }
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    const made = await work((done, total) => {
      if (stopped) throw new CommandError('interrupted', `Stopped by ${stopped}.`)
      progress.update(done, total)
    })
    if (stopped) setImmediate(end, stopped)
    return made
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
    progress.stop()
  }
}
