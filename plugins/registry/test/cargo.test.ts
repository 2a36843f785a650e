/** What the plugin makes of a sparse index of Cargo's. */
import t from 'tap'
import { type Asked, look, MINUTE, NOON, outcome } from './fixture.ts'
import { aged, type Routes, serve, withoutEnd } from './serve.ts'

const CKSUM = 'ab'.repeat(32)
const line = (vers: string, more: object = {}) =>
  JSON.stringify({ name: 'Tool', vers, cksum: CKSUM, yanked: false, deps: [], ...more })
const PATH = '/to/ol/tool'
const CONFIG = { '/config.json': { dl: 'https://static.example' } }

const rows: readonly [name: string, routes: Routes, result: string, asked?: Partial<Asked>][] = [
  ['a version', { [PATH]: `${line('0.9.0')}\n${line('1.0.0')}\n` }, 'as claimed'],
  ['a file without a break at its end', { [PATH]: `${line('0.9.0')}\n${line('1.0.0')}` }, 'as claimed'],
  ['no version', { [PATH]: `${line('0.9.0')}\n${line('1.0.1')}\n` }, 'absent (never_before)'],
  ['a file that breaks off', { [PATH]: `${line('0.9.0')}\n${line('1.0.1').slice(0, 40)}` }, 'unexpected_response'],
  ['a page', { [PATH]: '<!doctype html>\n<p>Sign in' }, 'unexpected_response'],
  ['an empty file', { [PATH]: '\n' }, 'unexpected_response'],
  ['another crate', { [PATH]: line('1.0.0', { name: 'other' }) }, 'unexpected_response'],
  ['a line of another form beside it', { [PATH]: `${line('1.0.0')}\n{"vers":"2.0.0"}` }, 'as claimed'],
  ['no version, and a line of another form', { [PATH]: `${line('0.9.0')}\n{"vers":"1.0.0"}` }, 'unexpected_response'],
  ['a line that says nothing of yanking', { [PATH]: line('1.0.0', { yanked: null }) }, 'as claimed'],
  ['a line of a newer format', { [PATH]: line('1.0.0', { v: 9, deps: {}, yanked: 'never' }) }, 'as claimed'],
  ['a time that is none', { [PATH]: line('1.0.0', { pubtime: 'today' }) }, 'as claimed'],
  [
    'a line of 600 kB before it',
    { [PATH]: `${line('2.0.0', { deps: 'x'.repeat(600_000) })}\n${line('1.0.0')}` },
    'as claimed',
  ],
  [
    'no version, and a line of 600 kB',
    { [PATH]: `${line('0.9.0')}\n${line('2.0.0', { deps: 'x'.repeat(600_000) })}` },
    'unexpected_response',
  ],
  [
    'a digest that is none',
    { [PATH]: line('1.0.0', { cksum: 'abc' }) },
    'unexpected_response',
    { params: { integrity: CKSUM } },
  ],
  [
    'the crate in another spelling',
    { '/se/rd/serde_json': line('1.0.0', { name: 'serde_json' }) },
    'as claimed',
    { target: 'cargo:serde-json' },
  ],
  [
    'the same the other way round',
    { '/se/rd/serde-json': line('1.0.0', { name: 'serde-json' }) },
    'as claimed',
    { target: 'cargo:serde_json' },
  ],
  ['both mixed', { '/a_/b-/a_b-c': line('1.0.0', { name: 'a_b-c' }) }, 'as claimed', { target: 'cargo:a-b_c' }],
  ['a name with more spellings than a check may try', CONFIG, 'too_large', { target: 'cargo:a-b-c-d-e-f-g' }],
  ['no crate in any spelling', CONFIG, 'absent', { target: 'cargo:a-b-c' }],
  ['a file of 41 MiB', { [PATH]: `${line('1.0.0', { deps: 'x'.repeat(1000) })}\n`.repeat(41 * 1024) }, 'too_large'],
  ['a version with build metadata alone', { [PATH]: line('1.0.0+1.7.2') }, 'ambiguous_claim'],
  ['a version, and the answer tells no end', { [PATH]: withoutEnd(line('1.0.0')) }, 'as claimed'],
  ['no version, and the answer tells no end', { [PATH]: withoutEnd(`${line('0.9.0')}\n`) }, 'unexpected_response'],
  ['401', { [PATH]: { status: 401 } }, 'unauthorized'],
  ['451', { [PATH]: { status: 451 } }, 'forbidden'],
  ['503', { [PATH]: { status: 503 } }, 'unavailable'],
  ['410', { [PATH]: { status: 410 }, ...CONFIG }, 'absent', { now: NOON }],
  ['no crate', CONFIG, 'absent', { now: NOON }],
  ['no crate, and no index', {}, 'forbidden', { now: NOON }],
  ['no crate, and an index without the form of one', { '/config.json': {} }, 'unexpected_response', { now: NOON }],
  ['the content', { [PATH]: line('1.0.0') }, 'as claimed', { params: { integrity: CKSUM } }],
  ['other content', { [PATH]: line('1.0.0') }, 'differs (final)', { params: { integrity: 'cd'.repeat(32) } }],
  [
    'the content in the second of two lines for the version',
    { [PATH]: `${line('1.0.0')}\n${line('1.0.0', { cksum: 'cd'.repeat(32) })}` },
    'as claimed',
    { params: { integrity: 'cd'.repeat(32) } },
  ],
]

for (const [name, routes, result, asked] of rows) {
  t.test(`${name}: ${result}`, async (t) => {
    const { url } = await serve(t, routes)
    t.equal(await outcome(look({ target: 'cargo:tool', options: { public_cargo_url: url }, ...asked })), result)
  })
}

