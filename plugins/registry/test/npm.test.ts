/** What the plugin makes of an npm registry's answers. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Observation } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { type Asked, createCache, look, MINUTE, NOON, outcome } from './fixture.ts'
import { aged, type Routes, serve, withoutEnd } from './serve.ts'

const AT = '2026-09-25T12:00:30.000Z'
const CONTENT = gzipSync('the content')
const OTHER = gzipSync('other')
const LARGE = Buffer.concat([CONTENT, Buffer.alloc(20 * 1024 * 1024)])
const INTEGRITY = `sha512-${createHash('sha512').update(CONTENT).digest('base64')}`

const manifest = (url: string, more: object = {}) => ({
  name: 'tool',
  version: '1.0.0',
  dist: { tarball: `${url}/tool/-/tool-1.0.0.tgz`, integrity: INTEGRITY },
  ...more,
})
const packument = (more: object = {}) => ({
  name: 'tool',
  versions: { '1.0.0': {} },
  time: { created: AT, modified: AT, '1.0.0': AT },
  ...more,
})
const others = { versions: { '0.9.0': {} }, time: { modified: AT, '0.9.0': AT } }
const published = (url: string): Routes => ({
  '/tool/1.0.0': manifest(url),
  '/tool': packument(),
  [FILE]: CONTENT,
  '/-/ping': {},
})

/** A check at the public registry. @param routes in place of those of a version that is published */
async function at(t: Test, routes: (url: string) => Routes, asked: Partial<Asked> = {}) {
  const { url, requests } = await serve(t, (url) => ({ ...published(url), ...routes(url) }))
  const check = (more: Partial<Asked> = {}): Promise<Observation> =>
    look({ target: 'npm:tool', options: { public_npm_url: url }, ...asked, ...more })
  return { url, requests, check }
}

const FILE = '/tool/-/tool-1.0.0.tgz'
const WITH_DIGEST = { params: { integrity: INTEGRITY } }

/** No document of the version, and this one of the package. */
const absent = (document: unknown): Routes => ({ '/tool/1.0.0': undefined, '/tool': document })

/** The document of the version has this. */
const documented = (more: object) => (url: string) => ({ '/tool/1.0.0': manifest(url, more) })

const LATE = NOON + 11 * MINUTE

