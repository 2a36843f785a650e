/** A progress bar for long commands. Shown only where standard error is a terminal. */
import { CommandError } from '@claimcheck/command-line/errors'
import { Presets, SingleBar } from 'cli-progress'

type OnProgress = (done: number, total: number) => void

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Shows the progress of work.
 * @param unit the name of what is counted, in the plural
 */
export async function showProgress<T>(unit: string, work: (onProgress: OnProgress) => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work(() => {})
  const format = `{bar} {percentage} % · {value} of {total} ${unit} · {speed} a second · {duration_formatted}`
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true, fps: 10 }, Presets.shades_classic)
  const startedAt = performance.now()
  bar.start(0, 0, { speed: 0 })
  try {
    return await work((done, total) => {
      bar.setTotal(total)
      bar.update(done, { speed: Math.round((1000 * done) / (performance.now() - startedAt)) })
    })
  } finally {
    bar.stop()
  }
}

/**
 * Shows how far the work has come. After a signal the next step of the work fails, so that it undoes what it began; a second signal ends the
 * process, and so does one after the last step, when what was done is printed.
 */
export async function withProgress<T>(
  unit: string,
  work: (onProgress: OnProgress) => Promise<T>,
  end = (signal: string) => void process.kill(process.pid, signal),
): Promise<T> {
  let stopped: string | undefined
  const stop = (signal: string) => {
    stopped = signal
  }
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    const made = await showProgress(unit, (onProgress) =>
      work((done, total) => {
        if (stopped) throw new CommandError('interrupted', `Stopped by ${stopped}.`)
        onProgress(done, total)
      }),
    )
    if (stopped) setImmediate(end, stopped)
    return made
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}
