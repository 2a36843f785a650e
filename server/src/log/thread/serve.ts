/** In the thread: hands what arrives to the sequencer, and sends back what came of it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import type { Sequencer } from '../sequencer.ts'
import { type Order, type Reply, type Request, toProblem } from './messages.ts'

interface OpenedInstallation {
  readonly sequencer: Sequencer
  close(): Promise<void>
}

/** Serves the thread that this module runs in. @param open opens the installation whose configuration the thread was given */
export async function runSequencerThread(open: (config: Config) => Promise<OpenedInstallation>): Promise<void> {
  const { secretKey, ...config } = workerData as Config
  // A buffer arrives as plain bytes.
  const { sequencer, close } = await open({ ...config, secretKey: secretKey && Buffer.from(secretKey) })
  serveSequencer(parentPort!, sequencer, close)
}

/** @param close for when nothing more will come; the thread ends after it */
export function serveSequencer(port: MessagePort, sequencer: Sequencer, close: () => Promise<void>): void {
  let replies: Reply[] = []

  function reply(answer: Reply): void {
    // What one commit made comes back together.
    if (replies.push(answer) === 1) setImmediate(send)
  }

  function send(): void {
    if (replies.length > 0) port.postMessage(replies)
    replies = []
  }

  async function carryOut(order: Order): Promise<void> {
    const { id } = order
    try {
      if (order.method === 'store') reply({ id, kept: await sequencer.store(order.claim), receiptId: null })
      else {
        const claim = await sequencer[order.method](order.outcome)
        reply({ id, kept: claim !== undefined, receiptId: claim?.receiptId ?? null })
      }
    } catch (error) {
      reply({ id, problem: toProblem(error) })
    }
  }

  async function end(): Promise<void> {
    await sequencer.idle()
    send()
    await close()
    port.close()
  }

  // No replies: it is there.
  port.postMessage(replies)
  port.on('message', (request: Request) => {
    if (request === 'close') void end()
    else for (const order of request) void carryOut(order)
  })
}
