/** The messages of webhooks, by the specification Standard Webhooks: secrets, bodies, and the headers that sign them. */
import { randomBytes } from 'node:crypto'
import type * as wire from '@claimcheck/core/api'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { Webhook } from 'standardwebhooks'
import type { OwnAddress } from '../../config/address.ts'

/** The size up to which an event is sent whole. The specification asks for less than 20 kB. */
const MOST_BYTES = 20_000
const SECRET_BYTES = 32

export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** Writes an event as the body of a message. Of one that is too large it has ids alone, and the address that has the rest for a key. */
export function bodyOf(event: wire.Event, ownAddress: Pick<OwnAddress, 'origin'>): string {
  const body = JSON.stringify(event)
  if (Buffer.byteLength(body) <= MOST_BYTES || event.type !== 'claim.decided') return body
  const { claim_id, receipt_id } = event.data
  const url = `${ownAddress.origin()}/v1/claims/${claim_id}`
  return JSON.stringify({ ...event, data: { claim_id, receipt_id, url } })
}

/** Writes the body of a message that an owner has sent to try a receiver. */
export function testBody(at: Instant): string {
  const data = { message: 'This is a test. Nothing happened.' }
  return JSON.stringify({ type: 'webhook.test', timestamp: formatInstant(at), data })
}

/**
 * Makes the headers of one try.
 * @param id stays the same at each try, so that a receiver knows a message that it has
 * @param secrets those that receivers may check by: two during a rotation
 * @param at the time of this try
 */
export function messageHeaders(
  id: string,
  secrets: readonly string[],
  body: string,
  at: Instant,
): Readonly<Record<string, string>> {
  const date = new Date(at)
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, date, body)).join(' '),
  }
}
