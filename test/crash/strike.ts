/** A strike that all threads of a host share: the thread that makes the statement sends the signal to the process. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import type { Strike } from './host-process.ts'

const NAME = 'strike'
const TEXT_BYTES = 200
/** ConcurrencyLimit in the shared integers: how many statements are left, which signal then, and how long the text is that is waited for. */
const [LEFT, SIGNAL, LENGTH] = [0, 1, 2]
const SIGNALS = ['SIGKILL', 'SIGSTOP'] as const

/** To be called in the main thread before any other is started. */
export function shareStrike(): void {
  setEnvironmentData(NAME, new SharedArrayBuffer(3 * 4 + TEXT_BYTES))
}

export function arm({ signal, before }: Strike): void {
  const { integers, text } = shared()
  Atomics.store(integers, SIGNAL, SIGNALS.indexOf(signal))
  const { written } = new TextEncoder().encodeInto(typeof before === 'string' ? before : '', text)
  Atomics.store(integers, LENGTH, written)
  Atomics.store(integers, LEFT, typeof before === 'number' ? before : 1)
}

/** Before each statement, in each thread. */
export function beforeStatement(sql: string): void {
  const { integers, text } = shared()
  if (Atomics.load(integers, LEFT) <= 0) return
  const length = Atomics.load(integers, LENGTH)
  if (length > 0 && !sql.includes(Buffer.from(text.slice(0, length)).toString())) return
  if (Atomics.sub(integers, LEFT, 1) === 1) process.kill(process.pid, SIGNALS[Atomics.load(integers, SIGNAL)])
}

function shared() {
  const buffer = getEnvironmentData(NAME) as SharedArrayBuffer
  return { integers: new Int32Array(buffer, 0, 3), text: new Uint8Array(buffer, 3 * 4) }
}
