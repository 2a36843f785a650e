/** The thread's own module: opens the installation once more, for the sequencer alone. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../config.ts'
import { openClaimcheck } from '../container.ts'
import type { BeforeStatement } from '../storage/pools.ts'
import { serveSequencer } from './serve.ts'

export async function runSequencerThread(beforeStatement?: BeforeStatement): Promise<void> {
  const { secretKey, ...config } = workerData as Config
  const claimcheck = await openClaimcheck(
    // Buffers arrive as plain bytes.
    { ...config, secretKey: secretKey && Buffer.from(secretKey) },
    { plugins: false, ...(beforeStatement ? { beforeStatement } : {}) },
  )
  serveSequencer(parentPort!, claimcheck.sequencer, claimcheck.close)
}