t.test('where the file of a crate is', async (t) => {
  for (const [name, path] of [
    ['a', '/1/a'],
    ['ab', '/2/ab'],
    ['abc', '/3/a/abc'],
    ['abcd', '/ab/cd/abcd'],
    ['Serde_JSON', '/se/rd/serde_json'],
  ] as const) {
    const { url, requests } = await serve(t, { [path]: line('1.0.0', { name }) })
    await look({ target: `cargo:${name}`, options: { public_cargo_url: url } })
    t.same(requests, [path])
  }
})

t.test('a time in whole seconds means the whole second', async (t) => {
  const { url } = await serve(t, { [PATH]: line('1.0.0', { pubtime: '2026-09-25T12:00:30Z', yanked: true }) })
  const seen = await look({ target: 'cargo:tool', options: { public_cargo_url: url }, now: NOON + 11 * MINUTE })
  t.same(seen.stays, [{ appeared: { notBefore: NOON + 30_000, notAfter: NOON + 30_999 } }])
  t.match(seen.facts, { yanked: true, published_at: '2026-09-25T12:00:30.000Z', integrity_by: 'registry' })
})

t.test('an index file that begins after the claim says nothing of a crate that was deleted before', async (t) => {
  const DAY = 24 * 60 * MINUTE
  const since = (ms: number) => ({ pubtime: new Date(NOON + ms).toISOString() })
  const rows: readonly [name: string, lines: string[], result: string, params?: Asked['params']][] = [
    ['another version', [line('0.1.0', since(1))], 'absent'],
    ['another version, and one of before', [line('0.0.9', since(0)), line('0.1.0', since(1))], 'absent (never_before)'],
    ['another version, and one of any time', [line('0.0.9'), line('0.1.0', since(1))], 'absent (never_before)'],
    ['other content', [line('1.0.0', since(1))], 'differs (may_have_been)', { integrity: 'cd'.repeat(32) }],
    ['other content since before', [line('1.0.0', since(0))], 'differs (final)', { integrity: 'cd'.repeat(32) }],
  ]
  for (const [name, lines, result, params = {}] of rows) {
    const { url } = await serve(t, { [PATH]: lines.join('\n') })
    const looked = look({ target: 'cargo:tool', options: { public_cargo_url: url }, now: NOON + 2 * DAY, params })
    t.equal(await outcome(looked), result, name)
  }
  for (const [ms, isFirst] of [
    [DAY, true],
    [DAY + 1, false],
  ] as const) {
    const { url } = await serve(t, { [PATH]: line('1.0.0', since(ms)) })
    const seen = await look({ target: 'cargo:tool', options: { public_cargo_url: url }, now: NOON + 2 * DAY })
    const at = NOON + ms
    t.same(seen.stays, [{ appeared: isFirst ? { notBefore: at, notAfter: at } : { notAfter: at } }])
  }
})

t.test('the caches of crates.io may be ten minutes behind', async (t) => {
  const { url } = await serve(t, { [PATH]: line('0.9.0'), ...CONFIG })
  const ageOf = async (target: string, now: number) =>
    (await look({ target, options: { public_cargo_url: url }, now })).ageMs
  t.equal(await ageOf('cargo:tool', NOON), 10 * MINUTE)
  t.equal(
    await ageOf('cargo:other', NOON),
    undefined,
    'without an index file, the look just after the submission counts',
  )
  t.equal(await ageOf('cargo:other', NOON + 11 * MINUTE), 10 * MINUTE)
})

t.test('at another index than the public one, an old copy shows what is there, not what is missing', async (t) => {
  const rows: readonly [name: string, routes: Routes, result: string, params?: Asked['params']][] = [
    ['the version', { [PATH]: aged('301', line('1.0.0')) }, 'as claimed'],
    ['no version', { [PATH]: aged('301', line('0.9.0')) }, 'unexpected_response'],
    ['no version, in a copy of a minute', { [PATH]: aged('60', line('0.9.0')) }, 'absent'],
    [
      'no crate, by a cache',
      { [PATH]: { status: 404, headers: { 'x-cache-status': 'HIT' } }, ...CONFIG },
      'unexpected_response',
    ],
    [
      'no crate, which a cache confirmed',
      { [PATH]: { status: 404, headers: { 'x-cache-status': 'REVALIDATED' } }, ...CONFIG },
      'absent',
    ],
    ['no crate', { [PATH]: { status: 404, headers: { age: '301' } }, ...CONFIG }, 'unexpected_response'],
    [
      'no crate, in a copy of a copy',
      { [PATH]: { status: 404, headers: { age: '5, 6' } }, ...CONFIG },
      'unexpected_response',
    ],
    ['other content', { [PATH]: aged('301', line('1.0.0')) }, 'unexpected_response', { integrity: 'cd'.repeat(32) }],
  ]
  for (const [name, routes, result, params = {}] of rows) {
    const { url } = await serve(t, routes)
    const connection = { provider: 'cargo', options: { base_url: url, sees_all_packages: true } }
    t.equal(await outcome(look({ target: 'cargo:tool', connection, now: NOON, params })), result, name)
  }
  const { url } = await serve(t, { [PATH]: aged('301', line('0.9.0')) })
  const atPublic = look({ target: 'cargo:tool', options: { public_cargo_url: url } })
  t.equal(await outcome(atPublic), 'absent (never_before)', 'the host counts the age of what it lists')

  const { url: another } = await serve(t, { '/3/a/a_b': line('1.0.0', { name: 'a_b' }), ...CONFIG })
  const options = { base_url: another, sees_all_packages: true }
  const otherCrate = look({ target: 'cargo:a-b', connection: { provider: 'cargo', options } })
  t.equal(await outcome(otherCrate), 'ambiguous_claim', 'elsewhere two spellings may be two crates')
})
