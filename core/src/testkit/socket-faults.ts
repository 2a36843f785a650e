/** Faults on a connection that is not HTTP, each of which strikes one answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type ExpectedError, SHORT_TIME_MS } from './faults.ts'
import type { StruckSocket } from './socket-proxy.ts'

interface SocketFault extends ExpectedError {
  answer(struck: StruckSocket): void | Promise<void>
}

const GARBAGE = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), Buffer.from('\r\n')])
const LINE = Buffer.from(`${'x'.repeat(1022)}\r\n`)
const NO_LINE = Buffer.alloc(64 * 1024, 'x')

export const SOCKET_FAULTS: readonly SocketFault[] = [
  {
    name: 'fault.socket-silence',
    says: 'silence in place of an answer',
    answer: () => {},
    right: ['timeout'],
    endAfterMs: SHORT_TIME_MS,
  },
  {
    name: 'fault.socket-closed',
    says: 'a connection that is closed in place of an answer',
    answer: ({ end }) => end(),
    right: ['unavailable', 'unexpected_response'],
  },
  {
    name: 'fault.socket-cut',
    says: 'a connection that is closed in the middle of an answer',
    async answer({ real, send, end }) {
      await send(real.subarray(0, real.length >> 1))
      end()
    },
    right: ['unavailable', 'unexpected_response'],
  },
  {
    name: 'fault.socket-reset',
    says: 'a connection that is reset in place of an answer',
    answer: ({ reset }) => reset(),
    right: ['unavailable'],
  },
  {
    name: 'fault.socket-garbage',
    says: 'garbage in place of an answer',
    async answer({ send, end }) {
      await send(GARBAGE)
      end()
    },
    right: ['unexpected_response', 'unavailable', 'too_large'],
  },
  {
    name: 'fault.socket-flood',
    says: 'an answer without an end',
    async answer({ real, send }) {
      const firstLine = real.indexOf('\n') + 1
      const isList = firstLine > 0 && firstLine < real.length
      await send(isList ? real.subarray(0, firstLine) : Buffer.alloc(0))
      const more = isList ? Buffer.concat(Array.from({ length: 64 }, () => LINE)) : NO_LINE
      while (await send(more));
    },
    // A driver ends the connection where the first bytes are no message.
    right: ['too_large', 'unexpected_response', 'unavailable'],
  },
  {
    name: 'fault.socket-one-byte-a-second',
    says: 'an answer of one byte a second',
    async answer({ real, send }) {
      for (let at = 0; at < real.length && (await send(real.subarray(at, at + 1))); at++) {
        await sleep(1000, undefined, { ref: false })
      }
    },
    right: ['timeout'],
    endAfterMs: SHORT_TIME_MS,
  },
]

/** Repeats everything that the destination was sent, as refusals do. */
export async function echoWritten({ written, send, end }: StruckSocket): Promise<void> {
  await send(Buffer.concat([written, Buffer.from('\r\n')]))
  end()
}
