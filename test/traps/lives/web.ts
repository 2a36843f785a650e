/** Lives of web addresses: a place without a log, which answers as it likes. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createVirtualClock } from '@claimcheck/core/testkit'
import http from '@claimcheck/plugin-http'
import {
  type About,
  at,
  BLAME,
  HOUR,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  type Place,
  type Play,
  SECOND,
  START,
  settingOf,
  UNVERIFIABLE,
  VERIFIED,
} from './life-row.ts'

const action = 'http.url.status'
const URL_OF_PAGE = 'https://site.example/page'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

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

type Headers = Readonly<Record<string, string>>

const missing: Answer = (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('Not found')
const says =
  (status: number, body: string | Buffer = 'A page', headers: Headers = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)
/** At the page's own address; elsewhere another answer. */
const leads =
  (status: number, location: string, there: Answer = says(200)): Answer =>
  (request, response) =>
    request.url === '/page' ? response.writeHead(status, { location }).end() : there(request, response)

const fingerprint = (body: string | Buffer) => `sha256:${createHash('sha256').update(body).digest('hex')}`

interface WebLife extends Pick<LifeRow, 'name' | 'right'> {
  readonly about: About
  readonly truth?: LifeRow['truth']
  readonly play: (place: WebPlace) => Play
}

/** It answers so since an hour. */
const since = (place: WebPlace, answer: Answer, ms = -HOUR) => at(ms, 'agent', () => place.serve(answer))
const page = (happens: Play['happens'] = [], params: object = {}, more: Partial<Play> = {}): Play => ({
  target: URL_OF_PAGE,
  params: { ...params },
  happens: happens ?? [],
  ...more,
})

const lie = { truth: 'never', about: 'plain lie', right: BLAME } as const
const varying = { truth: 'unknowable', about: 'varying answers', right: UNVERIFIABLE } as const
const noLog = { truth: 'unknowable', about: 'places without a log', right: UNVERIFIABLE } as const

