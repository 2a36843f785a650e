/** A kind of webhook: what it is given to send, what it asks for, and what it says of the answers. */
import type * as wire from '@claimcheck/core/api'
import type { Instant } from '@claimcheck/core/rules'
import type { OwnAddress } from '../../config/address.ts'
import type { DeliveryFault, ReportedClaim, ReportGrant, WebhookFormat } from '../../storage/webhooks.ts'

/** A target with its URL and secrets in clear. */
export interface OpenTarget {
  readonly workspaceId: string
  readonly format: WebhookFormat
  readonly url: string
  /** The secrets that sign; of one that reports, the token or the private key alone. */
  readonly secrets: readonly string[]
  /** The grant of one that reports on commits. */
  readonly report?: OpenReport
}

export interface OpenReport extends ReportGrant {
  readonly targetId: string
}

export interface Message {
  /** An id that stays the same at each try. */
  readonly id: string
  /** The event; undefined in a message by which an owner tries the receiver. */
  readonly event: wire.Event | undefined
  /** The number of other events like this one, which are told by this message alone. */
  readonly more: number
}

export interface OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** The most bytes of the answer's body that are read. */
  readonly mostBytes?: number | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The beginning of the body. */
  readonly text: string
}

/** Judges what became of a message. */
export interface Judgement {
  /** The kind of fault; null if the message arrived. */
  readonly fault: DeliveryFault | null
  /** The time that the receiver asks to be left alone. */
  readonly retryAfterMs?: number | undefined
}

export interface Sending {
  readonly target: OpenTarget
  readonly message: Message
  /** The time of this try. */
  readonly at: Instant
  /** This service's own address. */
  readonly ownAddress: Pick<OwnAddress, 'origin' | 'url'>
  /**
   * Posts where only the status and `Retry-After` of the answer count, at a fraction of what `call` costs.
   * @throws DestinationError
   */
  post(request: Omit<OutgoingRequest, 'method' | 'body'> & { readonly body: string }): Promise<Answer>
  /**
   * Sends a request through the guard of outgoing requests. All requests of one message share a time limit.
   * @throws DestinationError
   */
  call(request: OutgoingRequest): Promise<Answer>
  /** Reads this claim, and those about the repository that the target was told of lately. */
  reported(targetId: string, claimId: string, repository: string): Promise<readonly ReportedClaim[]>
}

export interface Kind {
  /** The shortest time between two messages to a receiver, from all hosts together; 0: it takes several at a time. */
  readonly gapMs: number
  /** True if claims that are like one another within an hour are told in one message. */
  readonly gathers: boolean
  /** Sends a message, which may take several requests. A message that is sent again must do no harm. */
  send(sending: Sending): Promise<Judgement>
}
