/** Content whose digest is known: read wherever one redirect leads, without credentials, and refused where it is other content. Threat D4 of `security.md`. */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { bearer } from '@claimcheck/core/plugin'
import { createCheckRequests } from '@claimcheck/server/outbound/check-requests'
import { createGate } from '@claimcheck/server/outbound/gate'
import t, { type Test } from 'tap'
import { code, guardOf, outboundTo, serve } from '../support/loopback.ts'

const CONTENT = '{"os":"linux","architecture":"arm64"}'
const digestOf = (algorithm: string) => `${algorithm}:${createHash(algorithm).update(CONTENT).digest('hex')}`
const KNOWN = { contentDigest: digestOf('sha256'), auth: bearer('secret:token') }

interface Places {
  readonly store: RequestListener
  /** Defaults to a redirect of everything to the store. */
  readonly registry?: RequestListener
  readonly isStoreAllowed?: boolean
}

/** A registry that sends who asks to a store at another origin. */
async function places(t: Test, { store, registry, isStoreAllowed = true }: Places) {
  const asked: IncomingHttpHeaders[] = []
  const elsewhere = await serve(t, (request, response) => {
    asked.push(request.headers)
    store(request, response)
  })
  const host = await serve(
    t,
    registry ??
      (({ url }, response) =>
        response.writeHead(307, { location: `http://${elsewhere}${url}?signature=s3cr3t` }).end()),
  )
  const outbound = outboundTo(t, [host, ...(isStoreAllowed ? [elsewhere] : [])])
  const check = () =>
    outbound.forCheck(guardOf(`http://${host}`, { secrets: new Map([['secret:token', 'a-token-of-the-registry']]) }))
  return { url: `http://${host}/blob`, check, asked }
}

t.test('a redirect to another origin is followed, without credentials and without its clock', async (t) => {
  const date = new Date(Date.now() - 7_200_000).toUTCString()
  const { url, check, asked } = await places(t, {
    store: (_, response) => response.writeHead(200, { date, age: '90000' }).end(CONTENT),
  })
  for (const contentDigest of [digestOf('sha256'), digestOf('sha512')]) {
    const requests = check()
    const response = await requests.fetch(url, { ...KNOWN, contentDigest })
    t.equal(await response.text(), CONTENT)
    t.equal(response.url, url, 'the signed address stays at the host')
    t.strictSame([...response.headers.keys()], [], 'what another origin says of itself stays at the host')
    t.equal(requests.answers(), 1, 'the destination answered once')
    const { ahead, ageMs } = requests.readings()
    t.ok(ahead && Math.abs(ahead.least) < 60_000, 'the clock is that of the destination')
    t.equal(ageMs, 0)
  }
  t.equal(asked.length, 2)
  for (const headers of asked) t.notMatch(JSON.stringify(headers), /a-token|authorization/)
})

t.test('other content is refused, wherever it comes from', async (t) => {
  const other = await places(t, { store: (_, response) => response.end(`${CONTENT} `) })
  t.equal(await code(other.check().fetch(other.url, KNOWN)), 'unexpected_response')
  const own = await places(t, { store: () => {}, registry: (_, response) => response.end('{}') })
  t.equal(await code(own.check().fetch(own.url, KNOWN)), 'unexpected_response')
  const cut = await places(t, {
    store: (_, response) => response.writeHead(200, { 'content-length': CONTENT.length + 1 }).end(CONTENT),
  })
  t.not(await code(cut.check().fetch(cut.url, KNOWN)), undefined)
  const large = await places(t, { store: (_, response) => response.end(Buffer.alloc(6 * 1024 * 1024)) })
  t.equal(await code(large.check().fetch(large.url, KNOWN)), 'too_large')
})

t.test('another origin gives the content and nothing else', async (t) => {
  for (const status of [302, 403, 404, 429, 500]) {
    const store: RequestListener = (_, response) =>
      response.writeHead(status, { location: '/again', 'retry-after': '9' }).end('<Error/>')
    const { url, check, asked } = await places(t, { store })
    await t.rejects(check().fetch(url, KNOWN), { code: 'unexpected_response', status: 307 }, `${status}`)
    t.equal(asked.length, 1, 'one redirect is followed')
  }
  for (const status of [203, 206]) {
    const store: RequestListener = (_, response) => response.writeHead(status).end('forged')
    const forged = await places(t, { store })
    t.equal(await code(forged.check().fetch(forged.url, KNOWN)), 'unexpected_response', `${status} elsewhere`)
    const own = await places(t, { store: () => {}, registry: store })
    t.equal(await code(own.check().fetch(own.url, KNOWN)), 'unexpected_response', `${status} at the destination`)
  }
  const own = await places(t, { store: () => {}, registry: (_, response) => response.writeHead(404).end('{}') })
  t.equal((await own.check().fetch(own.url, KNOWN)).status, 404, 'a failure of the destination is its own')
})

t.test('a place that a claim names leads to no private address, whatever the operator allows', async (t) => {
  const asked: string[] = []
  const location = 'http://10.0.0.5:8080/admin'
  const guard = guardOf('https://registry.example', {
    reach: { hosts: ['target'], mayReveal: false },
    connected: undefined,
  })
  const requests = createCheckRequests(guard, {
    gate: createGate(['10.0.0.5:8080']),
    // Nothing can be public here, so that the requests themselves end in the test.
    async send({ url }) {
      asked.push(url.href)
      return url.href === location ? new Response(CONTENT) : new Response(null, { status: 307, headers: { location } })
    },
    ca: undefined,
    limitDigests: (_, read) => read(),
    memoryOf: () => t.fail('no credentials') as never,
  })
  const { contentDigest } = KNOWN
  t.equal(await code(requests.fetch('https://registry.example/blob', { contentDigest })), 'unavailable')
  t.strictSame(asked, ['https://registry.example/blob'])
})

t.test('nothing private is asked, and nothing without a digest', async (t) => {
  const closed = await places(t, { store: (_, response) => response.end(CONTENT), isStoreAllowed: false })
  t.not(await code(closed.check().fetch(closed.url, KNOWN)), undefined)
  const open = await places(t, { store: (_, response) => response.end(CONTENT) })
  t.equal(await code(open.check().fetch(open.url, { auth: KNOWN.auth })), 'unexpected_response')
  t.strictSame([closed.asked, open.asked], [[], []])
})

t.test('a digest of another form, or for what reads no content, is a fault of the plugin', async (t) => {
  const { url, check, asked } = await places(t, { store: (_, response) => response.end(CONTENT) })
  const { contentDigest } = KNOWN
  for (const wrong of [
    '',
    'sha256:',
    contentDigest.toUpperCase(),
    `${contentDigest}00`,
    `md5:${'0'.repeat(32)}`,
    `sha256:${'0'.repeat(128)}`,
    7,
  ]) {
    const requests = check()
    await t.rejects(requests.fetch(url, { contentDigest: wrong as string }), /digest of known content/, String(wrong))
    t.ok(requests.breach())
  }
  await t.rejects(check().fetch(url, { contentDigest, method: 'HEAD' }), /read by GET/)
  await t.rejects(check().fetch(url, { contentDigest, redirect: 'manual' }), /read by GET/)
  t.strictSame(asked, [])
})
