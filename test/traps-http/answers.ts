/** Traps of odd answers, from servers of Node over TLS. */
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { textFingerprint } from '@claimcheck/core'
import type { Answerer } from '../destinations/web.ts'
import type { Trap } from '../traps/trap.ts'
import { bytesOf } from './nginx.ts'
import { type Claimed, MINUTE_MS, type World } from './world.ts'

const TEXT = 'Version 2 is out.\n'
const WITH_TEXT = { params: { content_fingerprint: bytesOf(TEXT) } }

type Kind = readonly [truth: Trap['truth'], verdict: string]
const UNKNOWN: Kind = ['unknowable', 'unverifiable/claim_ambiguous']
const UNREADABLE: Kind = ['unknowable', 'unverifiable/destination_unavailable']
const VERIFIED: Kind = ['in_time', 'verified']

/** @param claimed `soon` where the answer is none that counts, so that few reads are made */
function trap(
  name: string,
  [truth, verdict]: Kind,
  answer: Answerer,
  claimed: Claimed | 'soon' | ((world: World) => Claimed) = {},
): Trap<World> {
  return {
    name,
    truth,
    verdict,
    async play(world) {
      const more = typeof claimed === 'function' ? claimed(world) : claimed
      return world.claim(`https://${world.site(answer)}/news`, more === 'soon' ? world.soon() : more)
    },
  }
}

const soonWith = (claimed: Claimed) => (world: World) => ({ ...world.soon(), ...claimed })

function page(status = 200, text = TEXT, headers: Readonly<Record<string, string>> = {}): Answerer {
  return (_, response) => void response.writeHead(status, headers).end(text)
}

const redirect = (status: number, location: string): Answerer => page(status, '', { location })

/** As it stands on the wire, and then the connection ends. */
function raw(text: string): Answerer {
  return (_, { socket }) => void socket!.end(text)
}

function endless(_: unknown, response: ServerResponse): void {
  response.writeHead(200)
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const write = () => {
    if (response.destroyed) return
    if (response.write(chunk)) setImmediate(write)
    else response.once('drain', write)
  }
  write()
}

/** A page at `/news` that redirects there. */
function leadingTo(path: string, text: string): Answerer {
  return (request, response, count) =>
    request.url === '/news' ? redirect(302, path)(request, response, count) : page(200, text)(request, response, count)
}

