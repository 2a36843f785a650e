/** What the plugin makes of a Python index's answers. */

import type { ServerResponse } from 'node:http'
import type { Observation } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { type Asked, look, MINUTE, NOON, outcome } from './fixture.ts'
import { aged, type Routes, serve } from './serve.ts'

const SHA = 'ab'.repeat(32)
const file = (more: object = {}) => ({
  digests: { sha256: SHA },
  upload_time_iso_8601: '2026-09-25T12:00:30.123456Z',
  yanked: false,
  ...more,
})
const release = (urls: object[], info: object = {}) => ({ info: { name: 'Tool', version: '1.0.0', ...info }, urls })
const project = (...versions: string[]) => ({ name: 'tool', versions, files: [] })

const RELEASE = '/pypi/tool/1.0.0/json'
const PROJECT = '/simple/tool/'
const DIGEST = { params: { integrity: SHA } }

const rows: readonly [name: string, routes: Routes, result: string, asked?: Partial<Asked>][] = [
  ['a release', { [RELEASE]: release([file()]) }, 'as claimed'],
  ['a release of another project', { [RELEASE]: release([file()], { name: 'other' }) }, 'unexpected_response'],
  ['another release', { [RELEASE]: release([file()], { version: '1.0.1' }) }, 'unexpected_response'],
  ['a release in another spelling', { [RELEASE]: release([file()], { version: '1.0' }) }, 'as claimed'],
  ['a prerelease of the release', { [RELEASE]: release([file()], { version: '1.0.0rc1' }) }, 'unexpected_response'],
  ['a release without files', { [RELEASE]: release([]) }, 'absent (may_have_been)'],
  ['a time that is none', { [RELEASE]: release([file({ upload_time_iso_8601: 'today' })]) }, 'as claimed'],
  ['nothing of times and yanking', { [RELEASE]: release([{ digests: { sha256: SHA } }]) }, 'as claimed'],
  ['401', { [RELEASE]: { status: 401 } }, 'unauthorized'],
  ['410', { [RELEASE]: { status: 410 } }, 'unexpected_response'],
  ['503', { [RELEASE]: { status: 503 } }, 'unavailable'],
  ['a page', { [RELEASE]: '<!doctype html>' }, 'unexpected_response'],
  ['no release', { [PROJECT]: project('0.9') }, 'absent'],
  [
    'a release that only the project lists, in another spelling',
    { [PROJECT]: project('0.9', '1.0') },
    'unexpected_response',
  ],
  [
    'no release, and a project with a version of half a megabyte',
    { [PROJECT]: project('0.9', `1${'.0'.repeat(250_000)}.1`) },
    'absent',
  ],
  ['no release, and the project in an old copy', { [PROJECT]: aged('5, 6', project('0.9')) }, 'unexpected_response'],
  [
    'no release, and the project of another name',
    { [PROJECT]: { ...project('0.9'), name: 'x' } },
    'unexpected_response',
  ],
  ['no release, and a project with no version any more', { [PROJECT]: project() }, 'absent (may_have_been)'],
  [
    'no release, and a project in quarantine',
    { [PROJECT]: { ...project('0.9'), 'project-status': { status: 'quarantined', reason: 'malware' } } },
    'absent (may_have_been)',
  ],
  [
    'no release, and an archived project',
    { [PROJECT]: { ...project('0.9'), 'project-status': { status: 'archived' } } },
    'absent',
  ],
  [
    'no release, and a project without a list of versions',
    { [PROJECT]: { name: 'tool', files: [] } },
    'unexpected_response',
  ],
  ['no release, and 403 for the project', { [PROJECT]: { status: 403 } }, 'forbidden'],
  ['no project', { '/simple/': {} }, 'absent', { now: NOON }],
  ['no project, and no index', {}, 'forbidden', { now: NOON }],
  [
    'the digest of a file',
    { [RELEASE]: release([file({ digests: { sha256: 'cd'.repeat(32) } }), file()]) },
    'as claimed',
    DIGEST,
  ],
  [
    'no such digest',
    { [RELEASE]: release([file({ digests: { sha256: 'cd'.repeat(32) } })]) },
    'differs (may_have_been)',
    { ...DIGEST, now: NOON },
  ],
  [
    'a digest that is none',
    { [RELEASE]: release([file({ digests: { sha256: 'cd' } })]) },
    'unexpected_response',
    DIGEST,
  ],
]

