/** Checks chunks of leaves in a thread for each processor. Each thread reads the database by itself: rows cost more to pass on than to read. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { memoryLimit } from '../../../base/memory.ts'
import type { HostConfig } from '../../../config/config.ts'
import { openStorage } from '../../../storage/open.ts'
import type { Schema } from '../../../storage/schema.ts'
import { StorageError } from '../../../storage/storage.ts'
import { type CheckChunk, type CheckedChunk, type Chunk, chunkChecker } from './chunk.ts'

export type Database = Pick<HostConfig, 'databaseUrl' | 'databaseReadUrl'>

export interface ChunkThreads {
  /** In the order of calls, by each thread in its turn. */
  readonly check: CheckChunk
  readonly count: number
  close(): Promise<void>
}

/** More threads would take more connections than a small database server has. */
const MAX_THREADS = 4
/** The memory that a thread takes, with what it reads. */
const THREAD_BYTES = 256 * 1024 * 1024
const MARK = 'claimcheck doctor'

export function startChunkThreads({ databaseUrl, databaseReadUrl }: Database): ChunkThreads {
  const count = Math.max(1, Math.min(availableParallelism(), MAX_THREADS, Math.floor(memoryLimit() / 2 / THREAD_BYTES)))
  const data = { mark: MARK, database: { databaseUrl, databaseReadUrl } }
  const threads = Array.from({ length: count }, () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: data })
    const answered: Promise<unknown> = once(worker, 'message')
    // Whoever asks a thread that could not begin, or that ended, hears why.
    answered.catch(() => {})
    worker.on('error', () => {})
    return { worker, answered }
  })
  let calls = 0

  async function ask(worker: Worker, chunk: Chunk): Promise<CheckedChunk> {
    worker.postMessage(chunk)
    const [checked] = await once(worker, 'message')
    if ('away' in checked) throw new StorageError(checked.away.code, checked.away.message, checked.away)
    return checked
  }

  return {
    check(chunk) {
      const thread = threads[calls++ % count]!
      const checked = thread.answered.then(() => ask(thread.worker, chunk))
      thread.answered = checked
      return checked
    },
    count,
    async close() {
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
    },
  }
}

/** Describes nothing: the thread that started this one has looked at the schema, and only the doctor's reads are used. */
const NO_SCHEMA: Schema = { tables: [], migrations: {}, sealed: [], examinations: [] }
const prepareSchema = async () => ({ migrated: [], lacking: [] })

if (parentPort && workerData?.mark === MARK) {
  const { read } = await openStorage(workerData.database, {
    schema: NO_SCHEMA,
    prepareSchema,
    patient: true,
    asIs: true,
  })
  const check = chunkChecker(read)
  parentPort.on('message', async (chunk: Chunk) => {
    try {
      const checked = await check(chunk)
      parentPort!.postMessage(checked, [checked.derived.buffer, checked.stored.buffer] as ArrayBuffer[])
    } catch (error) {
      // An error loses its class on its way to another thread.
      if (!(error instanceof StorageError)) throw error
      const { code, message, mayReturn } = error
      parentPort!.postMessage({ away: { code, message, mayReturn } })
    }
  })
  parentPort.postMessage('ready')
}