type Row = readonly [name: string, routes: Routes | ((url: string) => Routes), result: string, asked?: Partial<Asked>]
const rows: readonly Row[] = [
  ['a version', {}, 'as claimed'],
  ['a version of another name', documented({ name: 'Tool' }), 'unexpected_response'],
  ['a tag with the name of a version', documented({ version: '2.0.0' }), 'unexpected_response'],
  ['a version without a file', { '/tool/1.0.0': { name: 'tool', version: '1.0.0' } }, 'unexpected_response'],
  ['401', { '/tool/1.0.0': { status: 401 }, '/tool': { status: 401 } }, 'unauthorized'],
  ...(
    [
      [400, 'unexpected_response'],
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [500, 'unavailable'],
    ] as const
  ).flatMap(([status, code]): Row[] => [
    [
      `${status} for versions, as some registries answer for those of a scope`,
      (url) => ({ '/tool/1.0.0': { status }, '/tool': packument({ versions: { '1.0.0': manifest(url) } }) }),
      'as claimed',
    ],
    [`${status} for versions, and no such one`, { '/tool/1.0.0': { status }, '/tool': packument(others) }, code],
  ]),
  [
    'a page in place of versions',
    (url) => ({ '/tool/1.0.0': '<!doctype html>', '/tool': packument({ versions: { '1.0.0': manifest(url) } }) }),
    'as claimed',
  ],
  ['429 for versions', { '/tool/1.0.0': { status: 429 } }, 'rate_limited'],
  ...[404, 405].flatMap((status): Row[] => [
    [
      `${status} for versions, as where there are no documents of them`,
      (url) => ({ '/tool/1.0.0': { status }, '/tool': packument({ versions: { '1.0.0': manifest(url) } }) }),
      'as claimed',
      WITH_DIGEST,
    ],
    [
      `${status} for versions, and no such one`,
      { '/tool/1.0.0': { status }, '/tool': packument(others) },
      'absent (never_before)',
    ],
  ]),
  [
    'no document of the version, and the package has another one under its number',
    (url) => absent(packument({ versions: { '1.0.0': manifest(url, { version: '1.0.1' }) } })),
    'unexpected_response',
  ],
  ...[null, false, '', { message: 'old' }].map(
    (deprecated): Row => [
      `a version with ${JSON.stringify(deprecated)} for whether it is deprecated`,
      documented({ deprecated }),
      'as claimed',
    ],
  ),
  ...[null, { '1.0.0': 'soon' }, { '1.0.0': Date.parse(AT) }].map(
    (time): Row => [
      `no document of the version, and the times ${JSON.stringify(time)}`,
      (url) => ({ '/tool/1.0.0': { status: 405 }, '/tool': packument({ versions: { '1.0.0': manifest(url) }, time }) }),
      'as claimed',
    ],
  ),
  ['429', { '/tool/1.0.0': { status: 429 } }, 'rate_limited'],
  ['502', { '/tool/1.0.0': { status: 502 }, '/tool': { status: 502 } }, 'unavailable'],
  ['304 to what was not asked for', { '/tool/1.0.0': { status: 304 } }, 'unexpected_response'],
  ['no version', absent(packument(others)), 'absent (never_before)'],
  [
    'no version, and a record without times',
    absent(packument({ ...others, time: undefined })),
    'absent (may_have_been)',
  ],
  ['a version of which the package says nothing', { '/tool/1.0.0': undefined }, 'unexpected_response'],
  [
    'no version, and the package of another name',
    absent(packument({ ...others, name: 'other' })),
    'unexpected_response',
  ],
  ['no version, and 403 for the package', absent({ status: 403 }), 'forbidden'],
  ['no version, and 503 for the package', absent({ status: 503 }), 'unavailable'],
  [
    'no version, and a time that is none',
    absent(packument({ versions: {}, time: { '1.0.0': 'soon' } })),
    'unexpected_response',
  ],
  [
    'taken away, and nothing tells by when',
    absent(packument({ versions: {}, time: { '1.0.0': AT } })),
    'absent (may_have_been)',
  ],
  ['taken away', absent(packument({ versions: undefined })), 'absent'],
  [
    'taken away, and the claim names a digest',
    absent(packument({ versions: {} })),
    'absent (may_have_been)',
    WITH_DIGEST,
  ],
  [
    'everything taken away, with its times',
    absent(packument({ versions: undefined, time: { unpublished: { time: AT, versions: ['1.0.0'] } } })),
    'ambiguous_claim',
  ],
  [
    'everything taken away, and what that was is not told',
    absent(packument({ versions: undefined, time: { unpublished: { time: AT } } })),
    'absent (may_have_been)',
  ],
  ['no package', absent(undefined), 'absent'],
  ['no package, and no registry', { ...absent(undefined), '/-/ping': undefined }, 'forbidden'],
  ['no package with a scope', {}, 'forbidden', { target: 'npm:@acme/tool' }],
  ['the content', {}, 'as claimed', WITH_DIGEST],
  [
    'the content by another algorithm',
    {},
    'as claimed',
    { params: { integrity: createHash('sha256').update(CONTENT).digest('hex') } },
  ],
  ['other content', { [FILE]: OTHER }, 'differs (final)', WITH_DIGEST],
  [
    'a file that may have been cut',
    { [FILE]: withoutEnd(CONTENT.subarray(0, -1)) },
    'unexpected_response',
    WITH_DIGEST,
  ],
  ['a file that may have been cut, and was not', { [FILE]: withoutEnd(CONTENT) }, 'as claimed', WITH_DIGEST],
  [
    'the file at another origin',
    documented({ dist: { tarball: 'https://cdn.example/tool.tgz' } }),
    'unsupported_target',
    WITH_DIGEST,
  ],
  [
    'a file whose address names a host inside',
    documented({ dist: { tarball: 'http://npm.inside:4873/tool/-/tool-1.0.0.tgz' } }),
    'as claimed',
    WITH_DIGEST,
  ],
  [
    'a file that the registry has elsewhere',
    { [FILE]: { status: 302, headers: { location: 'https://cdn.example/tool.tgz' } } },
    'unexpected_response',
    WITH_DIGEST,
  ],
  ['the file at no address', documented({ dist: { tarball: '/tool.tgz' } }), 'unsupported_target', WITH_DIGEST],
  ['a page in place of the file', { [FILE]: '<!doctype html>' }, 'unexpected_response', WITH_DIGEST],
  ['the file is missing', { [FILE]: undefined }, 'forbidden', WITH_DIGEST],
  [
    'a file of 20 MiB',
    { [FILE]: LARGE },
    'as claimed',
    { params: { integrity: `sha512-${createHash('sha512').update(LARGE).digest('base64')}` } },
  ],
  ['another file of 20 MiB', { [FILE]: LARGE }, 'differs (final)', WITH_DIGEST],
]

