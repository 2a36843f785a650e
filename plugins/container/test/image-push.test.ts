/** Reads of registries that answer in ways of their own, each over a whole life of a claim in virtual time. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import container from '@claimcheck/plugin-container'
import t, { type Test } from 'tap'
import { type Content, digestOf, imageOf, indexOf, OCI_IMAGE } from './docker-registry.ts'

t.setTimeout(300_000)

const NOON = Date.parse('2026-09-25T12:00:00Z')
const TARGET = 'registry.example.com/acme/api'

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
}

/** Answers by path and query; a path without its query counts for all others, and what is not named is 404 without a word. */
type Answers = Readonly<Record<string, Answer>>

const json = (value: unknown, more: Answer = {}): Answer => ({
  type: 'application/json',
  text: JSON.stringify(value),
  ...more,
})
const error = (code: string, status = 404) => json({ errors: [{ code, message: 'no' }] }, { status })
const manifest = ({ type, text }: Content, more: Answer = {}): Answer => ({ type, text, ...more })

const image = imageOf('claimed')
const other = imageOf('other')
const TAG = '/v2/acme/api/manifests/1.0.0'
const TAGS = '/v2/acme/api/tags/list'
const CLAIMED = `/v2/acme/api/manifests/${image.digest}`
const CONFIG = `/v2/acme/api/blobs/${digestOf(image.config)}`
const TAGGED = json({ name: 'acme/api', tags: ['0.9.0'] })
const UNKNOWN = error('MANIFEST_UNKNOWN')
/** Neither the tag nor the claimed image is there. */
const ABSENT = { [TAG]: UNKNOWN, [CLAIMED]: UNKNOWN, [TAGS]: TAGGED }

const NOTHING: Answer = { status: 404 }

