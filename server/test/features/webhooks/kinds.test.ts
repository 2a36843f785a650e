/** Messages of each kind at receivers that answer as the services publish, over real HTTP. */
import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Event } from '@claimcheck/core/api'
import { kindOf, usualFilters } from '@claimcheck/server/features/webhooks/kinds'
import { newSecret } from '@claimcheck/server/features/webhooks/message'
import { createSend } from '@claimcheck/server/features/webhooks/sender'
import { WEBHOOK_FORMATS, type WebhookFormat } from '@claimcheck/server/storage/webhooks'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { outboundTo, serve } from '../../support/loopback.ts'
import { refusals } from './chat-schemas.ts'

const OWN = 'https://claims.example.com'
const ownAddress = { origin: () => OWN, url: () => OWN }
const EVENT = {
  id: '7',
  type: 'claim.decided',
  timestamp: '2026-09-25T12:15:00.000Z',
  data: {
    claim_id: 'clm_1',
    agent_id: 'release-bot',
    action: 'codehost.commit.push',
    target: 'acme/api',
    verdict: 'failed',
    reason_code: 'not_found',
    receipt_id: 'rcpt_1',
  },
} as unknown as Event

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** A receiver that gives one answer. */
async function begin(t: Test, { status, body, headers }: Answer) {
  const got: { path: string; headers: IncomingHttpHeaders; body: string }[] = []
  const host = await serve(t, async (request, response) => {
    got.push({ path: request.url!, headers: request.headers, body: await text(request) })
    response.writeHead(status, headers).end(body)
  })
  const secret = newSecret()
  const { send } = createSend({
    outbound: outboundTo(t, ['127.0.0.1']),
    ownAddress,
    now: Date.now,
    reported: async () => [],
  })
  const to = (format: WebhookFormat, event: Event | undefined) =>
    send(
      { workspaceId: 'ws_1', format, url: `http://${host}/hooks/T0/B0?key=s3cret`, secrets: [secret] },
      { id: 'msg_1', event, more: 0 },
    )
  return { got, secret, to }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const errorOf = (code: string) => JSON.stringify({ error: { code, message: 'no' } })
const mattermost = (id: string, status_code: number) =>
  JSON.stringify({ id, message: 'no', request_id: 'r', status_code })

/** The answers that services publish, and what they mean here. */
const ANSWERS: readonly (readonly [
  WebhookFormat,
  status: number,
  body: string,
  fault: string | null,
  retryAfterMs?: number,
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['standard', 204, '', null],
  ['standard', 200, 'anything', null],
  ['standard', 400, '', 'status'],
  ['standard', 404, '', 'status'],
  ['standard', 410, '', 'gone'],
  ['slack', 200, 'ok', null],
  ['slack', 200, '<html>Sign in</html>', 'bad_answer'],
  ['slack', 400, 'invalid_payload', 'rejected'],
  ['slack', 403, 'action_prohibited', 'gone'],
  ['slack', 404, 'no_service', 'gone'],
  ['slack', 404, 'channel_not_found', 'gone'],
  ['slack', 410, 'channel_is_archived', 'gone'],
  ['slack', 429, 'rate_limited', 'status', 30_000, { 'retry-after': '30' }],
  ['slack', 500, 'rollup_error', 'status'],
  ['slack', 302, '', 'redirect'],
  ['discord', 204, '', null],
  ['discord', 200, '{"id":"1"}', null],
  ['discord', 400, '{"embeds":["0"]}', 'rejected'],
  ['discord', 401, '{"message":"Invalid Webhook Token","code":50027}', 'gone'],
  ['discord', 404, '{"message":"Unknown Webhook","code":10015}', 'gone'],
  ['discord', 429, '{"message":"slow","retry_after":64.57,"global":false}', 'status', 64_570],
  ['discord', 429, '{"message":"slow","retry_after":0.65,"global":true}', 'status', 1000, { 'retry-after': '1' }],
  ['discord', 429, '<html>1015</html>', 'status', 60_000, { 'retry-after': '60' }],
  ['discord', 502, '', 'status'],
  ['mattermost', 200, 'ok', null],
  ['mattermost', 200, '<html></html>', 'bad_answer'],
  ['mattermost', 400, mattermost('web.incoming_webhook.invalid.app_error', 400), 'gone'],
  ['mattermost', 400, mattermost('web.incoming_webhook.text.app_error', 400), 'rejected'],
  ['mattermost', 403, mattermost('web.incoming_webhook.permissions.app_error', 403), 'gone'],
  ['mattermost', 404, mattermost('web.incoming_webhook.channel.app_error', 404), 'gone'],
  ['mattermost', 404, '<html>nginx</html>', 'status'],
  ['mattermost', 429, 'limit exceeded', 'status', 1000, { 'retry-after': '1' }],
  ['mattermost', 501, mattermost('web.incoming_webhook.disabled.app_error', 501), 'status'],
  ['teams', 202, '', null],
  ['teams', 200, '1', 'bad_answer'],
  ['teams', 400, errorOf('TriggerInputSchemaMismatch'), 'rejected'],
  ['teams', 400, errorOf('WorkflowTriggerIsNotEnabled'), 'gone'],
  ['teams', 401, errorOf('DirectApiAuthorizationRequired'), 'gone'],
  ['teams', 404, errorOf('WorkflowNotFound'), 'gone'],
  ['teams', 429, errorOf('TooManyRequests'), 'status', 7000, { 'retry-after': '7' }],
]

for (const [format, status, body, fault, retryAfterMs, headers = JSON_TYPE] of ANSWERS) {
  t.test(`${format}: ${status} ${body.slice(0, 60)}`, async (t) => {
    const { got, to } = await begin(t, { status, body, headers })
    t.match(await to(format, EVENT), { status, fault, retryAfterMs })
    t.equal(got.length, 1)
  })
}

const ARRIVES: Readonly<Record<(typeof WEBHOOK_FORMATS)[number], Answer>> = {
  standard: { status: 204, body: '', headers: {} },
  slack: { status: 200, body: 'ok', headers: {} },
  discord: { status: 200, body: '{}', headers: {} },
  mattermost: { status: 200, body: 'ok', headers: {} },
  teams: { status: 202, body: '', headers: {} },
}

for (const format of WEBHOOK_FORMATS) {
  t.test(`${format}: events and tests are what the service takes`, async (t) => {
    const { got, secret, to } = await begin(t, ARRIVES[format])
    for (const event of [EVENT, undefined]) t.match(await to(format, event), { fault: null })
    for (const { headers, body } of got) {
      t.match(headers, { 'content-type': 'application/json', 'webhook-id': 'msg_1' })
      if (format === 'standard') {
        t.ok(new Webhook(secret).verify(body, { ...headers } as Record<string, string>))
        continue
      }
      t.strictSame(refusals(format, body), [])
      t.notOk('webhook-signature' in headers || 'webhook-timestamp' in headers, 'nothing is signed')
    }
    t.equal(got[0]!.path, `/hooks/T0/B0?key=s3cret${format === 'discord' ? '&wait=true' : ''}`)
    t.match(got[1]!.body, /This is a test/)
  })
}

t.test('people are told of what is not as it should be, programs of everything', async (t) => {
  t.strictSame(usualFilters('standard').verdicts, [])
  for (const format of ['slack', 'discord', 'mattermost', 'teams'] as const) {
    t.strictSame(usualFilters(format).verdicts, ['late', 'mismatch', 'failed', 'unverifiable'])
    t.notOk(usualFilters(format).types.includes('anchor.landed'))
    t.ok(kindOf(format).gapMs >= 1000)
  }
})