const check = async (test: Test, routes: Routes, asked: Partial<Asked> = {}): Promise<Observation> => {
  const { url } = await serve(test, routes)
  return look({ target: 'pypi:Tool', options: { public_pypi_url: url }, ...asked })
}

for (const [name, routes, result, asked] of rows) {
  t.test(`${name}: ${result}`, async (t) => t.equal(await outcome(check(t, routes, asked)), result))
}

/** A page of links, PEP 503. */
const page =
  (...links: readonly string[]) =>
  (response: ServerResponse) =>
    response.setHeader('content-type', 'text/html').end(`<!DOCTYPE html><body>${links.join('\n')}</body>`)
const link = (filename: string, fragment = `#sha256=${SHA}`, more = '') =>
  `<a href='../../packages/${filename}${fragment}' ${more}>${filename}</a>`
const loose = (filename: string) =>
  `<a data-requires-python=">=3.8,<4" href="../../packages/${filename}#sha256=${SHA}">${filename}</a>`
const files = (...named: readonly (string | object)[]) =>
  named.map((one) => (typeof one === 'string' ? { filename: one, hashes: { sha256: SHA } } : one))

const SIMPLE: readonly [name: string, listing: unknown, result: string, asked?: Partial<Asked>][] = [
  ['a wheel', page(link('tool-1.0.0-py3-none-any.whl')), 'as claimed'],
  ['a wheel with a number of its build', page(link('tool-1.0.0-1-py3-none-any.whl')), 'as claimed'],
  ['an archive', page(link('tool-1.0.0.tar.gz')), 'as claimed'],
  ['an archive with the name as its owner writes it', page(link('Tool-1.0.zip')), 'as claimed'],
  ['an egg', page(link('tool-1.0.0-py3.9.egg')), 'as claimed'],
  ...[
    `<A HREF=../../tool-1.0.0.tar.gz#sha256=${SHA}>tool-1.0.0.tar.gz</A>`,
    `<a\n  data-requires-python=">=3.8"\n  href='../../tool-1.0.0.tar.gz#sha256=${SHA}&amp;egg=tool'\n>x</a >`,
    `<li><a title="it's > 1" href = "/tool-1.0.0.tar.gz?a=1#sha256=${SHA}"><span>tool</span></a></li>`,
    `<a href="/download/17#sha256=${SHA}"><code>tool-1.0.0.tar.gz</code></a>`,
    `<!-- <a href="x"> --><p>1 < 2<a href="/tool-1.0.0.tar.gz#sha256=${SHA}">x`.concat('</a>'),
  ].map((one): (typeof SIMPLE)[number] => [one.slice(0, 60), page(one), 'as claimed', DIGEST]),
  ['in a comment', page(link('tool-0.9.tar.gz'), `<!-- ${link('tool-1.0.0.tar.gz')} -->`), 'absent'],
  ['in the name of an attribute', page(link('tool-0.9.tar.gz'), '<a title="href=/tool-1.0.0.tar.gz">x</a>'), 'absent'],
  ['its digest', page(link('tool-1.0.0.tar.gz')), 'as claimed', DIGEST],
  ['another digest', page(link('tool-1.0.0.tar.gz', `#sha256=${'c'.repeat(64)}`)), 'differs', { ...DIGEST, now: NOON }],
  ['no digest', page(link('tool-1.0.0.tar.gz', '')), 'unexpected_response', DIGEST],
  ['no digest, and none is claimed', page(link('tool-1.0.0.tar.gz', '')), 'as claimed'],
  ['a value with the end of a tag in it', page(loose('tool-1.0.0.tar.gz')), 'as claimed', DIGEST],
  [
    'the value of another attribute',
    page(`<a data-href="tool-2.0.tar.gz" ${link('tool-1.0.0.tar.gz').slice(3)}`),
    'as claimed',
  ],
  ['a value without quotes', page('<a href=../tool-1.0.0.tar.gz>tool</a>'), 'as claimed'],
  ['a text with marks', page('<a href="../tool-1.0.0.tar.gz"><b>tool</b></a>'), 'as claimed'],
  ['a link without its end', page('<a href="../tool-1.0.0.tar.gz">tool<br>', loose('tool-0.9.tar.gz')), 'as claimed'],
  [
    'a link without its end, at the end',
    page(link('tool-0.9.tar.gz'), '<a href="../tool-1.0.0.tar.gz">'),
    'as claimed',
  ],
  ...['<!-->', '<!--->', '<!-- - --!>', '<!-- a -- b -->'].map((comment): (typeof SIMPLE)[number] => [
    `a comment before it: ${comment}`,
    page(link('tool-0.9.tar.gz'), comment, link('tool-1.0.0.tar.gz')),
    'as claimed',
  ]),
  ...['<!-- ', '<p title="'].map((opened): (typeof SIMPLE)[number] => [
    `what has no end before it: ${opened}`,
    page(link('tool-0.9.tar.gz'), opened, loose('tool-1.0.0.tar.gz').replaceAll('"', '')),
    'unexpected_response',
  ]),
  ...[
    ['1.0.post1', '1.0.0.post1'],
    ['1.dev1', '1.0.0.dev1'],
    ['1.0+cpu', '1.0.0+cpu'],
    ['1.0rc1', '1.0.0rc1'],
    ['2!1.0', '2!1'],
  ].map(([claimed, told]): (typeof SIMPLE)[number] => [
    `${told}, claimed as ${claimed}`,
    page(link(`tool-${told}.tar.gz`)),
    'as claimed',
    { params: { version: claimed! } },
  ]),
  ...[
    ['1.0.post1', '1.0.1.post1'],
    ['1.0.dev1', '1.0.dev10'],
    ['1.0.0.1', '1.0.1'],
    ['1.0+1.0', '1.0+1'],
  ].map(([claimed, told]): (typeof SIMPLE)[number] => [
    `${told}, which is not ${claimed}`,
    page(link(`tool-${told}.tar.gz`)),
    'absent',
    { params: { version: claimed! } },
  ]),
  ['another version', page(link('tool-1.0.1.tar.gz')), 'absent'],
  ['a file whose version is not known', page(link('tool-0.9.tar.gz'), link('tool-1.0.0.rpm')), 'unexpected_response'],
  ['an installer alone', page(link('tool-0.9.tar.gz'), link('tool-1.0.win32.exe')), 'unexpected_response'],
  [
    'a local version as old wheels write it',
    page(link('tool-0.9.tar.gz'), link('tool-1.0.0_cpu-py3-none-any.whl')),
    'unexpected_response',
    { params: { version: '1.0.0+cpu' } },
  ],
  ['an installer of another version', page(link('tool-0.9.tar.gz'), link('tool-0.9.win32.exe')), 'absent'],
  ['no file', page('<a href="/login">Sign in</a>'), 'unexpected_response'],
  ['files of another project alone', page(link('other-1.0.0.tar.gz')), 'unexpected_response'],
  ['links without an end', page('<a href="x">'.repeat(20_000)), 'unexpected_response'],
  ['a link that is too long', page(`</p><a href="${'x'.repeat(100_000)}`), 'too_large'],
  ['a link with too much text', page(`<a href="x">${'x<b>'.repeat(100_000)}`), 'too_large'],
  ['a list', { name: 'tool', files: files('tool-1.0.0.tar.gz') }, 'as claimed', DIGEST],
  ['a list without it', { name: 'tool', files: files('tool-0.9.tar.gz') }, 'absent'],
  [
    'a list with what is no file',
    { name: 'tool', files: files('tool-0.9.tar.gz', { filename: 'tool-1.0.0.tar.gz' }) },
    'unexpected_response',
  ],
  ['a list of versions', { name: 'tool', versions: ['0.9'], files: files('tool-0.9.tar.gz', {}) }, 'absent'],
  [
    'a list of megabytes',
    { name: 'tool', files: files(...Array(20_000).fill('tool-0.9.tar.gz'), 'tool-1.0.0.tar.gz') },
    'as claimed',
  ],
  ['a list of another project', { name: 'other', files: files('tool-1.0.0.tar.gz') }, 'unexpected_response'],
]

