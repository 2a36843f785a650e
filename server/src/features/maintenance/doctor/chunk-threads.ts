/** Checks chunks of leaves in a thread for each processor. Each thread reads the database by itself: rows cost more to pass on than to read. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import type { HostConfig } from '../../../config/config.ts'
import { openStorage } from '../../../storage/open.ts'
import type { Schema } from '../../../storage/schema.ts'
import { type CheckChunk, type CheckedChunk, type Chunk, chunkChecker } from './chunk.ts'

export type Database = Pick<HostConfig, 'databaseUrl' | 'databaseReadUrl'>

export interface ChunkThreads {
  /** In the order of calls, by each thread in its turn. */
  readonly check: CheckChunk
  readonly count: number
  close(): Promise<void>
}

const MAX_THREADS = 8
const MARK = 'claimcheck doctor'

export function startChunkThreads({ databaseUrl, databaseReadUrl }: Database): ChunkThreads {
  const count = Math.min(availableParallelism(), MAX_THREADS)
  const data = { mark: MARK, database: { databaseUrl, databaseReadUrl } }
  const threads = Array.from({ length: count }, () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: data })
    const answered: Promise<unknown> = once(worker, 'message')
    // Whoever asks a thread that could not begin hears why.
    answered.catch(() => {})
    return { worker, answered }
  })
  let calls = 0

  async function ask(worker: Worker, chunk: Chunk): Promise<CheckedChunk> {
    worker.postMessage(chunk)
    const [checked] = await once(worker, 'message')
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
    const checked = await check(chunk)
    parentPort!.postMessage(checked, [checked.derived.buffer, checked.stored.buffer] as ArrayBuffer[])
  })
  parentPort.postMessage('ready')
}
