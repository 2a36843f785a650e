/** Lives of web addresses: a place without a log, which answers as it likes. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createVirtualClock } from '@claimcheck/core/testkit'
import http from '@claimcheck/plugin-http'
import {
  at,
  BLAME,
  type Happening,
  HOUR,
  type Kind,
  kind,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  type Place,
  type Play,
  SECOND,
  START,
  settingOf,
  UNVERIFIABLE,
} from './life-row.ts'

const action = 'http.url.status'
const URL_OF_PAGE = 'https://site.example/page'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

interface WebPlace extends Place {
  /** What it answers from now on. */
  serve(answer: Answer): void
}

async function openWeb(): Promise<WebPlace> {
  const clock = createVirtualClock(START - HOUR)
  let current: Answer = missing
  const server = createServer((request, response) => {
    response.setHeader('date', new Date(clock.now()).toUTCString())
    current(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...{ clock, plugin: http, connection: null },
    destination: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve(answer) {
      current = answer
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Headers = Readonly<Record<string, string>>

/** The same for everybody, as it says. */
export const SHARED: Headers = { etag: '"1"', 'cache-control': 'public, max-age=60' }

export const missing: Answer = (_, response) =>
  response.writeHead(404, { 'content-type': 'text/html' }).end('Not found')
export const says =
  (status: number, body: string | Buffer = 'A page', headers: Headers = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)
/** At the page's own address; elsewhere another answer. */
export const leads =
  (status: number, location: string, there: Answer = says(200)): Answer =>
  (request, response) =>
    request.url === '/page' ? response.writeHead(status, { location }).end() : there(request, response)

const fingerprint = (body: string | Buffer) => `sha256:${createHash('sha256').update(body).digest('hex')}`

/** It answers so since an hour, unless it says since when. */
type Since = (answer: Answer, ms?: number) => Happening
export const page = (happens: readonly Happening[] = [], params: object = {}, more: Partial<Play> = {}): Play => ({
  ...{ target: URL_OF_PAGE, params: { ...params }, happens, ...more },
})

export function row(about: Kind, name: string, play: (since: Since) => Play): LifeRow {
  const since =
    (place: WebPlace): Since =>
    (answer, ms = -HOUR) =>
      at(ms, 'agent', () => place.serve(answer))
  return { ...about, name, action, place: 'http', set: () => settingOf(openWeb(), (place) => play(since(place))) }
}

const lie = kind('plain lie', BLAME, 'never')
const elsewhere = kind('plain lie', BLAME, 'elsewhere')
const dated = kind('clocks of clients', BLAME, 'never')
const varying = kind('varying answers', UNVERIFIABLE, 'unknowable')
const noLog = kind('places without a log', UNVERIFIABLE, 'unknowable')
export const signIn = kind('redirects', [...BLAME, ...UNVERIFIABLE], 'elsewhere')
const ofType = (type: string) => ({ 'content-type': type })
export const fingerprinted = (body: string | Buffer) => ({ content_fingerprint: fingerprint(body) })
const EN = { final_url: 'https://site.example/en/page' }

export const webLives: readonly LifeRow[] = [
  row(lie, 'no such page', () => page()),
  row(elsewhere, 'another content', (since) =>
    page([since(says(200, 'A page', SHARED))], fingerprinted('Another page')),
  ),
  row(elsewhere, 'a page that is there, claimed to be gone', (since) =>
    page([since(says(200, 'A page', SHARED))], { status: 404 }),
  ),
  row(elsewhere, 'a redirect that is none', (since) => page([since(says(200, 'A page', SHARED))], { status: 301 })),
  ...[5 * MINUTE - SECOND, 2 * SECOND + 1].map((claimedMs) =>
    row(noLog, `no such page, by a clock ${claimedMs / SECOND} s ahead`, () => page([], {}, { claimedMs })),
  ),
  row(dated, 'no such page, by a clock a second ahead', () => page([], {}, { claimedMs: 2 * SECOND })),
  row(lie, 'no such page, as long ago as a monotonic clock measured', () => page([], {}, { claimedAgoMs: SECOND })),
  row(noLog, 'no such page, longer ago than it says', () => page([], {}, { claimedAgoMs: 11 * SECOND })),
  row(dated, 'no such page, by a clock nine seconds behind', () => page([], {}, { claimedMs: -8 * SECOND })),
  row(noLog, 'no such page, dated a minute back', () => page([], {}, { claimedMs: -MINUTE })),
  row(noLog, 'no such page, first looked at 20 s after the submission', () =>
    page([], {}, { idleUntilMs: 20 * SECOND }),
  ),
  row(noLog, 'no such page, submitted after the deadline', () => page([], {}, { submittedMs: 20 * MINUTE })),
  row(noLog, 'no such page, in answers that are ten minutes old', (since) =>
    page([since(says(404, '', { age: '600' }))]),
  ),
  row(noLog, 'no such page, in answers that are thirty seconds old', (since) =>
    page([since(says(404, '', { age: '30' }))]),
  ),

  ...[20, 150, 163].map((seconds) =>
    row(kind('places without a log', NOT_BLAMED), `a page that is there for ${seconds} s, between looks`, (since) =>
      page([since(says(200), 22 * SECOND), since(missing, (22 + seconds) * SECOND)]),
    ),
  ),
  row(
    kind('clocks of clients', UNVERIFIABLE),
    'gone when it was submitted, 14 s after it was done, by a clock 6 s ahead',
    (since) =>
      page(
        [since(says(200), -SECOND), since(missing, 12 * SECOND)],
        {},
        { claimedMs: 6 * SECOND, submittedMs: 14 * SECOND, claimedAgoMs: 14 * SECOND },
      ),
  ),
  row(kind('plain work'), 'deployed and claimed', (since) => page([since(says(200), 0)])),
  row(kind('plain work'), 'deployed four minutes after', (since) =>
    page([since(says(200), 4 * MINUTE)], {}, { cameMs: 4 * MINUTE }),
  ),
  row(kind('plain work'), 'taken down, as claimed', (since) =>
    page([since(says(200)), since(missing, 0)], { status: 404 }),
  ),
  row(kind('plain work'), 'its content, byte by byte', (since) =>
    page([since(says(200, 'Größe\n'), 0)], fingerprinted('Größe\n')),
  ),
  row(kind('bots'), 'taken away after the first look', (since) =>
    page([since(says(200), 0), since(missing, 10 * SECOND)]),
  ),
  row(kind('clocks of clients'), 'claimed by a clock five minutes ahead', (since) =>
    page([since(says(200), 0)], {}, { claimedMs: 5 * MINUTE - SECOND }),
  ),
  row(kind('late submissions'), 'submitted four minutes after', (since) =>
    page([since(says(200), 0)], {}, { submittedMs: 4 * MINUTE }),
  ),
  row(kind('late submissions', NOT_BLAMED), 'submitted eight minutes after', (since) =>
    page([since(says(200), 0)], {}, { submittedMs: 8 * MINUTE }),
  ),
  row(
    kind('late submissions', ['failed', 'unverifiable'], 'late'),
    'deployed after the tolerance is never late',
    (since) => page([since(says(200), 7 * MINUTE)]),
  ),
  row(kind('replicas'), 'a cache keeps the 404 for two minutes, and tells no age', (since) =>
    page([since(missing), since(says(200), 2 * MINUTE)]),
  ),
  row(kind('replicas'), 'the answer is thirty seconds old', (since) =>
    page([since(says(200, 'A page', { age: '30' }), 0)]),
  ),
  row(kind('reads that disagree'), 'every second server has it not yet, for four minutes', (since) => {
    let count = 0
    const half: Answer = (request, response) => (++count % 2 === 1 ? missing : says(200))(request, response)
    return page([since(half, 0), since(says(200), 4 * MINUTE)])
  }),
  row(kind('reads that disagree', BLAME, 'never'), 'no such page, and one odd answer fails at the deadline', (since) =>
    page([since(says(500), 10 * MINUTE - SECOND), since(missing, 10 * MINUTE + 500)]),
  ),
  row(kind('reads that disagree'), 'it fails for four minutes', (since) =>
    page([since(says(503)), since(says(200), 4 * MINUTE)]),
  ),
  row(varying, 'a content that is never the same', (since) => {
    const nonce: Answer = (request, response) => says(200, `nonce ${randomBytes(8).toString('hex')}`)(request, response)
    return page([since(nonce)], fingerprinted('A page'))
  }),

  ...['Cookie', 'User-Agent', 'Accept-Encoding, Cookie', 'Authorization', '*'].map((vary) =>
    row(varying, `a 404 that varies by ${vary}`, (since) => page([since(says(404, '', { vary }))])),
  ),
  row(varying, 'a 404 that sets a cookie', (since) => page([since(says(404, '', { 'set-cookie': 'sid=1; Path=/' }))])),
  row(varying, 'another content, which varies by Cookie', (since) =>
    page([since(says(200, 'A page', { vary: 'Cookie' }))], fingerprinted('Another page')),
  ),
  ...['Accept-Encoding', 'Origin', 'Accept-Encoding, Origin'].map((vary) =>
    row(kind('varying answers', BLAME, 'never'), `a 404 that varies by ${vary} alone`, (since) =>
      page([since(says(404, '', { vary }))]),
    ),
  ),
  row(kind('varying answers'), 'a 200 that varies by Cookie', (since) =>
    page([since(says(200, 'A page', { vary: 'Cookie' }), 0)]),
  ),

  ...[301, 302, 307, 308].map((status) =>
    row(kind('redirects'), `a claimed ${status}`, (since) => page([since(leads(status, '/elsewhere'), 0)], { status })),
  ),
  row(kind('redirects'), 'to a language, by its final address', (since) =>
    page([since(leads(302, '/en/page'), 0)], EN),
  ),
  row(kind('redirects'), 'to a language with a query, by its final address without it', (since) =>
    page([since(leads(302, '/en/page?from=root'), 0)], EN),
  ),
  row(signIn, 'to a sign-in, claimed to be the page', (since) => page([since(leads(302, '/login'))])),
  row(signIn, 'to a sign-in, by another final address', (since) => page([since(leads(302, '/login'))], EN)),
  row(kind('redirects'), 'to the slash at the end', (since) => page([since(leads(301, '/page/'), 0)])),
  row({ ...varying, about: 'redirects' }, 'in a circle', (since) => page([since(leads(302, '/page'))])),

  row(kind('large files'), 'a download of 6 MiB, by its fingerprint', (since) => {
    const body = randomBytes(6 * 1024 * 1024)
    return page([since(says(200, body, ofType('application/octet-stream')), 0)], fingerprinted(body))
  }),
  row(kind('large files', BLAME, 'elsewhere'), 'a download of 6 MiB, by another fingerprint', (since) => {
    const body = randomBytes(6 * 1024 * 1024)
    return page([since(says(200, body, { ...ofType('application/octet-stream'), ...SHARED }))], fingerprinted('A page'))
  }),
  ...['text/html; charset=utf-8', 'text/html;charset=ISO-8859-1', 'application/octet-stream', 'x/y; a="b, c"'].map(
    (type) =>
      row(kind('kinds of content'), `bytes that are called ${type}`, (since) =>
        page([since(says(200, 'A page', ofType(type)), 0)], fingerprinted('A page')),
      ),
  ),
  row({ ...noLog, about: 'kinds of content' }, 'a wall against robots', (since) => page([since(says(403))])),
  row({ ...noLog, about: 'kinds of content' }, '410: it was there', (since) => page([since(says(410))])),
]
