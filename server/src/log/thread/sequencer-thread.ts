/**
 * The sequencer in a thread of its own. Signing and committing are half the work of a claim: here they neither wait for requests
 * that are being read nor hold these up.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import type { LogGuard } from '../log-guard.ts'
import { claimAfter, type Outcome, type Sequencer } from '../sequencer.ts'
import { fromProblem, type Order, type Reply, type Request } from './messages.ts'

export interface SequencerThread extends Sequencer {
  /** Finishes what was given, and ends the thread. */
  close(): Promise<void>
}

/** What the thread runs, where there are processors for it: with two, the messages cost more than what is done side by side gives. */
export const SEQUENCER_THREAD =
  availableParallelism() > 2 ? new URL('../../sequencer-thread.js', import.meta.url) : undefined

interface SequencerThreadOptions {
  readonly config: Config
  readonly logGuard: Pick<LogGuard, 'examine'>
}

interface Pending {
  resolve(reply: Extract<Reply, { kept: boolean }>): void
  reject(error: Error): void
}

type Task<T = Order> = T extends Order ? Omit<T, 'id'> : never

export function startSequencerThread(script: URL, { config, logGuard }: SequencerThreadOptions): SequencerThread {
  const worker = new Worker(script, { workerData: config })
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
  })
  // Whoever waits for it is told; later it ends the process, as any error does that nobody expects.
  ready.then(
    () =>
      worker.on('error', (error) => {
        throw error
      }),
    () => {},
  )
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  const pending = new Map<number, Pending>()
  let waiting: Order[] = []
  let orders = 0
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
      if ('kept' in reply) resolve(reply)
      else reject(fromProblem(reply.problem))
    }
    if (pending.size > 0) return
    for (const done of whenIdle) done()
    whenIdle = []
  })

  async function order(task: Task) {
    const id = ++orders
    const replied = new Promise<Extract<Reply, { kept: boolean }>>((resolve, reject) => {
      pending.set(id, { resolve, reject })
    })
    // What arrives in one turn of the event loop goes together.
    if (waiting.push({ id, ...task }) === 1) setImmediate(send)
    try {
      return await replied
    } catch (error) {
      // The thread has found that this host must not sign: so that this one knows it, too.
      if (error instanceof ServiceError && error.code === 'read_only') await logGuard.examine().catch(() => {})
      throw error
    }
  }

  async function record(method: 'storeChecked' | 'advance', outcome: Outcome): Promise<ClaimRow | undefined> {
    const { kept, receiptId } = await order({ method, outcome })
    return kept ? claimAfter(outcome, receiptId) : undefined
  }

  const idle = async () => {
    if (pending.size > 0) await new Promise<void>((resolve) => whenIdle.push(resolve))
  }

  return {
    store: async (claim) => (await order({ method: 'store', claim })).kept,
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