for (const [name, routes, result, asked] of rows) {
  t.test(`${name}: ${result}`, async (t) => {
    const { check } = await at(t, (url) => (typeof routes === 'function' ? routes(url) : routes), asked)
    t.equal(await outcome(check()), result)
  })
}

const RECORDS: readonly [name: string, text: unknown][] = [
  ['nothing', ''],
  ['a page', '<!doctype html>'],
  ['a list', '[{"name":"tool"}]'],
  ['a text', '"tool"'],
  ['two objects', '{"name":"tool","versions":{}} {}'],
  ['an object that breaks off', JSON.stringify(packument()).slice(0, -20)],
  ['an object that breaks off in what is not wanted', '{"name":"tool","versions":{},"readme":"{'],
  ['too much depth', `{"name":"tool","readme":${'['.repeat(70)}${']'.repeat(70)}}`],
  ['a member twice, of which the last counts', '{"name":"tool","name":"other","versions":{}}'],
  ['times that are too long', { ...packument(), time: { '1.0.0': AT, modified: 'x'.repeat(600_000) } }],
  ['times that are no object', { ...packument(), time: [AT] }],
  ['a package of 41 MiB', { ...packument(), readme: 'x'.repeat(41 * 1024 * 1024) }],
]

for (const [name, text] of RECORDS) {
  t.test(`without a record, a version counts as it was seen: ${name}`, async (t) => {
    const { check } = await at(t, () => ({ '/tool': text }))
    const seen = await check({ now: LATE })
    t.match(seen, { kind: 'present', differs: [] })
    t.equal(seen.stays, undefined)
    t.match(seen.facts, { published_at: undefined, undated: true }, 'and says that it may be old')
  })
}

t.test('what is around the record does not matter', async (t) => {
  const readme = '{"time": "\\" } ] , : \\\\'
  const more = { readme, _attachments: {}, 'dist-tags': { latest: '1.0.0' }, users: [[{ time: {} }], null, 1.5, true] }
  const { name, versions, time } = packument({ versions: { '1.0.0': { time: { a: 1 }, list: [{ b: '}' }] } } })
  const many = Object.fromEntries(['0.9.0', '1.0.0', '2.0.0'].map((version) => [version, versions['1.0.0']]))
  for (const text of [
    { ...more, name, versions: many, time: { ...time, '2.0.0': AT } },
    JSON.stringify({ name, versions: many, time, readme }, undefined, 2).replaceAll(',', ' , '),
    { ...more, name, versions, time },
    { time, name, versions, ...more },
    JSON.stringify({ versions, ...more, time, name }, undefined, 2).replace('"time"', '"\\u0074ime"'),
  ]) {
    const { check } = await at(t, () => ({ '/tool': text }))
    const appeared = { notBefore: Date.parse(AT), notAfter: Date.parse(AT) }
    t.match(await check({ now: LATE }), { stays: [{ appeared }], facts: { published_at: AT } })
  }
})

