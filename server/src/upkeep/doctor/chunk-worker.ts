/** A thread that checks chunks of leaves, with its own connections to the database. */
import { parentPort, workerData } from 'node:worker_threads'
import { openStorage } from '../../storage/open.ts'
import { type Chunk, chunkChecker } from './chunk.ts'

/** `undefined` ends the thread. */
export type Request = { readonly id: number; readonly chunk: Chunk } | undefined

const storage = await openStorage(workerData, { patient: true })
const check = chunkChecker(storage.read)

parentPort!.on('message', async (request: Request) => {
  if (!request) {
    await storage.close()
    parentPort!.close()
    return
  }
  const report = await check(request.chunk)
  parentPort!.postMessage({ id: request.id, report }, [report.hashes.buffer as ArrayBuffer])
})
