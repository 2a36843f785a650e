/** Sends one message to a receiver, and tells what became of it. */
import { isDestinationError } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import type { OwnAddress } from '../../config/address.ts'
import { createOutbound, type Outbound } from '../../outbound/outbound.ts'
import type { DeliveryFault, ReportFormat } from '../../storage/webhooks.ts'
import type { WebhooksConfig } from './config.ts'
import type { Message, OpenTarget, OutgoingRequest, Sending } from './kind.ts'
import { kindOf } from './kinds.ts'
import { whoReports as askWho, type ReportAccess } from './report-hosts.ts'

/** The outcome of a try. Answers are not kept. */
export interface Try {
  /** The status of the last answer. */
  readonly status: number | null
  readonly durationMs: number
  /** The kind of fault; null where the message arrived. */
  readonly fault: DeliveryFault | null
  /** The time that a receiver asks to be left alone. */
  readonly retryAfterMs: number | undefined
}

const TIMEOUT_MS = 10_000
/** The most bytes of an answer that a kind is given. */
const MOST_ANSWER_BYTES = 4096

/** Makes the guard of the requests of webhooks: what owners may have read in the operator's network is not what they may have called there. */
export function createWebhookOutbound({ config }: { readonly config: WebhooksConfig }): Outbound {
  return createOutbound(config.webhooks)
}

export type Send = ReturnType<typeof createSend>

interface SendParts {
  readonly outbound: Pick<Outbound, 'post' | 'request'>
  readonly ownAddress: Pick<OwnAddress, 'origin' | 'url'>
  readonly now: () => Instant
  readonly reported: Sending['reported']
}

export function createSend({ outbound, ownAddress, now, reported }: SendParts) {
  async function call({ url, mostBytes = MOST_ANSWER_BYTES, ...request }: OutgoingRequest, signal: AbortSignal) {
    const response = await outbound.request(url, { ...request, signal })
    return { status: response.status, headers: response.headers, text: await beginningOf(response, mostBytes) }
  }

  /** Sends a message; never rejects. @param ended ends the request early */
  async function send(target: OpenTarget, message: Message, ended?: AbortSignal): Promise<Try> {
    const begun = performance.now()
    let status: number | null = null
    let signal: AbortSignal | undefined
    const sending: Sending = {
      ...{ target, message, at: now(), ownAddress },
      async post({ url, headers, body }) {
        const answer = await outbound.post(url, { headers, body, timeoutMs: TIMEOUT_MS, ended })
        status = answer.status
        const { 'retry-after': wait } = answer.headers
        const isText = typeof wait === 'string' && /^[ -~]+$/.test(wait)
        return { status, headers: new Headers(isText ? { 'retry-after': wait } : {}), text: '' }
      },
      async call(request) {
        const timeout = AbortSignal.timeout(TIMEOUT_MS)
        signal ??= ended ? AbortSignal.any([timeout, ended]) : timeout
        const answer = await call(request, signal)
        status = answer.status
        return answer
      },
      reported,
    }
    const { fault, retryAfterMs } = await kindOf(target.format)
      .send(sending)
      .catch((error: unknown) => {
        status = null
        const known = isDestinationError(error) ? FAULTS[error.code] : undefined
        return { fault: known ?? 'unreachable', retryAfterMs: undefined }
      })
    return { status, durationMs: Math.round(performance.now() - begun), fault, retryAfterMs }
  }

  /** Finds out who reports with these credentials. @throws ServiceError `bad_request` where the host does not say it */
  async function whoReports(format: ReportFormat, access: ReportAccess): Promise<string> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return askWho(format, access, now(), (request) => call(request, signal)).catch((cause) => {
      const problem = `${new URL(access.url).origin} did not say whose credentials these are: look whether they are right, and may read the account`
      throw new ServiceError('bad_request', problem, { cause })
    })
  }

  return { send, whoReports }
}

const FAULTS: Readonly<Record<string, DeliveryFault>> = {
  timeout: 'timeout',
  unexpected_response: 'bad_answer',
  too_large: 'bad_answer',
}

/** Reads the beginning of an answer, and throws the rest away. */
async function beginningOf({ body }: Response, mostBytes: number): Promise<string> {
  const reader = body?.getReader()
  if (!reader) return ''
  const chunks: Uint8Array[] = []
  try {
    for (let left = mostBytes; left > 0; ) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks).toString()
      chunks.push(value.subarray(0, left))
      left -= value.length
    }
    await reader.cancel()
  } catch {
    // The status has come: a body that breaks off is judged as far as it came.
  }
  return Buffer.concat(chunks).toString()
}
