/** The plugin passes the conformance kit at a site whose page comes, goes and changes. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { textFingerprint } from '@claimcheck/core/receipts'
import { type Case, type Destination, verifierConformance } from '@claimcheck/core/testkit'
import http from '@claimcheck/plugin-http'
import t from 'tap'

t.setTimeout(300_000)

const MINUTE_MS = 60_000
const SITE = 'https://news.example.com'
const TARGET = `${SITE}/release`
const TEXT = 'Version 2 is out.\n'
const OTHER_TEXT = 'Version 1 is out.\n'
const bytesOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

interface Page {
  readonly status: number
  readonly text: string
}

const PAGES = {
  missing: { status: 404, text: 'Not found' },
  published: { status: 200, text: TEXT },
  'published otherwise': { status: 200, text: OTHER_TEXT },
  empty: { status: 204, text: '' },
  gone: { status: 410, text: 'Gone' },
  'in maintenance': { status: 503, text: 'Back soon' },
} as const satisfies Record<string, Page>
type Situation = keyof typeof PAGES

function newsSite(): Destination<Situation> {
  let page: Page = PAGES.missing
  return {
    async start({ now }) {
      const server = createServer(({ url }, response) => {
        const { status, text } = url === '/release' ? page : PAGES.missing
        response.sendDate = false
        response.writeHead(status, {
          date: new Date(now()).toUTCString(),
          ...(status < 300 && { etag: `"${createHash('sha1').update(text).digest('hex')}"` }),
          ...(text === '' ? {} : { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) }),
        })
        response.end(text)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        stop() {
          server.closeAllConnections()
          server.close()
        },
      }
    },
    set(situation) {
      page = PAGES[situation]
    },
  }
}

t.test('at a site', async (t) => {
  const claim = (params: { status?: number; content_fingerprint?: string } = {}) => ({ target: TARGET, params })
  // Of a public page, 404 says that it is not there.
  const common = { connection: null, absentRoutes: [/^GET \/release$/] }
  const cases: readonly Case<Situation>[] = [
    {
      ...common,
      name: 'a page that is there',
      situation: 'published',
      claim: claim(),
      sees: { kind: 'present', facts: { answered_status: 200, redirected: false, bytes: TEXT.length } },
      verdict: 'verified',
    },
    {
      ...common,
      name: 'a page with the claimed text',
      situation: 'published',
      claim: claim({ content_fingerprint: textFingerprint(TEXT) }),
      sees: { kind: 'present', facts: { fingerprint: textFingerprint(TEXT) } },
      verdict: 'verified',
    },
    {
      ...common,
      name: 'a page with the claimed bytes',
      situation: 'published',
      claim: claim({ status: 200, content_fingerprint: bytesOf(TEXT) }),
      sees: { kind: 'present', facts: { fingerprint: bytesOf(TEXT) } },
      verdict: 'verified',
    },
    {
      ...common,
      name: 'a page with other content',
      situation: 'published otherwise',
      claim: claim({ content_fingerprint: bytesOf(TEXT) }),
      sees: { kind: 'present', differs: ['content_fingerprint'], facts: { fingerprint: bytesOf(OTHER_TEXT) } },
      verdict: 'mismatch',
    },
    {
      ...common,
      name: 'a page that never came',
      situation: 'missing',
      claim: claim(),
      sees: { kind: 'absent', facts: { answered_status: 404 } },
      verdict: 'failed',
    },
    {
      ...common,
      name: 'a page that came after the tolerance',
      situation: 'missing',
      changes: [{ afterMs: 7 * MINUTE_MS, situation: 'published' }],
      claim: claim(),
      sees: { kind: 'absent' },
      verdict: 'unverifiable',
    },
    {
      ...common,
      name: 'a page that is gone, and may have been there',
      situation: 'gone',
      claim: claim(),
      sees: { kind: 'absent', mark: 'may_have_been' },
      verdict: 'unverifiable',
    },
    {
      ...common,
      name: 'a page that is missing when the claim arrives late, and may have been there before',
      situation: 'missing',
      claim: claim(),
      submittedAfterMs: MINUTE_MS,
      sees: { kind: 'absent' },
      verdict: 'unverifiable',
    },
    {
      ...common,
      name: 'an answer of another status',
      situation: 'empty',
      claim: claim(),
      sees: { kind: 'present', differs: ['status'], facts: { answered_status: 204 } },
      verdict: 'mismatch',
    },
    {
      ...common,
      name: 'a page that is claimed to be gone, and is',
      situation: 'gone',
      claim: claim({ status: 410 }),
      sees: { kind: 'present', facts: { answered_status: 410 } },
      verdict: 'verified',
    },
    {
      ...common,
      name: 'a site that is claimed to be in maintenance, and is',
      situation: 'in maintenance',
      claim: claim({ status: 503 }),
      sees: { kind: 'present', facts: { answered_status: 503 } },
      verdict: 'verified',
    },
    {
      name: 'a site that is in maintenance',
      connection: null,
      situation: 'in maintenance',
      claim: claim(),
      sees: { error: 'unavailable' },
      verdict: 'unverifiable',
    },
    {
      name: 'a page that is read through a connection',
      absentRoutes: common.absentRoutes,
      situation: 'published',
      claim: claim(),
      sees: { kind: 'present' },
      verdict: 'verified',
    },
  ]
  const report = await verifierConformance(t, {
    plugin: http,
    connection: { provider: 'site', options: { base_url: SITE } },
    destination: newsSite(),
    before: 'missing',
    cases,
  })
  t.strictSame(report.untested, [
    'absence.hides-permission: bring `unprivileged`, credentials that may see less',
    'probe.works: name something to try as `target` of the connection',
  ])
})
