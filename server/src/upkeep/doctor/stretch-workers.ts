/** Threads that check stretches side by side: one thread alone leaves all other processors idle. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import type { CheckStretch, Stretch } from './stretch.ts'
import type { StretchReport } from './stretch-report.ts'
import type { Request } from './stretch-worker.ts'

export interface StretchWorkers {
  readonly check: CheckStretch
  /** How many stretches keep all of them busy. */
  readonly most: number
  close(): Promise<void>
}

/** While one stretch is looked at, the database reads the next. */
const STRETCHES_PER_WORKER = 2
/** A database takes only so many connections. */
const MOST_WORKERS = 8

interface Pending {
  resolve(report: StretchReport): void
  reject(error: unknown): void
}

export function startStretchWorkers(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  count: number = Math.min(availableParallelism(), MOST_WORKERS),
): StretchWorkers {
  const workers = Array.from({ length: count }, () => startWorker(databaseUrl))
  let next = 0
  return {
    // In turn: stretches are all of one size.
    check: (stretch) => workers[next++ % count]!.check(stretch),
    most: STRETCHES_PER_WORKER * count,
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}

function startWorker(databaseUrl: string): Pick<StretchWorkers, 'check' | 'close'> {
  const worker = new Worker(new URL('./stretch-worker.js', import.meta.url), { workerData: { databaseUrl } })
  const pending = new Map<number, Pending>()
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  let failure: unknown
  let id = 0
  worker.on('message', (answer: { readonly id: number; readonly report: StretchReport }) => {
    pending.get(answer.id)?.resolve(answer.report)
    pending.delete(answer.id)
  })
  worker.on('error', (error) => {
    failure = error
    for (const { reject } of pending.values()) reject(error)
  })
  const send = (request: Request) => worker.postMessage(request)
  return {
    check: ({ segments, signatures }: Stretch) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        pending.set(++id, { resolve, reject })
        const plain = segments.map(({ start, end, keyId, notBefore, notAfter }) => {
          return { start, end, keyId, notBefore, notAfter }
        })
        send({ id, stretch: { segments: plain, signatures } })
      }),
    async close() {
      send(undefined)
      await ended
    },
  }
}
