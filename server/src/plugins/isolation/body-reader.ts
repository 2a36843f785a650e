/** Reads the body of an answer in parts, each when the process of a plugin asks for it, and no more of it. */
import { setTimeout as moment } from 'node:timers/promises'
import { DestinationError } from '@claimcheck/core/plugin'

interface BodyPart {
  readonly bytes: Uint8Array
  readonly isLast: boolean
}

export type BodyReader = ReturnType<typeof createBodyReader>

/** The size of the largest part: two of the chunks that a connection gives would take longer than they save. */
export const PART_BYTES = 64 * 1024
/** The time after the headers in which the body may still be sent with them. */
const MOMENT_MS = 1
/** The time after which an unread body is given up, as it would hold a connection that others wait for. */
const UNREAD_MS = 10_000
const LATER = Symbol('later')

export function createBodyReader(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader()
  /** Bytes of the body that arrived, and that the process has not got yet. */
  let kept: Uint8Array = new Uint8Array()
  let coming: Promise<ReadableStreamReadResult<Uint8Array>> | undefined
  let isReading = false
  /** True once the body is cancelled, whose next part would look like the last one. */
  let isCancelled = false
  const timer = setTimeout(() => (isReading ? timer.refresh() : cancel()), UNREAD_MS)
  timer.unref()

  function next(): Promise<ReadableStreamReadResult<Uint8Array>> {
    if (coming === undefined) {
      coming = reader.read()
      // An error is given to whoever asks for the next part.
      coming.catch(() => {})
    }
    return coming
  }

  /**
   * Collects the arrived bytes of the body, up to a part.
   * @param isAwaited waits for the first byte
   */
  async function gather(isAwaited: boolean): Promise<BodyPart> {
    const parts = [kept]
    let size = kept.length
    let isLast = false
    while (size < PART_BYTES && !isLast) {
      const came = await (isAwaited && size === 0 ? next() : Promise.race([next(), moment(MOMENT_MS, LATER)]))
      if (came === LATER) break
      coming = undefined
      isLast = came.done
      if (came.value) {
        parts.push(came.value)
        size += came.value.length
      }
    }
    const all = joined(parts)
    const bytes = all.subarray(0, PART_BYTES)
    kept = all.subarray(PART_BYTES)
    return { bytes, isLast: isLast && kept.length === 0 }
  }

  function cancel(): void {
    isCancelled = true
    clearTimeout(timer)
    void reader.cancel().catch(() => {})
  }

  return {
    /** Reads the whole body, if all of it has arrived already and is no more than a part. */
    async whole(): Promise<Uint8Array | undefined> {
      try {
        const { bytes, isLast } = await gather(false)
        if (isLast) {
          clearTimeout(timer)
          return bytes
        }
        kept = Buffer.concat([bytes, kept])
      } catch {
        // The process learns of the error when it reads.
      }
      return undefined
    },
    /**
     * Reads the next part.
     * @throws the error of the body; TypeError while another part is read
     */
    async read(): Promise<BodyPart> {
      if (isReading) throw new TypeError('another part of this body is read')
      if (isCancelled) throw new DestinationError('timeout')
      isReading = true
      timer.refresh()
      try {
        const part = await gather(true)
        if (isCancelled) throw new DestinationError('timeout')
        if (part.isLast) clearTimeout(timer)
        return part
      } finally {
        isReading = false
      }
    },
    cancel,
  }
}

/** Joins parts, copying nothing where there is only one. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts.filter(({ length }) => length > 0)
  return first && others.length === 0 ? first : Buffer.concat(parts)
}
