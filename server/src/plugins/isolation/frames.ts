/** Messages over a stream, as lines of JSON, with a limit on what the other side may send. */
import type { Duplex } from 'node:stream'
import type { JsonValue } from '@claimcheck/core/rules'

export interface Frames {
  /** The message goes out with the others of this turn. */
  send(message: object): void
  /** Sends now what waits. */
  flush(): void
}

export interface FramesOptions {
  /** Of one message of the other side. */
  readonly maxBytes: number
  readonly onMessage: (message: JsonValue) => void
  /** The stream closed, or the other side does not keep to the form. Called once; nothing is received after it. */
  readonly onClose: (problem: 'closed' | 'too_large' | 'not_json') => void
}

const NEWLINE = 0x0a

export function createFrames(stream: Duplex, { maxBytes, onMessage, onClose }: FramesOptions): Frames {
  let waiting: string[] = []
  let parts: Buffer[] = []
  let size = 0
  let isClosed = false

  function close(problem: Parameters<FramesOptions['onClose']>[0]): void {
    if (isClosed) return
    isClosed = true
    parts = []
    stream.destroy()
    onClose(problem)
  }

  function receive(line: Buffer): void {
    let message: JsonValue
    try {
      message = JSON.parse(line.toString('utf8'))
    } catch {
      close('not_json')
      return
    }
    onMessage(message)
  }

  stream.on('data', (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && !isClosed; at = chunk.indexOf(NEWLINE, from)) {
      const last = chunk.subarray(from, at)
      from = at + 1
      if (size + last.length > maxBytes) return close('too_large')
      const line = size === 0 ? last : Buffer.concat([...parts, last])
      parts = []
      size = 0
      receive(line)
    }
    if (isClosed || from === chunk.length) return
    size += chunk.length - from
    if (size > maxBytes) return close('too_large')
    parts.push(chunk.subarray(from))
  })
  stream.on('error', () => close('closed'))
  stream.on('close', () => close('closed'))
  stream.on('end', () => close('closed'))

  function flush(): void {
    if (waiting.length === 0) return
    const text = waiting.join('')
    waiting = []
    if (!isClosed && stream.writable) stream.write(text)
  }

  return {
    send(message) {
      // One write for all messages of a turn: each costs a system call.
      if (waiting.push(`${JSON.stringify(message)}\n`) === 1) setImmediate(flush)
    },
    flush,
  }
}
