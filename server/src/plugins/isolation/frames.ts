/** Messages over a stream, as lines of JSON, with limits on what the other side may send. Raw bytes may follow a line, which says how many. */
import type { Duplex } from 'node:stream'
import { isJsonObject, type JsonValue } from '@claimcheck/core/rules'

export type Frames = ReturnType<typeof createFrames>

type CloseProblem = 'closed' | 'too_large' | 'not_json'

const NEWLINE = 0x0a
const NOTHING = Buffer.alloc(0)

export function createFrames(
  stream: Duplex,
  {
    maxBytes,
    maxBodyBytes = 0,
    onMessage,
    onClose,
  }: {
    /** The size of the largest message that the other side may send. */
    readonly maxBytes: number
    /** The most bytes that may follow one message of the other side; by default none may. */
    readonly maxBodyBytes?: number
    readonly onMessage: (message: JsonValue, body: Buffer | undefined) => void
    /** Receives the reason when the stream closes, or the other side breaks the form. Called once; nothing is received after it. */
    readonly onClose: (problem: CloseProblem) => void
  },
) {
  let waiting: (string | Uint8Array)[] = []
  let parts: Buffer[] = []
  let size = 0
  /** The message to which the next bytes belong. */
  let head: { readonly message: JsonValue; readonly bytes: number } | undefined
  let isClosed = false

  function close(problem: CloseProblem): void {
    if (isClosed) return
    isClosed = true
    parts = []
    stream.destroy()
    onClose(problem)
  }

  function keep(part: Buffer): Buffer {
    parts.push(part)
    size += part.length
    return NOTHING
  }

  /** Joins earlier chunks with the last one. */
  function whole(last: Buffer): Buffer {
    const all = size === 0 ? last : Buffer.concat([...parts, last])
    parts = []
    size = 0
    return all
  }

  /**
   * Takes the line that a chunk ends.
   * @returns the rest of the chunk
   */
  function takeLine(chunk: Buffer): Buffer {
    const at = chunk.indexOf(NEWLINE)
    if (size + (at < 0 ? chunk.length : at) > maxBytes) {
      close('too_large')
      return NOTHING
    }
    if (at < 0) return keep(chunk)
    receive(whole(chunk.subarray(0, at)))
    return chunk.subarray(at + 1)
  }

  function receive(line: Buffer): void {
    let message: JsonValue
    try {
      message = JSON.parse(line.toString('utf8'))
    } catch {
      close('not_json')
      return
    }
    const bytes = maxBodyBytes > 0 && isJsonObject(message) ? message.bytes : undefined
    if (typeof bytes !== 'number') onMessage(message, undefined)
    else if (bytes > maxBodyBytes) close('too_large')
    else head = { message, bytes }
  }

  /**
   * Takes the bytes that follow a message.
   * @returns the rest of the chunk
   */
  function takeBody(chunk: Buffer, { message, bytes }: NonNullable<typeof head>): Buffer {
    const missing = bytes - size
    if (chunk.length < missing) return keep(chunk)
    head = undefined
    onMessage(message, whole(chunk.subarray(0, missing)))
    return chunk.subarray(missing)
  }

  stream.on('data', (chunk: Buffer) => {
    let left = chunk
    while (left.length > 0 && !isClosed) left = head ? takeBody(left, head) : takeLine(left)
  })
  stream.on('error', () => close('closed'))
  stream.on('close', () => close('closed'))
  stream.on('end', () => close('closed'))

  function flush(): void {
    const sent = waiting
    waiting = []
    if (isClosed || !stream.writable || sent.length === 0) return
    // One system call sends all messages of a turn.
    stream.cork()
    for (const part of sent) stream.write(part)
    stream.uncork()
  }

  return {
    /**
     * Sends a message with the others of this turn.
     * @param body bytes that follow it. They are not copied, so whoever sends them leaves them unchanged
     */
    send(message: object, body?: Uint8Array): void {
      const line = `${JSON.stringify(body === undefined ? message : { ...message, bytes: body.length })}\n`
      if (waiting.length === 0) setImmediate(flush)
      const last = waiting.at(-1)
      if (typeof last === 'string') waiting[waiting.length - 1] = last + line
      else waiting.push(line)
      if (body !== undefined && body.length > 0) waiting.push(body)
    },
    /** Sends the waiting messages now. */
    flush,
  }
}
