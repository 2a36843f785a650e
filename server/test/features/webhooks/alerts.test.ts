/** What chat services get of events, and what nobody can do with the words in them. */
import type { Event } from '@claimcheck/core/api'
import {
  ALERT_FORMATS,
  type AlertFormat,
  alertBody,
  harmless,
  testAlert,
} from '@claimcheck/server/features/webhooks/alerts'
import t from 'tap'
import { refusals } from './chat-schemas.ts'

const ORIGIN = 'https://claims.example.com'
const CLAIM = {
  claim_id: 'clm_1',
  client_claim_id: 'run-1',
  agent_id: 'release-bot',
  action: 'codehost.commit.push',
  target: 'acme/api',
  claimed_at: '2026-09-25T12:00:00.000Z',
  deadline_at: '2026-09-25T12:15:00.000Z',
  submitted_at: '2026-09-25T12:00:01.000Z',
  claim_digest: 'digest',
  state: 'decided',
  attempts: 2,
  next_check_at: null,
  receipt_id: 'rcpt_1',
  verdict: 'failed',
  reason_code: 'not_found',
  last_check: null,
} as const

const decided = (over: object = {}) =>
  ({ id: '7', type: 'claim.decided', timestamp: '2026-09-25T12:15:00.000Z', data: { ...CLAIM, ...over } }) as Event
const connection = (type: string, over: object = {}) =>
  ({
    id: '8',
    type,
    timestamp: '2026-09-25T12:15:00.000Z',
    data: {
      connection_id: 'conn_1',
      name: 'GitHub, acme',
      provider: 'github',
      failure: null,
      expires_at: null,
      ...over,
    },
  }) as Event

/** All lines of all texts in a body. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split('\n')
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}
/** The body of an alert, which the service takes. */
function sent(format: AlertFormat, event: Event, more = 0) {
  const body = alertBody(format, { event, more }, 'ws_1', ORIGIN)
  t.strictSame(refusals(format, body), [])
  return JSON.parse(body)
}

const EVENTS: readonly (readonly [Event, RegExp, string])[] = [
  [decided(), /^Claim failed\. The outcome was not there by the deadline\. It was not there/, '/r/rcpt_1'],
  [
    decided({ verdict: 'verified', reason_code: null }),
    /^Claim verified\. The outcome is there as claimed/,
    '/r/rcpt_1',
  ],
  [
    connection('connection.failing', { failure: 'unauthorized' }),
    /refused the credentials\.$/,
    '/console/w/ws_1/connections',
  ],
  [connection('connection.recovered'), /^A connection is read again\.$/, '/console/w/ws_1/connections'],
  [
    connection('connection.expiring', { expires_at: '2026-10-01T00:00:00.000Z' }),
    /end at 2026-10-01T00:00:00\.000Z\.$/,
    '/console/w/ws_1/connections',
  ],
  [
    {
      id: '9',
      type: 'anchor.landed',
      timestamp: '',
      data: { anchor: { chain: 'eip155:84532', tree_size: 12 } },
    } as never,
    /^The log is anchored: 12 receipts/,
    '/log',
  ],
  [
    {
      id: '10',
      type: 'agent.silent',
      timestamp: '',
      data: { agent_id: 'bot', claim_id: 'clm_1', last_claim_at: '2026-10-01T00:00:00.000Z', hours: 24 },
    },
    /^An agent submitted no claim for 24 hours\.$/,
    '/console/w/ws_1/agents',
  ],
  [
    {
      id: '11',
      type: 'rate.jumped',
      timestamp: '',
      data: {
        ...{ agent_id: 'bot', claim_id: 'clm_1' },
        last_day: { not_verified: 9, judged: 30 },
        weeks_before: { not_verified: 2, judged: 400 },
      },
    },
    /^Fewer claims of an agent hold: 9 of 30 of the last day are not verified, 2 of 400 of the four weeks before\.$/,
    '/console/w/ws_1/agents',
  ],
]