t.test('a package of 39 MB with 5,000 versions is read once, in parts that hold up nothing', async (t) => {
  const versions = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [`0.0.${i}`, { readme: 'x'.repeat(7700) }]),
  )
  const time = Object.fromEntries(Object.keys(versions).map((version) => [version, AT]))
  const text = JSON.stringify(packument({ versions, time: { ...time, modified: AT, '1.0.0': AT } }))
  t.ok(text.length > 38_000_000 && text.length < 40_000_000, `${text.length} bytes`)
  const sent: number[] = []
  const { check } = await at(
    t,
    () => ({
      '/tool': (response: ServerResponse) => {
        sent.push(response.req.headers['if-none-match'] === '"1"' ? 304 : 200)
        response.writeHead(sent.at(-1)!, { etag: '"1"', 'content-length': text.length })
        response.end(sent.at(-1) === 304 ? undefined : text)
      },
    }),
    { cache: createCache() },
  )
  const startedAt = performance.now()
  t.match((await check()).facts, { published_at: AT, undated: undefined })
  t.comment(`${(performance.now() - startedAt).toFixed(0)} ms`)
  t.match((await check({ now: LATE })).facts, { published_at: AT })
  t.strictSame(sent, [200, 304])
})

t.test('in time, the record says nothing of when', async (t) => {
  const { check } = await at(t, () => ({}))
  t.equal((await check({ now: NOON + 10 * MINUTE - 1 })).stays, undefined)
  t.equal((await check({ now: NOON + 10 * MINUTE })).stays?.length, 1)
})

t.test('a record that lags does not list yet what is there', async (t) => {
  const { check } = await at(t, () => ({ '/tool': packument(others) }))
  t.same((await check({ now: LATE })).stays, [])
})

t.test('a cached answer of no package counts as old, but for looks before the tolerance is over', async (t) => {
  const { check } = await at(t, () => absent(undefined))
  t.equal((await check()).ageMs, undefined, 'it shows that nothing was there at the submission')
  t.equal((await check({ now: LATE })).ageMs, 5 * MINUTE)
})

t.test('preexisting by more than the tolerance, also when the clock of the registry is behind', async (t) => {
  for (const [at2, now, isOld] of [
    ['2026-09-25T11:49:59.000Z', NOON, true],
    ['2026-09-25T11:50:01.000Z', NOON, false],
    // The registry says that it is noon, which was 5 seconds ago.
    ['2026-09-25T11:49:59.000Z', NOON + 5000, false],
  ] as const) {
    const { check } = await at(t, () => ({ '/tool': packument({ time: { '1.0.0': at2 } }) }))
    t.equal((await check({ now })).facts.preexisting, isOld || undefined, at2)
  }
})

t.test('a version that is seen takes two requests, and one more with its digest', async (t) => {
  const cache = createCache()
  const { check, requests } = await at(t, () => ({}), { cache })
  await check()
  t.same(requests, ['/tool/1.0.0', '/tool'])
  await check(WITH_DIGEST)
  t.same(requests.slice(2).toSorted(), ['/tool', '/tool/-/tool-1.0.0.tgz', '/tool/1.0.0'])
})

t.test('a file that differs is read again when its publisher says something else of it, and not before', async (t) => {
  const cache = createCache()
  const routes: Record<string, unknown> = {}
  const { url, requests } = await serve(t, (url) => Object.assign(routes, published(url), { [FILE]: OTHER }))
  const connection = { provider: 'npm', options: { base_url: url } }
  const result = () => outcome(look({ target: 'npm:tool', connection, cache, params: { integrity: INTEGRITY } }))
  const reads = () => requests.filter((path) => path.endsWith('.tgz')).length
  const differing = [await result(), await result(), await result(), reads()]
  const other = 'differs (may_have_been)'
  t.same(differing, [other, other, other, 2], 'one odd answer does not confirm itself')
  const dist = { tarball: `${url}/tool/-/tool-1.0.0.tgz`, shasum: 'da39a3ee' }
  Object.assign(routes, {
    '/tool/1.0.0': (response: ServerResponse) => void response.end(JSON.stringify(manifest(url, { dist }))),
    [FILE]: CONTENT,
  })
  t.same([await result(), await result(), reads()], ['as claimed', 'as claimed', 4])
})

