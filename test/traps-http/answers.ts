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
/** Answered, and not so that it says anything. */
const ODD = UNKNOWN
const UNREADABLE: Kind = ['unknowable', 'unverifiable/destination_unavailable']
const VERIFIED: Kind = ['in_time', 'verified']

/** @param claimed `soon` where the answer is none that counts, so that few reads are made */
function trap(
  name: string,
  [truth, verdict]: Kind,
  answer: Answerer,
  claimed: Claimed | 'soon' | ((world: World, host: string) => Claimed) = {},
): Trap<World> {
  return {
    name,
    truth,
    verdict,
    async play(world) {
      const host = world.site(answer)
      const more = typeof claimed === 'function' ? claimed(world, host) : claimed
      return world.claim(`https://${host}/news`, more === 'soon' ? world.soon() : more)
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

const LARGE = Buffer.alloc(6 * 1024 * 1024, 'download ')

const endingAt = (host: string): Claimed => ({ params: { final_url: `https://${host}/2026/news` } })

/** At a site whose name is a domain's own, which leads to this place. */
function atApex(name: string, [truth, verdict]: Kind, place: string, claimed: Claimed | 'soon' = {}): Trap<World> {
  return {
    name,
    truth,
    verdict,
    async play(world) {
      const apex = world.apex(redirect(301, place))
      world.sites.serve(new URL(place).host, page())
      return world.claim(`https://${apex}/news`, claimed === 'soon' ? world.soon() : claimed)
    },
    alone: true,
  }
}

export const answerTraps: readonly Trap<World>[] = [
  trap('a redirect to the sign-in of the same site', ODD, leadingTo('/login?next=/news', 'Sign in'), 'soon'),
  trap('a redirect to the sign-in, where content is claimed', ODD, leadingTo('/login', 'Sign in'), soonWith(WITH_TEXT)),
  trap('a redirect to another page that has the claimed content', VERIFIED, leadingTo('/news/2', TEXT), {
    ...WITH_TEXT,
    facts: { redirected: true },
  }),
  trap(
    'a missing page redirects to a page that says so with 404',
    ODD,
    (request, response, count) =>
      (request.url === '/news' ? redirect(302, '/404') : page(404))(request, response, count),
    'soon',
  ),
  trap('a redirect to another site', ODD, redirect(301, 'https://elsewhere.sites.example/news'), 'soon'),
  trap(
    'a redirect to another site, which is claimed',
    VERIFIED,
    redirect(301, 'https://elsewhere.sites.example/news'),
    { params: { status: 301 } },
  ),
  trap(
    'a redirect to plain HTTP',
    ODD,
    (request, response, count) => redirect(301, `http://${request.headers.host}/news`)(request, response, count),
    'soon',
  ),
  atApex('a redirect to its own www', VERIFIED, 'https://www.sites.example/news', {
    facts: { final_url: 'https://www.sites.example/news' },
  }),
  atApex('a redirect to another name of its own', ODD, 'https://app.sites.example/news', 'soon'),
  trap('a redirect to a language', VERIFIED, leadingTo('/en/news', TEXT), { facts: { redirected: true } }),
  trap(
    'a redirect to a language that has another text than claimed',
    UNKNOWN,
    leadingTo('/de/news', 'Hallo'),
    WITH_TEXT,
  ),
  trap(
    'a redirect to the address that is claimed for it',
    VERIFIED,
    leadingTo('/2026/news?from=old', TEXT),
    (_, host) => endingAt(host),
  ),
  trap('a redirect that is claimed and not there', ['elsewhere', 'mismatch/target_mismatch'], page(), (_, host) =>
    endingAt(host),
  ),
  trap('a redirect to a third address', ODD, leadingTo('/login', TEXT), (world, host) => ({
    ...world.soon(),
    ...endingAt(host),
  })),
  trap('a redirect of another kind than claimed', ['elsewhere', 'mismatch/content_mismatch'], redirect(302, '/2'), {
    params: { status: 301 },
  }),
  trap('a redirect that is claimed, of a page that is there', ['elsewhere', 'mismatch/content_mismatch'], page(), {
    params: { status: 301 },
  }),
  trap('a page that is missing for who has no cookie', UNKNOWN, page(404, '', { vary: 'Cookie' })),
  trap('a page that is missing for some agents', UNKNOWN, page(404, '', { vary: 'User-Agent' })),
  trap('a page that is missing, with a cookie', UNKNOWN, page(404, '', { 'set-cookie': 'session=1' })),
  trap(
    'a page that is missing, and compressed for some',
    ['never', 'failed/not_found'],
    page(404, '', { vary: 'Accept-Encoding' }),
  ),
  trap('a download of 6 MiB', VERIFIED, (_, response) => void response.end(LARGE), {
    params: { content_fingerprint: bytesOf(LARGE) },
    facts: { bytes: LARGE.length },
  }),
  trap(
    'another download of 6 MiB than claimed',
    ['elsewhere', 'mismatch/content_mismatch'],
    (_, response) => void response.setHeader('etag', '"1"').end(LARGE),
    { params: { content_fingerprint: bytesOf('small') } },
  ),
  trap(
    'a text in the codings gzip and identity',
    VERIFIED,
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip, identity' }).end(gzipSync(TEXT)),
    { params: { content_fingerprint: textFingerprint(TEXT) } },
  ),
  trap(
    'a text of a media type with parameters',
    ['elsewhere', 'mismatch/content_mismatch'],
    page(200, 'Other', { 'content-type': 'text/plain; format=flowed; charset="UTF-8"' }),
    { params: { content_fingerprint: textFingerprint(TEXT) } },
  ),
  trap(
    'an interim answer that nobody asked for',
    VERIFIED,
    raw(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${TEXT.length}\r\n\r\n${TEXT}`),
    WITH_TEXT,
  ),
  trap('a redirect to a private address', ODD, redirect(302, 'https://10.0.0.2/news'), 'soon'),
  trap('a redirect to itself', ODD, redirect(302, '/news'), 'soon'),
  trap(
    'a redirect after the other',
    ODD,
    (request, response, count) => redirect(302, `/news/${count}`)(request, response, count),
    'soon',
  ),
  trap('a redirect without a place', ODD, page(302), 'soon'),

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
    ODD,
    (_, response) => void response.end(Buffer.from([0xff, 0xfe, 0x41])),
    soonWith({
      params: { content_fingerprint: textFingerprint(TEXT) },
    }),
  ),
  trap(
    'half a mebibyte of combining characters',
    ODD,
    page(200, `a${'\u0301\u0323'.repeat(120_000)}`),
    soonWith({
      params: { content_fingerprint: textFingerprint(TEXT) },
    }),
  ),

  trap('a copy of the missing page that is an hour old', ODD, page(404, '', { age: '3600' }), 'soon'),
  trap(
    'a copy of the old content that is an hour old',
    ODD,
    page(200, 'Version 1', { age: '3600' }),
    soonWith(WITH_TEXT),
  ),
  trap('a copy that was made before the page came', VERIFIED, (request, response, count) =>
    (count <= 2 ? page(404, '', { age: String(count * 20) }) : page())(request, response, count),
  ),
  {
    ...trap(
      'copies of 40 seconds, also just after the submission',
      ['never', 'unverifiable/claim_ambiguous'],
      page(404, '', { age: '40' }),
    ),
    forgets: true,
  },
  trap('a clock of years ago', VERIFIED, page(200, TEXT, { date: 'Tue, 01 Jan 2019 00:00:00 GMT' })),
  trap('two ages, of copies of a copy', ODD, page(404, '', { age: '3600, 5' }), 'soon'),

  trap('a body without an end', VERIFIED, endless, { facts: { bytes: undefined } }),
  trap(
    'a body without an end, whose content is claimed as text',
    ODD,
    endless,
    soonWith({ params: { content_fingerprint: textFingerprint(TEXT) } }),
  ),
  trap(
    'a body that is compressed twice',
    ODD,
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(TEXT))),
    'soon',
  ),
  trap('a body that is not compressed as it says', ODD, page(200, TEXT, { 'content-encoding': 'gzip' }), 'soon'),
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
    ODD,
    raw('HTTP/1.0 200 OK\r\n\r\nVersion 2'),
    soonWith(WITH_TEXT),
  ),
  trap('what is no answer', UNREADABLE, raw('SSH-2.0-OpenSSH_9.2\r\n'), 'soon'),
  trap('a connection that ends', UNREADABLE, (_, { socket }) => void socket!.destroy(), 'soon'),
  trap('silence', UNREADABLE, () => {}, 'soon'),
  trap('headers without an end', UNREADABLE, page(200, TEXT, { 'x-long': 'x'.repeat(40_000) }), 'soon'),

  trap('a part that nobody asked for', ODD, page(206, 'Ver', { 'content-range': 'bytes 0-2/18' }), soonWith(WITH_TEXT)),
  trap('not modified since nothing', ODD, (_, response) => void response.writeHead(304).end(), 'soon'),
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
  trap('a wall against robots that answers 202', ODD, page(202, ''), 'soon'),
  trap(
    'an archive that is sent as if it were compressed on the way',
    ODD,
    (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT)),
    soonWith({ params: { content_fingerprint: bytesOf(gzipSync(TEXT)) } }),
  ),
  trap('a wall against robots', ['unknowable', 'unverifiable/permission_denied'], page(403, 'Are you human?'), 'soon'),
  trap('a request that the server takes for a bad one', ODD, page(400), 'soon'),
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