for (const format of ALERT_FORMATS) {
  t.test(`${format}: every event has words of ours, its facts, and a link to what to do`, async (t) => {
    for (const [event, title, path] of EVENTS) {
      const texts = textsOf(sent(format, event))
      t.ok(
        texts.some((text) => title.test(text.split('\n')[0]!)),
        event.type,
      )
      t.ok(
        texts.some((text) => text.includes(ORIGIN + path)),
        `${event.type}: ${path}`,
      )
    }
    t.match(textsOf(sent(format, decided())).join('\n'), /acme\/api/, 'a usual target is readable')
    t.match(textsOf(sent(format, decided(), 1234)).join('\n'), / And 1,234 more like it\./)
    t.match(testAlert(format, 'ws_1', ORIGIN), /This is a test/)
  })

  t.test(`${format}: what was erased has no words`, async (t) => {
    const texts = textsOf(sent(format, decided({ agent_id: '', target: '', client_claim_id: '' })))
    t.notOk(texts.some((text) => /Agent|Target/.test(text)))
  })

  for (const [what, words] of Object.entries({
    mentions: '@everyone @here <@1234> <@&5678> <#90> <!channel> <!here> <!subteam^S1>',
    links: '[click](https://evil.example) ![x](https://evil.example/x.png) <https://evil.example|Open the receipt>',
    hosts: 'evil.example www.evil.example http://evil.example ｅｖｉｌ．example evil。example mailto:a@b.example',
    lines: 'a\r\nClaim verified. \u2028# Title\n> quote\n```',
    marks: '**bold** _it_ ~~gone~~ `code` ||spoiler|| :fire: &lt;!channel&gt;',
    unseen: 'x\u202eevil\u200b',
    blanks: ' \u3000\u00a0 ',
    long: '@:'.repeat(500),
  })) {
    t.test(`${format}: ${what} of others do nothing`, async (t) => {
      for (const event of [
        decided({ agent_id: words, target: words, action: words }),
        connection('connection.failing', { name: words, provider: words }),
      ]) {
        const body = sent(format, event)
        const [fine, found] = [textsOf(sent(format, decided())), textsOf(body)]
        const links = found.flatMap((text) => text.match(/https?:\/\/[^\s|>)\]]+/g) ?? [])
        t.ok(
          links.length > 0 && links.every((link) => link.startsWith(ORIGIN) || /adaptivecards\.io/.test(link)),
          links.join(),
        )
        for (const text of found.filter((one) => !fine.includes(one) && !one.includes(`${ORIGIN}/`))) {
          t.notMatch(text, /(?<!\[)@|[^[][.。](?=evil|example)|:fire:/, text)
          // What Teams shows as a person is a member of its own, `msteams`.
          if (format !== 'teams') t.notMatch(text, /<[!@#]/, text)
          t.notMatch(text, /[\u202e\u200b\u2028\r]/, text)
          if (format === 'slack') t.notMatch(text, /<|>|&(?!amp;|lt;|gt;)/)
        }
        if (format === 'discord' || format === 'mattermost') {
          const own = found.filter((text) => text.includes('bold') || text.includes('click'))
          for (const text of own) t.notMatch(text, /(?<!\\)(\*\*|`|~~|\|\||!\[)/, text)
        }
        if (format === 'discord') t.strictSame(body.allowed_mentions, { parse: [] })
        if (format === 'teams')
          t.notMatch(JSON.stringify(body), /"TextBlock"|msteams/, 'no Markdown, and nobody is mentioned')
      }
    })
  }
}

t.test('words of ours stay as they are', async (t) => {
  for (const format of ALERT_FORMATS) {
    const texts = EVENTS.map(([event]) => textsOf(sent(format, event)).join('\n')).join('\n')
    t.match(texts, /T00:00:00/)
    t.match(texts, /eip155:84532/)
  }
})

t.test('words that lead nowhere stay as they are', async (t) => {
  for (const words of ['acme/api', 'v1.2.3', 'release-bot', 'Müller & Söhne', 'pkg 1.0, 50 %'])
    t.equal(harmless(words), words)
  t.equal([...harmless('x'.repeat(900))].length, 200)
})