const lives: readonly WebLife[] = [
  { ...lie, name: 'no such page', play: () => page() },
  {
    ...lie,
    truth: 'elsewhere',
    name: 'another content',
    play: (place) => page([since(place, says(200))], { content_fingerprint: fingerprint('Another page') }),
  },
  {
    ...lie,
    truth: 'elsewhere',
    name: 'a page that is there, claimed to be gone',
    play: (place) => page([since(place, says(200))], { status: 404 }),
  },
  {
    ...lie,
    truth: 'elsewhere',
    name: 'a redirect that is none',
    play: (place) => page([since(place, says(200))], { status: 301 }),
  },
  {
    ...lie,
    about: 'clocks of clients',
    name: 'no such page, by a clock nearly five minutes ahead',
    play: () => page([], {}, { claimedMs: 5 * MINUTE - SECOND }),
  },
  {
    ...lie,
    about: 'clocks of clients',
    name: 'no such page, by a clock nine seconds behind',
    play: () => page([], {}, { claimedMs: -8 * SECOND }),
  },
  { ...noLog, name: 'no such page, dated a minute back', play: () => page([], {}, { claimedMs: -MINUTE }) },
  {
    ...noLog,
    name: 'no such page, first looked at 20 s after the submission',
    play: () => page([], {}, { idleUntilMs: 20 * SECOND }),
  },
  {
    ...noLog,
    name: 'no such page, submitted after the deadline',
    play: () => page([], {}, { submittedMs: 20 * MINUTE }),
  },
  {
    ...noLog,
    name: 'no such page, in answers that are ten minutes old',
    play: (place) => page([since(place, says(404, '', { age: '600' }))]),
  },
  {
    ...noLog,
    name: 'no such page, in answers that are thirty seconds old',
    play: (place) => page([since(place, says(404, '', { age: '30' }))]),
  },

  {
    name: 'deployed and claimed',
    about: 'plain work',
    right: VERIFIED,
    play: (place) => page([since(place, says(200), 0)]),
  },
  {
    name: 'deployed four minutes after',
    about: 'plain work',
    right: VERIFIED,
    play: (place) => page([since(place, says(200), 4 * MINUTE)], {}, { cameMs: 4 * MINUTE }),
  },
  {
    name: 'taken down, as claimed',
    about: 'plain work',
    right: VERIFIED,
    play: (place) => page([since(place, says(200)), since(place, missing, 0)], { status: 404 }),
  },
  {
    name: 'its content, byte by byte',
    about: 'plain work',
    right: VERIFIED,
    play: (place) => page([since(place, says(200, 'Größe\n'), 0)], { content_fingerprint: fingerprint('Größe\n') }),
  },
  {
    name: 'taken away after the first look',
    about: 'bots',
    right: VERIFIED,
    play: (place) => page([since(place, says(200), 0), since(place, missing, 10 * SECOND)]),
  },
  {
    name: 'claimed by a clock five minutes ahead',
    about: 'clocks of clients',
    right: VERIFIED,
    play: (place) => page([since(place, says(200), 0)], {}, { claimedMs: 5 * MINUTE - SECOND }),
  },
  {
    name: 'submitted four minutes after',
    about: 'late submissions',
    right: VERIFIED,
    play: (place) => page([since(place, says(200), 0)], {}, { submittedMs: 4 * MINUTE }),
  },
  {
    name: 'submitted eight minutes after',
    about: 'late submissions',
    right: NOT_BLAMED,
    play: (place) => page([since(place, says(200), 0)], {}, { submittedMs: 8 * MINUTE }),
  },
  {
    name: 'deployed after the tolerance is never late',
    about: 'late submissions',
    truth: 'late',
    right: ['failed', 'unverifiable'],
    play: (place) => page([since(place, says(200), 7 * MINUTE)]),
  },
  {
    name: 'a cache keeps the 404 for two minutes, and tells no age',
    about: 'replicas',
    right: VERIFIED,
    play: (place) => page([since(place, missing), since(place, says(200), 2 * MINUTE)]),
  },
  {
    name: 'the answer is thirty seconds old',
    about: 'replicas',
    right: VERIFIED,
    play: (place) => page([since(place, says(200, 'A page', { age: '30' }), 0)]),
  },
  {
    name: 'every second server has it not yet, for four minutes',
    about: 'reads that disagree',
    right: VERIFIED,
    play(place) {
      let count = 0
      const half: Answer = (request, response) => (++count % 2 === 1 ? missing : says(200))(request, response)
      return page([since(place, half, 0), since(place, says(200), 4 * MINUTE)])
    },
  },
  {
    ...lie,
    name: 'no such page, and one odd answer fails at the deadline',
    about: 'reads that disagree',
    play: (place) => page([since(place, says(500), 10 * MINUTE - SECOND), since(place, missing, 10 * MINUTE + 500)]),
  },
  {
    name: 'it fails for four minutes',
    about: 'reads that disagree',
    right: VERIFIED,
    play: (place) => page([since(place, says(503)), since(place, says(200), 4 * MINUTE)]),
  },
  {
    ...varying,
    name: 'a content that is never the same',
    play: (place) =>
      page(
        [since(place, (request, response) => says(200, `nonce ${randomBytes(8).toString('hex')}`)(request, response))],
        { content_fingerprint: fingerprint('A page') },
      ),
  },

  ...['Cookie', 'User-Agent', 'Accept-Encoding, Cookie', 'Authorization', '*'].map(
    (vary): WebLife => ({
      ...varying,
      name: `a 404 that varies by ${vary}`,
      play: (place) => page([since(place, says(404, '', { vary }))]),
    }),
  ),
  {
    ...varying,
    name: 'a 404 that sets a cookie',
    play: (place) => page([since(place, says(404, '', { 'set-cookie': 'sid=1; Path=/' }))]),
  },
  {
    ...varying,
    name: 'another content, which varies by Cookie',
    play: (place) =>
      page([since(place, says(200, 'A page', { vary: 'Cookie' }))], {
        content_fingerprint: fingerprint('Another page'),
      }),
  },
  ...['Accept-Encoding', 'Origin', 'Accept-Encoding, Origin'].map(
    (vary): WebLife => ({
      ...lie,
      about: 'varying answers',
      name: `a 404 that varies by ${vary} alone`,
      play: (place) => page([since(place, says(404, '', { vary }))]),
    }),
  ),
  {
    name: 'a 200 that varies by Cookie',
    about: 'varying answers',
    right: VERIFIED,
    play: (place) => page([since(place, says(200, 'A page', { vary: 'Cookie' }), 0)]),
  },

  ...[301, 302, 307, 308].map(
    (code): WebLife => ({
      name: `a claimed ${code}`,
      about: 'redirects',
      right: VERIFIED,
      play: (place) => page([since(place, leads(code, '/elsewhere'), 0)], { status: code }),
    }),
  ),
  {
    name: 'to a language, by its final address',
    about: 'redirects',
    right: VERIFIED,
    play: (place) => page([since(place, leads(302, '/en/page'), 0)], { final_url: 'https://site.example/en/page' }),
  },
  {
    name: 'to a language with a query, by its final address without it',
    about: 'redirects',
    right: VERIFIED,
    play: (place) =>
      page([since(place, leads(302, '/en/page?from=root'), 0)], { final_url: 'https://site.example/en/page' }),
  },
  {
    ...lie,
    name: 'to a sign-in, claimed to be the page',
    about: 'redirects',
    truth: 'elsewhere',
    right: [...BLAME, ...UNVERIFIABLE],
    play: (place) => page([since(place, leads(302, '/login'))]),
  },
  {
    ...lie,
    name: 'to a sign-in, by another final address',
    about: 'redirects',
    truth: 'elsewhere',
    right: [...BLAME, ...UNVERIFIABLE],
    play: (place) => page([since(place, leads(302, '/login'))], { final_url: 'https://site.example/en/page' }),
  },
  {
    name: 'to the slash at the end',
    about: 'redirects',
    right: VERIFIED,
    play: (place) => page([since(place, leads(301, '/page/'), 0)]),
  },
  { ...varying, name: 'in a circle', about: 'redirects', play: (place) => page([since(place, leads(302, '/page'))]) },

  ...[6].flatMap((mebibytes): WebLife[] => [
    {
      name: `a download of ${mebibytes} MiB, by its fingerprint`,
      about: 'large files',
      right: VERIFIED,
      play(place) {
        const body = randomBytes(mebibytes * 1024 * 1024)
        return page([since(place, says(200, body, { 'content-type': 'application/octet-stream' }), 0)], {
          content_fingerprint: fingerprint(body),
        })
      },
    },
    {
      ...lie,
      name: `a download of ${mebibytes} MiB, by another fingerprint`,
      about: 'large files',
      truth: 'elsewhere',
      play(place) {
        const body = randomBytes(mebibytes * 1024 * 1024)
        return page([since(place, says(200, body, { 'content-type': 'application/octet-stream' }))], {
          content_fingerprint: fingerprint('A page'),
        })
      },
    },
  ]),
  ...['text/html; charset=utf-8', 'text/html;charset=ISO-8859-1', 'application/octet-stream', 'x/y; a="b, c"'].map(
    (type): WebLife => ({
      name: `bytes that are called ${type}`,
      about: 'kinds of content',
      right: VERIFIED,
      play: (place) =>
        page([since(place, says(200, 'A page', { 'content-type': type }), 0)], {
          content_fingerprint: fingerprint('A page'),
        }),
    }),
  ),
  {
    ...noLog,
    name: 'a wall against robots',
    about: 'kinds of content',
    play: (place) => page([since(place, says(403))]),
  },
  { ...noLog, name: '410: it was there', about: 'kinds of content', play: (place) => page([since(place, says(410))]) },
]

export const webLives: readonly LifeRow[] = lives.map(({ play, truth = 'in_time', ...life }) => ({
  ...{ ...life, truth, action, place: 'http' },
  set: () => settingOf(openWeb(), play),
}))