t.test('a file is read each time where its publisher says nothing of it', async (t) => {
  const cache = createCache()
  const routes: Record<string, unknown> = {}
  const { url } = await serve(t, (url) => Object.assign(routes, published(url), { [FILE]: OTHER }))
  const dist = { tarball: `${url}/tool/-/tool-1.0.0.tgz` }
  routes['/tool/1.0.0'] = manifest(url, { dist })
  const connection = { provider: 'npm', options: { base_url: url } }
  const result = () => outcome(look({ target: 'npm:tool', connection, cache, params: { integrity: INTEGRITY } }))
  t.same([await result(), await result()], ['differs (may_have_been)', 'differs (may_have_been)'])
  routes['/tool/-/tool-1.0.0.tgz'] = CONTENT
  t.equal(await result(), 'as claimed')
})

t.test('a file is read by its path at a registry whose address has one', async (t) => {
  for (const [tarball, base, path] of [
    ['http://inside/tool/-/tool-1.0.0.tgz', '/team', '/team/tool/-/tool-1.0.0.tgz'],
    ['http://inside/team/tool/-/tool-1.0.0.tgz?a=1', '/team', '/team/tool/-/tool-1.0.0.tgz?a=1'],
    ['http://inside/team-2/tool.tgz', '/team', '/team/team-2/tool.tgz'],
  ] as const) {
    const { url } = await serve(t, {
      [`${base}/tool/1.0.0`]: manifest('', { dist: { tarball } }),
      [`${base}/tool`]: packument(),
      [path]: CONTENT,
    })
    const connection = { provider: 'npm', options: { base_url: url + base } }
    t.equal(
      await outcome(look({ target: 'npm:tool', connection, params: { integrity: INTEGRITY } })),
      'as claimed',
      path,
    )
  }
})

t.test('at a registry that may forget', async (t) => {
  const seen = { sentAt: NOON + 1000, observation: { kind: 'present', differs: [], facts: {} } } as const
  const cases: readonly [name: string, routes: Routes, result: string, asked?: Partial<Asked>][] = [
    ['no version', absent(packument(others)), 'absent'],
    ['no version, which has a time', absent(packument({ versions: {} })), 'absent (may_have_been)'],
    ['no version, seen before', absent(packument(others)), 'absent (may_have_been)', { previous: [seen] }],
    ['other content since the claim', { [FILE]: OTHER }, 'differs (may_have_been)', WITH_DIGEST],
    [
      'other content, after the claimed one was seen',
      { [FILE]: OTHER },
      'differs (may_have_been)',
      { params: { integrity: INTEGRITY }, previous: [seen] },
    ],
    [
      'other content, where only an old copy of the package says where it is',
      {
        ...absent(aged('3600', packument({ versions: { '1.0.0': manifest('http://inside') } }))),
        [FILE]: OTHER,
      },
      'unexpected_response',
      WITH_DIGEST,
    ],
    ['no package', absent(undefined), 'forbidden'],
    ['no version, in an old copy of the package', absent(aged('3600', packument(others))), 'unexpected_response'],
  ]
  for (const [name, routes, result, asked] of cases) {
    const { url } = await serve(t, (url) => ({ ...published(url), ...routes }))
    const connection = { provider: 'npm', options: { base_url: `${url}/`, token: 'npm_secret' } }
    t.equal(await outcome(look({ target: 'npm:tool', connection, ...asked })), result, name)
  }
  const { url } = await serve(t, published)
  const connection = { provider: 'npm', options: { base_url: url } }
  const [later] = (await look({ target: 'npm:tool', connection, now: LATE })).stays!
  t.same(later, { appeared: { notAfter: Date.parse(AT) } }, 'what is there may have taken the place of what was there')
})
