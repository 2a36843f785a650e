/** Runs inside the sequencer's thread: passes calls to the sequencer and sends back the replies. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import type { Sequencer } from '../sequencer.ts'
import { type Call, type Reply, type Request, toErrorData } from './messages.ts'

interface OpenedInstallation {
  readonly sequencer: Sequencer
  close(): Promise<void>
}

/** @param open opens the installation with the configuration that the main thread passes */
export async function runSequencerThread(open: (config: Config) => Promise<OpenedInstallation>): Promise<void> {
  const { secretKey, secretKeysAlso, ...config } = workerData as Config
  // The main thread's Buffers arrive as Uint8Arrays.
  const { sequencer, close } = await open({
    ...config,
    secretKey: secretKey && Buffer.from(secretKey),
    secretKeysAlso: secretKeysAlso.map((key) => Buffer.from(key)),
  })
  serveSequencer(parentPort!, sequencer, close)
}

/** @param close called after the last reply; the thread ends after it */
function serveSequencer(port: MessagePort, sequencer: Sequencer, close: () => Promise<void>): void {
  let replies: Reply[] = []

  function addReply(reply: Reply): void {
    // The replies of one commit share a message.
    if (replies.push(reply) === 1) setImmediate(send)
  }

  function send(): void {
    if (replies.length > 0) port.postMessage(replies)
    replies = []
  }

  async function execute(call: Call): Promise<void> {
    const { id } = call
    try {
      if (call.method === 'store') addReply({ id, isStored: await sequencer.store(call.claim), receiptId: null })
      else {
        const claim = await sequencer[call.method](call.outcome)
        addReply({ id, isStored: claim !== undefined, receiptId: claim?.receiptId ?? null })
      }
    } catch (error) {
      addReply({ id, error: toErrorData(error) })
    }
  }

  async function end(): Promise<void> {
    await sequencer.idle()
    send()
    await close()
    port.close()
  }

  // An empty message tells the main thread that the sequencer is ready.
  port.postMessage(replies)
  port.on('message', (request: Request) => {
    if (request === 'close') void end()
    else for (const call of request) void execute(call)
  })
}
