/** Sends one message to a receiver, and tells what became of it. */
import { isDestinationError, retryAfterMs } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { createOutbound, type Outbound } from '../../outbound/outbound.ts'
import type { AnswerHead } from '../../outbound/post.ts'
import type { DeliveryFault } from '../../storage/webhooks.ts'
import type { WebhooksConfig } from './config.ts'
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
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

/** Makes the guard of the requests of webhooks: what owners may have read in the operator's network is not what they may have called there. */
export function createWebhookOutbound({ config }: { readonly config: WebhooksConfig }): Outbound {
  return createOutbound(config.webhooks)
}

export type Send = ReturnType<typeof createSend>

export function createSend({ outbound, now }: { readonly outbound: Pick<Outbound, 'post'>; now: () => Instant }) {
  /** Sends a message; never rejects. @param ended ends the request early */
  return async function send({ url, secrets }: OpenTarget, { id, body }: Message, ended?: AbortSignal): Promise<Try> {
    const begun = performance.now()
    const tried = (status: number | null, fault: DeliveryFault | null, retryAfter?: number): Try => {
      return { status, durationMs: Math.round(performance.now() - begun), fault, retryAfterMs: retryAfter }
    }
    try {
      const headers = messageHeaders(id, secrets, body, now())
      const { status, headers: answered } = await outbound.post(url, { headers, body, timeoutMs: TIMEOUT_MS, ended })
      return tried(status, faultOf(status), ASKS_TO_WAIT.has(status) ? waitOf(answered, now()) : undefined)
    } catch (error) {
      return tried(null, isDestinationError(error) ? (FAULTS[error.code] ?? 'unreachable') : 'unreachable')
    }
  }
}

function waitOf({ 'retry-after': wait }: AnswerHead['headers'], at: Instant): number | undefined {
  return typeof wait === 'string' && /^[ -~]+$/.test(wait)
    ? retryAfterMs(new Headers({ 'retry-after': wait }), at)
    : undefined
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
