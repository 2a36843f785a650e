/** Checks chunks of leaves in several threads, so that all processors work. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import type { CheckChunk, Chunk } from './chunk.ts'
import type { ChunkReport } from './chunk-report.ts'
import type { Request } from './chunk-worker.ts'

export interface ChunkWorkers {
  readonly check: CheckChunk
  /** The number of chunks at a time that keeps all threads busy. */
  readonly concurrency: number
  close(): Promise<void>
}

/** While a thread checks one chunk, the database reads the next, and a third waits: chunks do not take equally long. */
const CHUNKS_PER_WORKER = 3
/** Limits the number of connections to the database. */
const MAX_WORKERS = 8

interface Pending {
  resolve(report: ChunkReport): void
  reject(error: unknown): void
}

export function startChunkWorkers(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  count: number = Math.min(availableParallelism(), MAX_WORKERS),
): ChunkWorkers {
  const workers = Array.from({ length: count }, () => startWorker(databaseUrl))
  let next = 0
  return {
    // Uses the threads in turn, because all chunks have the same size.
    check: (chunk) => workers[next++ % count]!.check(chunk),
    concurrency: CHUNKS_PER_WORKER * count,
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}

function startWorker(databaseUrl: string): Pick<ChunkWorkers, 'check' | 'close'> {
  const worker = new Worker(new URL('./chunk-worker.js', import.meta.url), { workerData: { databaseUrl } })
  const pending = new Map<number, Pending>()
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  let failure: unknown
  let id = 0
  worker.on('message', (answer: { readonly id: number; readonly report: ChunkReport }) => {
    pending.get(answer.id)?.resolve(answer.report)
    pending.delete(answer.id)
  })
  worker.on('error', (error) => {
    failure = error
    for (const { reject } of pending.values()) reject(error)
  })
  const send = (request: Request) => worker.postMessage(request)
  return {
    check: ({ segments, signatures }: Chunk) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        pending.set(++id, { resolve, reject })
        const plain = segments.map(({ start, end, keyId, notBefore, notAfter }) => {
          return { start, end, keyId, notBefore, notAfter }
        })
        send({ id, chunk: { segments: plain, signatures } })
      }),
    async close() {
      send(undefined)
      await ended
    },
  }
}
