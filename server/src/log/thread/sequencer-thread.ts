/**
 * Runs the sequencer in a separate thread. Signing and committing are half of the work for a claim; in a thread they do not wait for
 * requests, and requests do not wait for them.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import type { LogGuard } from '../log-guard.ts'
import { claimAfter, type Outcome, type Sequencer, undecided } from '../sequencer.ts'
import { type Call, fromErrorData, type Reply, type Request } from './messages.ts'

export interface SequencerThread extends Sequencer {
  /** Finishes all calls, and ends the thread. */
  close(): Promise<void>
}

/** The module that the thread runs; undefined on a machine with two processors, where the messages cost more than the thread gains. */
export const SEQUENCER_THREAD =
  availableParallelism() > 2 ? new URL('../../sequencer-thread.js', import.meta.url) : undefined

interface SequencerThreadOptions {
  readonly config: Config
  readonly logGuard: Pick<LogGuard, 'examine'>
}

type Success = Extract<Reply, { isStored: boolean }>

interface Pending {
  resolve(reply: Success): void
  reject(error: Error): void
}

type CallWithoutId<T = Call> = T extends Call ? Omit<T, 'id'> : never

export function startSequencerThread(script: URL, { config, logGuard }: SequencerThreadOptions): SequencerThread {
  const worker = new Worker(script, { workerData: config })
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
  })
  // An error before the thread is ready rejects `ready`. A later error is thrown here and ends the process, like any uncaught error.
  ready.then(
    () =>
      worker.on('error', (error) => {
        throw error
      }),
    () => {},
  )
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  const pending = new Map<number, Pending>()
  let waiting: Call[] = []
  let calls = 0
  let whenIdle: (() => void)[] = []

  const post = (request: Request) => worker.postMessage(request)

  function send(): void {
    post(waiting)
    waiting = []
  }

  worker.on('message', (replies: readonly Reply[]) => {
    for (const reply of replies) {
      const { resolve, reject } = pending.get(reply.id)!
      pending.delete(reply.id)
      if ('isStored' in reply) resolve(reply)
      else reject(fromErrorData(reply.error))
    }
    if (pending.size > 0) return
    for (const resolveIdle of whenIdle) resolveIdle()
    whenIdle = []
  })

  async function callThread(call: CallWithoutId) {
    const id = ++calls
    const replied = new Promise<Success>((resolve, reject) => {
      pending.set(id, { resolve, reject })
    })
    // Calls from one turn of the event loop share a message.
    if (waiting.push({ id, ...call }) === 1) setImmediate(send)
    try {
      return await replied
    } catch (error) {
      // The thread found that this host must not sign: the main thread's guard has to find it, too.
      if (error instanceof ServiceError && error.code === 'read_only') await logGuard.examine().catch(() => {})
      throw error
    }
  }

  async function record(method: 'storeChecked' | 'advance', outcome: Outcome): Promise<ClaimRow | undefined> {
    const { isStored, receiptId } = await callThread({ method, outcome })
    if (!isStored) return undefined
    return outcome.decided && receiptId === null ? claimAfter(undecided(outcome), null) : claimAfter(outcome, receiptId)
  }

  const idle = async () => {
    if (pending.size > 0) await new Promise<void>((resolve) => whenIdle.push(resolve))
  }

  return {
    store: async (claim) => (await callThread({ method: 'store', claim })).isStored,
    storeChecked: (outcome) => record('storeChecked', outcome),
    advance: (outcome) => record('advance', outcome),
    ready: () => ready,
    idle,
    async close() {
      await idle()
      post('close')
      await ended
    },
  }
}