async function live(
  t: Test,
  answers: (now: number) => Answers,
  { target = TARGET, params = {} }: Partial<Claimed> = {},
) {
  const clock = createVirtualClock(NOON)
  const server = createServer(({ url = '' }, response) => {
    const known = answers(clock.now())
    const { status = 200, type = '', headers = {}, text = '' } = known[url] ?? known[url.split('?')[0]!] ?? NOTHING
    response.writeHead(status, { date: new Date(clock.now()).toUTCString(), 'content-type': type, ...headers })
    response.end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return liveClaim({
    plugin: container,
    connection: null,
    destination: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    claim: {
      action: 'container.image.push',
      target,
      params: { tag: '1.0.0', digest: image.digest, ...params },
      claimedAt: NOON,
    },
    submittedAt: NOON + 1000,
    clock,
    reach: async () => {},
  })
}

interface Claimed {
  readonly target: string
  readonly params: JsonObject
}

const config = (mediaType: string) => ({ mediaType, digest: digestOf(image.config), size: 1 })
const document = (value: object): Content => {
  const text = JSON.stringify(value)
  return { type: OCI_IMAGE, text, digest: digestOf(text) }
}
const both = document({ schemaVersion: 2, config: config('application/vnd.oci.image.config.v1+json'), manifests: [] })
const chart = document({ schemaVersion: 2, config: config('application/vnd.cncf.helm.config.v1+json'), layers: [] })
const wasm = document({ schemaVersion: 2, config: config('application/vnd.wasm.config.v0+json'), layers: [] })
const arm = imageOf('claimed', 'linux/arm')
const unnamed = indexOf(image, other)
const dockerList = {
  ...indexOf({ ...image, platform: 'linux/arm/v7' }),
  type: 'application/vnd.docker.distribution.manifest.list.v2+json',
}
const dockerText = dockerList.text.replace('application/vnd.oci.image.index.v1+json', dockerList.type)
const list = { ...dockerList, text: dockerText, digest: digestOf(dockerText) }
const v3 = imageOf('claimed', 'linux/amd64/v3')
const amd64 = { platforms: ['linux/amd64'] }
const of = (content: Content, more: JsonObject = {}): Partial<Claimed> => ({
  params: { digest: content.digest, ...more },
})
const pages = (second: readonly string[]): Answers => ({
  [TAG]: UNKNOWN,
  [CLAIMED]: UNKNOWN,
  // A registry behind a proxy writes links to its own address.
  [`${TAGS}?n=1000`]: json(
    { tags: ['0.9.0'] },
    { headers: { link: '<http://internal:5000/v2/acme/api/tags/list?n=1000&last=0.9.0>; rel="next"' } },
  ),
  [`${TAGS}?n=1000&last=0.9.0`]: json({ tags: second }),
})

const rows: readonly [title: string, answers: Answers, verdict: string, claimed?: Partial<Claimed>][] = [
  ['no header names the digest', { [TAG]: manifest(image) }, 'verified'],
  ['the type has a parameter', { [TAG]: manifest(image, { type: `${OCI_IMAGE}; charset=utf-8` }) }, 'verified'],
  [
    'the claimed digest is a SHA-512',
    { [TAG]: manifest(image) },
    'verified',
    { params: { digest: digestOf(image.text, 'sha512') } },
  ],
  ['a cache has kept the claimed image', { [TAG]: manifest(image, { headers: { 'x-cache': 'HIT' } }) }, 'verified'],
  ['a cache has kept another image', { [TAG]: manifest(other, { headers: { 'x-cache': 'HIT' } }) }, 'unverifiable'],
  [
    'a header names another digest than that of the bytes',
    { [TAG]: manifest(image, { headers: { 'docker-content-digest': other.digest } }) },
    'unverifiable',
  ],
  [
    'the manifest is of the first schema',
    { [TAG]: json({ schemaVersion: 1 }, { type: 'application/vnd.docker.distribution.manifest.v1+prettyjws' }) },
    'unverifiable',
  ],
  [
    'the type is another in the document',
    { [TAG]: manifest({ ...image, type: 'application/vnd.docker.distribution.manifest.v2+json' }) },
    'unverifiable',
  ],
  ['the document is an image and an index', { [TAG]: manifest(both) }, 'unverifiable', of(both)],
  ['a page of HTML', { [TAG]: { type: 'text/html', text: '<p>Log in</p>' } }, 'unverifiable'],

  ['another image, and the claimed one is not there', { [TAG]: manifest(other), [CLAIMED]: UNKNOWN }, 'mismatch'],
  ['another image beside the claimed one', { [TAG]: manifest(other), [CLAIMED]: manifest(image) }, 'unverifiable'],
  ['another image, and nothing tells of the claimed one', { [TAG]: manifest(other) }, 'unverifiable'],

  ['no such tag', ABSENT, 'failed'],
  ['no such tag, and the claimed image without it', { ...ABSENT, [CLAIMED]: manifest(image) }, 'unverifiable'],
  ['no such tag, as Harbor writes it', { ...ABSENT, [TAG]: error('NOT_FOUND') }, 'failed'],
  ['no tags at all', { ...ABSENT, [TAGS]: json({ name: 'acme/api', tags: null }) }, 'failed'],
  ['a 404 of a proxy', { [TAG]: { status: 404, type: 'text/html', text: '<p>' }, [TAGS]: TAGGED }, 'unverifiable'],
  ['an unknown repository', { [TAG]: UNKNOWN, [TAGS]: error('NAME_UNKNOWN') }, 'unverifiable'],
  ['a hidden repository', { [TAG]: error('DENIED', 403) }, 'unverifiable'],
  ['a list without tags', { [TAG]: UNKNOWN, [TAGS]: json({ warning: 'busy' }) }, 'unverifiable'],
  ['a tag that is listed, without a manifest', { [TAG]: UNKNOWN, [TAGS]: json({ tags: ['1.0.0'] }) }, 'unverifiable'],
  ['a tag that is listed on the second page', pages(['1.0.0']), 'unverifiable'],
  ['a tag that is on none of two pages', pages(['1.0.1']), 'failed'],
  [
    'a list that goes on nowhere',
    { ...ABSENT, [`${TAGS}?n=1000`]: json({ tags: ['0.9.0'] }, { headers: { link: `<${TAGS}>; rel="next"` } }) },
    'unverifiable',
  ],

  [
    'a platform in the configuration',
    { [TAG]: manifest(image), [CONFIG]: { text: image.config } },
    'verified',
    of(image, amd64),
  ],
  [
    'another platform in the configuration',
    { [TAG]: manifest(image), [CONFIG]: { text: image.config } },
    'mismatch',
    of(image, { platforms: ['linux/arm64'] }),
  ],
  [
    'a configuration that was changed',
    { [TAG]: manifest(image), [CONFIG]: { text: other.config } },
    'unverifiable',
    of(image, amd64),
  ],
  [
    'a configuration at another address',
    { [TAG]: manifest(image), [CONFIG]: { status: 307, headers: { location: 'https://cdn.example.com/x' } } },
    'unverifiable',
    of(image, amd64),
  ],
  [
    'a variant of the claimed platform',
    { [TAG]: manifest(v3), [`/v2/acme/api/blobs/${digestOf(v3.config)}`]: { text: v3.config } },
    'verified',
    of(v3, amd64),
  ],
  [
    'another variant than the claimed one',
    { [TAG]: manifest(list) },
    'mismatch',
    of(list, { platforms: ['linux/arm/v6'] }),
  ],
  [
    'a configuration that tells no variant, which the claim does',
    { [TAG]: manifest(arm), [`/v2/acme/api/blobs/${digestOf(arm.config)}`]: { text: arm.config } },
    'unverifiable',
    of(arm, { platforms: ['linux/arm/v6'] }),
  ],
  ['a module of WebAssembly', { [TAG]: manifest(wasm) }, 'unverifiable', of(wasm, { platforms: ['wasip1/wasm'] })],
  ['a chart has no platform', { [TAG]: manifest(chart) }, 'mismatch', of(chart, amd64)],
  ['a list of Docker', { [TAG]: manifest(list) }, 'verified', of(list, { platforms: ['linux/arm'] })],
  [
    'images for which the index names no platform',
    { [TAG]: manifest(unnamed), [CLAIMED]: manifest(image), [CONFIG]: { text: image.config } },
    'unverifiable',
    of(unnamed, amd64),
  ],
  [
    'the only image, for which the index names no platform',
    { [TAG]: manifest(indexOf(image)), [CLAIMED]: manifest(image), [CONFIG]: { text: image.config } },
    'verified',
    of(indexOf(image), amd64),
  ],

  [
    'an official image of Docker Hub',
    { '/v2/library/alpine/manifests/1.0.0': manifest(image) },
    'verified',
    { target: 'docker.io/alpine' },
  ],
  [
    'a mirror',
    { '/v2/acme/api/manifests/1.0.0': manifest(image) },
    'unverifiable',
    { target: 'mirror.gcr.io/acme/api' },
  ],
  [
    'a dependency proxy',
    { '/v2/acme/dependency_proxy/containers/alpine/manifests/1.0.0': manifest(image) },
    'unverifiable',
    { target: 'gitlab.example.com/acme/dependency_proxy/containers/alpine' },
  ],
]

for (const [title, answers, verdict, claimed] of rows) {
  t.test(`${title}: ${verdict}`, async (t) => {
    const { decision, log } = await live(t, () => answers, claimed)
    t.equal(decision?.verdict.value, verdict, JSON.stringify({ verdict: decision?.verdict, log: log.slice(0, 2) }))
  })
}

t.test('since when the tag is so is told only where a read saw it before', async (t) => {
  const there = { [TAG]: manifest(image) }
  const facts = { tag: '1.0.0', found_digest: image.digest }
  for (const [before, more] of [
    [there, { undated: true }],
    [ABSENT, {}],
    [{ [TAG]: manifest(other), [CLAIMED]: UNKNOWN }, {}],
  ] as const) {
    const { decision, records } = await live(t, (now) => (now < NOON + 60_000 ? before : there))
    t.equal(decision?.verdict.value, 'verified')
    const last = records.at(-1)!
    t.strictSame('observation' in last && last.observation.facts, { ...facts, ...more })
  }
})

t.test('a tag that was taken away, and was another image before, blames nobody', async (t) => {
  const { decision } = await live(t, (now) => (now < NOON + 60_000 ? { ...ABSENT, [TAG]: manifest(other) } : ABSENT))
  t.equal(decision?.verdict.value, 'unverifiable')
})

t.test('while the tag is another image, its manifest is read once, and then its digest is asked for', async (t) => {
  const { decision, requests } = await live(t, (now) =>
    now < NOON + 5 * 60_000
      ? { [TAG]: manifest(other, { headers: { 'docker-content-digest': other.digest } }), [CLAIMED]: UNKNOWN }
      : { [TAG]: manifest(image, { headers: { 'docker-content-digest': image.digest } }) },
  )
  t.equal(decision?.verdict.value, 'verified')
  const asked = (method: string) => requests.filter(({ key }) => key === `${method} ${TAG}`).length
  t.equal(asked('GET'), 2)
  t.ok(asked('HEAD') > 10)
})
