/** Sends one message to a receiver, and tells what became of it. */
import { isDestinationError, retryAfterMs } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import type { Outbound } from '../../outbound/outbound.ts'
import type { DeliveryFault } from '../../storage/webhooks.ts'
import { messageHeaders } from './message.ts'

/** A target with its secrets in clear. */
export interface OpenTarget {
  readonly url: string
  readonly secrets: readonly string[]
}

export interface Message {
  readonly id: string
  readonly body: string
}

/** The outcome of a try. Of an answer only the status counts. */
export interface Try {
  readonly status: number | null
  readonly durationMs: number
  /** The kind of fault; null where the message arrived. */
  readonly fault: DeliveryFault | null
  /** The time that a receiver asks to be left alone. */
  readonly retryAfterMs: number | undefined
}

const TIMEOUT_MS = 10_000
/** The most bytes of an answer that are read, so that its connection can be used again. */
const MOST_ANSWER_BYTES = 4096
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

export type Send = ReturnType<typeof createSend>

export function createSend({ outbound, now }: { readonly outbound: Pick<Outbound, 'request'>; now: () => Instant }) {
  /** Sends a message; never rejects. @param ended ends the request early */
  return async function send({ url, secrets }: OpenTarget, { id, body }: Message, ended?: AbortSignal): Promise<Try> {
    const begun = performance.now()
    const tried = (status: number | null, fault: DeliveryFault | null, retryAfter?: number): Try => {
      return { status, durationMs: Math.round(performance.now() - begun), fault, retryAfterMs: retryAfter }
    }
    try {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      const signal = ended ? AbortSignal.any([timeout, ended]) : timeout
      const headers = messageHeaders(id, secrets, body, now())
      const response = await outbound.request(url, { method: 'POST', headers, body, signal })
      const { status, headers: answered } = response
      const wait = ASKS_TO_WAIT.has(status) ? retryAfterMs(answered, now()) : undefined
      const result = tried(status, faultOf(status), wait)
      await discard(response)
      return result
    } catch (error) {
      return tried(null, isDestinationError(error) ? (FAULTS[error.code] ?? 'unreachable') : 'unreachable')
    }
  }
}

const FAULTS: Readonly<Record<string, DeliveryFault>> = {
  timeout: 'timeout',
  unexpected_response: 'bad_answer',
  too_large: 'bad_answer',
}

function faultOf(status: number): DeliveryFault | null {
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'gone'
  // A redirect is not followed: its receiver never got the approval of an owner.
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

/** Reads the beginning of an answer and throws it away. */
async function discard({ body }: Response): Promise<void> {
  const reader = body?.getReader()
  if (!reader) return
  try {
    for (let left = MOST_ANSWER_BYTES; left > 0; ) {
      const { done, value } = await reader.read()
      if (done) return
      left -= value.length
    }
    await reader.cancel()
  } catch {
    // The status has come: the rest of the answer changes nothing.
  }
}