for (const [name, listing, result, asked] of SIMPLE) {
  t.test(`an index with the simple API alone, ${name}: ${result}`, async (t) => {
    const { url } = await serve(t, { '/team/+simple/tool/': listing })
    const connection = { provider: 'pypi', options: { base_url: `${url}/team/+simple/` } }
    t.equal(await outcome(look({ target: 'pypi:tool', connection, ...asked })), result)
  })
}

t.test("an index of one's own need not have the JSON API, whatever it answers in its place", async (t) => {
  const places = [400, 401, 403, 410, 500].map((status): unknown => ({ status }))
  const others = ['<!doctype html>', { status: 302, headers: { location: 'https://pypi.org/' } }, { releases: {} }]
  for (const place of [...places, ...others, release([file()], { name: 'other' })]) {
    const { url } = await serve(t, { [RELEASE]: place, [PROJECT]: page(link('tool-1.0.0.tar.gz')) })
    const connection = { provider: 'pypi', options: { base_url: url } }
    t.equal(await outcome(look({ target: 'pypi:tool', connection })), 'as claimed')
    t.equal(await outcome(look({ target: 'pypi:tool', connection, params: { version: '2.0' } })), 'absent')
  }
  const { url } = await serve(t, { [RELEASE]: { status: 429 }, [PROJECT]: page(link('tool-1.0.0.tar.gz')) })
  const connection = { provider: 'pypi', options: { base_url: url } }
  t.equal(await outcome(look({ target: 'pypi:tool', connection })), 'rate_limited')
})

