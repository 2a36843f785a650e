/** A thread that checks stretches, on connections of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { openStorage } from '../../storage/open.ts'
import { type Stretch, stretchChecker } from './stretch.ts'

/** `undefined` ends it. */
export type Request = { readonly id: number; readonly stretch: Stretch } | undefined

const storage = await openStorage(workerData, { patient: true })
const check = stretchChecker(storage.read)

parentPort!.on('message', async (request: Request) => {
  if (!request) {
    await storage.close()
    parentPort!.close()
    return
  }
  const report = await check(request.stretch)
  parentPort!.postMessage({ id: request.id, report }, [report.hashes.buffer as ArrayBuffer])
})
