/** The host's own part of a connection: it reads and writes lines, starts TLS, and hands the connection over. */
import { DestinationError } from '../../contract/destination-error.ts'
import { utf8 } from '../../encoding.ts'
import type { RawConnection } from './streams.ts'

const LONGEST_LINE = 8 * 1024
/** Size limit of a greeting and a login, which are short. */
const MOST_BYTES = 64 * 1024
const LINE_FEED = 10

export interface Handover {
  readonly connection: RawConnection
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  readonly writer: WritableStreamDefaultWriter<Uint8Array>
  /** Bytes that were read, and belong to nobody yet. */
  readonly rest: Uint8Array
}

export class Conversation {
  #connection: RawConnection
  #reader: ReadableStreamDefaultReader<Uint8Array>
  #writer: WritableStreamDefaultWriter<Uint8Array>
  #rest: Uint8Array = new Uint8Array()
  #readBytes = 0
  readonly #secure: ((plain: RawConnection) => Promise<RawConnection>) | undefined

  /** Takes a connection over from its first byte. @param secure starts TLS; left out where TLS is not to be started */
  constructor(connection: RawConnection, secure?: (plain: RawConnection) => Promise<RawConnection>) {
    this.#connection = connection
    this.#reader = connection.readable.getReader()
    this.#writer = connection.writable.getWriter()
    this.#secure = secure
  }

  get mustGoSecure(): boolean {
    return this.#secure !== undefined
  }

  /** Reads one line, without its end. @throws DestinationError where the line is too long, or the connection ends */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf(LINE_FEED)
      if (end >= 0) {
        const text = new TextDecoder().decode(this.#rest.subarray(0, end))
        this.#rest = this.#rest.subarray(end + 1)
        return text.endsWith('\r') ? text.slice(0, -1) : text
      }
      const { done, value } = await this.#reader.read()
      if (done) throw new DestinationError('unavailable', { cause: new Error('the connection was closed') })
      this.#readBytes += value.length
      if (this.#rest.length > LONGEST_LINE || this.#readBytes > MOST_BYTES) throw new DestinationError('too_large')
      this.#rest = concat(this.#rest, value)
    }
  }

  async say(line: string): Promise<void> {
    await this.#writer.write(utf8(`${line}\r\n`))
  }

  /**
   * Starts TLS. Nothing that came in plain counts after it: somebody on the way could have written it, to be read as an answer within TLS
   * (CVE-2011-0411).
   * @throws DestinationError
   */
  async goSecure(): Promise<void> {
    if (this.#rest.length > 0 || this.#connection.hasUnread())
      throw new DestinationError('unexpected_response', { cause: new Error('the server wrote more before TLS') })
    const connection = await this.#secure!(this.#connection)
    this.#connection = connection
    this.#reader = connection.readable.getReader()
    this.#writer = connection.writable.getWriter()
  }

  handOver(): Handover {
    return { connection: this.#connection, reader: this.#reader, writer: this.#writer, rest: this.#rest }
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