t.test('a page of links tells what is yanked, and a list when it came', async (t) => {
  const facts = async (listing: unknown) => {
    const { url } = await serve(t, { '/simple/tool/': listing })
    return (await look({ target: 'pypi:tool', connection: { provider: 'pypi', options: { base_url: url } } })).facts
  }
  const yanked = page(
    link('tool-1.0.0.tar.gz', '#sha256=&amp;', 'data-yanked'),
    link('tool-1.0.0.zip', '', 'data-yanked=""'),
  )
  t.match(await facts(yanked), { yanked: true, undated: true, version: '1.0.0' })
  const [one] = files('tool-1.0.0.tar.gz') as object[]
  const list = { name: 'tool', files: [{ ...one, yanked: 'broken', 'upload-time': '2026-09-25T12:00:30.123456Z' }] }
  t.match(await facts(list), { yanked: true, published_at: '2026-09-25T12:00:30.123Z', undated: undefined })
})

t.test('it was published with the first of its files, or with the one that is claimed', async (t) => {
  const later = file({ digests: { sha256: 'cd'.repeat(32) }, upload_time_iso_8601: '2026-09-25T12:05:00.000000Z' })
  const routes = { [RELEASE]: release([later, file({ yanked: true })]) }
  const { facts } = await check(t, routes)
  t.match(facts, { published_at: '2026-09-25T12:00:30.123Z', package_listed: true })
  t.equal(facts.integrity, undefined, 'of two files')
  t.equal(facts.yanked, undefined, 'one is not')
  t.match((await check(t, routes, DIGEST)).facts, { yanked: true, integrity_by: 'registry' })
  const named = await check(t, routes, { params: { integrity: 'cd'.repeat(32) }, now: NOON + 11 * MINUTE })
  t.same(named.stays, [{ appeared: { notAfter: NOON + 5 * MINUTE } }], 'a file of before may be gone')
})

t.test('a file without a time may be the first, so no other one is', async (t) => {
  const untimed = file({ upload_time_iso_8601: undefined })
  const { facts, stays } = await check(
    t,
    { [RELEASE]: release([file(), untimed, file()]) },
    { now: NOON + 11 * MINUTE },
  )
  t.equal(facts.published_at, undefined)
  t.equal(stays, undefined)
})

t.test('a connection signs with its user, and a 404 hides from it', async (t) => {
  const { url } = await serve(t, {})
  const connection = { provider: 'pypi', options: { base_url: url, username: 'reader', password: 'a-long-password' } }
  t.equal(await outcome(look({ target: 'pypi:tool', connection })), 'forbidden')
})
