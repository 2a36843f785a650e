/** Messages of webhooks, by the published vector of Standard Webhooks, by its library, and by its specification written out. */
import { createHmac } from 'node:crypto'
import type { Event } from '@claimcheck/core/api'
import { bodyOf, messageHeaders, newSecret, testBody } from '@claimcheck/server/features/webhooks/message'
import { Webhook } from 'standardwebhooks'
import t from 'tap'

const OWN = { origin: () => 'https://claims.example.com' }
const EVENT = {
  id: '17',
  type: 'claim.decided',
  timestamp: '2026-09-25T14:02:11.000Z',
  data: { claim_id: 'clm_1', receipt_id: 'rcpt_1', verdict: 'failed', last_check: { facts: {} } },
} as unknown as Event

/** The signature as the specification describes it, beside any library. */
function signature(secret: string, id: string, seconds: number, body: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
}

t.test('the published vector of Standard Webhooks comes out', async (t) => {
  const headers = messageHeaders(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    '{"test": 2432232314}',
    1614265330_999,
  )
  t.strictSame(headers, {
    'content-type': 'application/json',
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

t.test(
  'during a rotation a receiver with either secret accepts a message, and one with another refuses it',
  async (t) => {
    const [present, former, other] = [newSecret(), newSecret(), newSecret()]
    const body = JSON.stringify({ text: 'größer 🙂' })
    const at = Date.now()
    const headers = messageHeaders('msg_1', [present, former], body, at)
    for (const secret of [present, former])
      t.strictSame(new Webhook(secret).verify(body, headers), { text: 'größer 🙂' })
    t.throws(() => new Webhook(other).verify(body, headers), { name: 'WebhookVerificationError' })
    t.throws(() => new Webhook(present).verify(`${body} `, headers), { name: 'WebhookVerificationError' })
    const expected = [present, former].map((secret) => signature(secret, 'msg_1', Math.floor(at / 1000), body))
    t.equal(headers['webhook-signature'], expected.join(' '))
  },
)

t.test('a secret has 32 random bytes', async (t) => {
  const secrets = Array.from({ length: 100 }, newSecret)
  t.equal(new Set(secrets).size, 100)
  for (const secret of secrets) t.equal(Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length, 32)
})

t.test('an event is sent whole up to 20 kB, and by its ids alone beyond', async (t) => {
  t.equal(bodyOf(EVENT, OWN), JSON.stringify(EVENT))
  const large = {
    ...EVENT,
    data: { ...EVENT.data, last_check: { facts: { text: 'x'.repeat(20_000) } } },
  } as unknown as Event
  t.strictSame(JSON.parse(bodyOf(large, OWN)), {
    id: '17',
    type: 'claim.decided',
    timestamp: EVENT.timestamp,
    data: { claim_id: 'clm_1', receipt_id: 'rcpt_1', url: 'https://claims.example.com/v1/claims/clm_1' },
  })
})

t.test('a test message says that nothing happened', async (t) => {
  t.match(JSON.parse(testBody(Date.UTC(2026, 8, 25))), {
    type: 'webhook.test',
    timestamp: '2026-09-25T00:00:00.000Z',
    data: { message: /^This is a test/ },
  })
})