export const answerTraps: readonly Trap<World>[] = [
  trap('a redirect to the sign-in of the same site', UNREADABLE, leadingTo('/login?next=/news', 'Sign in'), 'soon'),
  trap(
    'a redirect to the sign-in, where content is claimed',
    UNREADABLE,
    leadingTo('/login', 'Sign in'),
    soonWith(WITH_TEXT),
  ),
  trap('a redirect to another page that has the claimed content', VERIFIED, leadingTo('/news/2', TEXT), {
    ...WITH_TEXT,
    facts: { redirected: true },
  }),
  trap(
    'a missing page redirects to a page that says so with 404',
    UNREADABLE,
    (request, response, count) =>
      (request.url === '/news' ? redirect(302, '/404') : page(404))(request, response, count),
    'soon',
  ),
  trap('a redirect to another site', UNREADABLE, redirect(301, 'https://elsewhere.sites.example/news'), 'soon'),
  trap(
    'a redirect to another site, which is claimed',
    ['in_time', 'unverifiable/unsupported_action'],
    redirect(301, 'https://elsewhere.sites.example/news'),
    { params: { status: 301 } },
  ),
  trap(
    'a redirect to plain HTTP',
    UNREADABLE,
    (request, response, count) => redirect(301, `http://${request.headers.host}/news`)(request, response, count),
    'soon',
  ),
  trap('a redirect to a private address', UNREADABLE, redirect(302, 'https://10.0.0.2/news'), 'soon'),
  trap('a redirect to itself', UNREADABLE, redirect(302, '/news'), 'soon'),
  trap(
    'a redirect after the other',
    UNREADABLE,
    (request, response, count) => redirect(302, `/news/${count}`)(request, response, count),
    'soon',
  ),
  trap('a redirect without a place', UNREADABLE, page(302), 'soon'),

  trap(
    'a page with a nonce in it',
    UNKNOWN,
    (request, response, count) => page(200, `${TEXT} ${count}`)(request, response, count),
    WITH_TEXT,
  ),
  trap(
    'a page that differs by its reader',
    UNKNOWN,
    page(200, 'Hello, stranger', { vary: 'Accept-Encoding, Cookie' }),
    WITH_TEXT,
  ),
  trap(
    'a page that is only compressed for some',
    ['elsewhere', 'mismatch/content_mismatch'],
    page(200, 'Hello', { vary: 'Accept-Encoding' }),
    WITH_TEXT,
  ),
  trap(
    'text that is no UTF-8',
    UNREADABLE,
    (_, response) => void response.end(Buffer.from([0xff, 0xfe, 0x41])),
    soonWith({
      params: { content_fingerprint: textFingerprint(TEXT) },
    }),
  ),
  trap(
    'half a mebibyte of combining characters',
    UNREADABLE,
    page(200, `a${'\u0301\u0323'.repeat(120_000)}`),
    soonWith({
      params: { content_fingerprint: textFingerprint(TEXT) },
    }),
  ),

  trap('a copy of the missing page that is an hour old', UNREADABLE, page(404, '', { age: '3600' }), 'soon'),
  trap(
    'a copy of the old content that is an hour old',
    UNREADABLE,
    page(200, 'Version 1', { age: '3600' }),
    soonWith(WITH_TEXT),
  ),
  trap('a copy that was made before the page came', VERIFIED, (request, response, count) =>
    (count <= 2 ? page(404, '', { age: String(count * 20) }) : page())(request, response, count),
  ),
  trap('a copy of 40 seconds at the deadline', ['never', 'failed/not_found'], page(404, '', { age: '40' })),
  trap('a clock of years ago', VERIFIED, page(200, TEXT, { date: 'Tue, 01 Jan 2019 00:00:00 GMT' })),
  trap('two ages, of copies of a copy', UNREADABLE, page(404, '', { age: '3600, 5' }), 'soon'),

  trap('a body without an end', UNREADABLE, endless, 'soon'),
  trap(
    'a body that is compressed twice',
    UNREADABLE,
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(TEXT))),
    'soon',
  ),
  trap('a body that is not compressed as it says', UNREADABLE, page(200, TEXT, { 'content-encoding': 'gzip' }), 'soon'),
  trap(
    'chunks that break off',
    UNREADABLE,
    raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nHello\r\n40\r\nthe'),
    'soon',
  ),
  trap('a length that does not come', UNREADABLE, raw('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nHello'), 'soon'),
  trap('an answer of HTTP/1.0', VERIFIED, raw(`HTTP/1.0 200 OK\r\n\r\n${TEXT}`), WITH_TEXT),
  trap(
    'an answer of HTTP/1.0 that may have broken off',
    UNREADABLE,
    raw('HTTP/1.0 200 OK\r\n\r\nVersion 2'),
    soonWith(WITH_TEXT),
  ),
  trap('what is no answer', UNREADABLE, raw('SSH-2.0-OpenSSH_9.2\r\n'), 'soon'),
  trap('a connection that ends', UNREADABLE, (_, { socket }) => void socket!.destroy(), 'soon'),
  trap('silence', UNREADABLE, () => {}, 'soon'),
  trap('headers without an end', UNREADABLE, page(200, TEXT, { 'x-long': 'x'.repeat(40_000) }), 'soon'),

  trap(
    'a part that nobody asked for',
    UNREADABLE,
    page(206, 'Ver', { 'content-range': 'bytes 0-2/18' }),
    soonWith(WITH_TEXT),
  ),
  trap('not modified since nothing', UNREADABLE, (_, response) => void response.writeHead(304).end(), 'soon'),
  trap(
    'no content where 200 is claimed',
    ['elsewhere', 'mismatch/content_mismatch'],
    (_, response) => void response.writeHead(204).end(),
  ),
  trap('interim answers first', VERIFIED, (request, response, count) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    page()(request, response, count)
  }),
  trap('an interim status is claimed', ['unknowable', 'unverifiable/unsupported_action'], page(), {
    params: { status: 103 },
  }),
  trap('a wall against robots that answers 202', UNREADABLE, page(202, ''), 'soon'),
  trap(
    'an archive that is sent as if it were compressed on the way',
    UNREADABLE,
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT)),
    soonWith({ params: { content_fingerprint: bytesOf(gzipSync(TEXT)) } }),
  ),
  trap('a wall against robots', ['unknowable', 'unverifiable/permission_denied'], page(403, 'Are you human?'), 'soon'),
  trap('a request that the server takes for a bad one', UNREADABLE, page(400), 'soon'),
  trap('too many requests, and then the page', VERIFIED, (request, response, count) =>
    (count <= 2 ? page(429, '', { 'retry-after': '20' }) : page())(request, response, count),
  ),
  trap(
    'too many requests to the end',
    ['unknowable', 'unverifiable/rate_limited'],
    page(429, '', { 'retry-after': '5' }),
    'soon',
  ),
  trap('too many requests are claimed', ['unknowable', 'unverifiable/unsupported_action'], page(429), {
    params: { status: 429 },
  }),
  trap('a fault to the end', UNREADABLE, page(500), 'soon'),
  trap('a fault where another one is claimed', UNREADABLE, page(502), soonWith({ params: { status: 503 } })),
  trap('a fault where a removal is claimed', UNREADABLE, page(500), soonWith({ params: { status: 404 } })),
  trap('gone where missing is claimed', UNKNOWN, page(410), { params: { status: 404 } }),
  trap('two servers, of which one has the page', VERIFIED, (request, response, count) =>
    page(count % 2 === 0 ? 200 : 404)(request, response, count),
  ),
  trap('five claims that wait for one address', VERIFIED, page(), { beside: 4 }),
  trap(
    'a page that is there for one read alone',
    ['in_time', 'verified'],
    (request, response, count) => page(count === 2 ? 200 : 404)(request, response, count),
    { afterMs: MINUTE_MS },
  ),
]
