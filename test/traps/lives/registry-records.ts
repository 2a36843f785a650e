/** Lives of packages by the record of their registry: where it is large, where it may be replaced, and where answers lag behind it. */
import { html, status } from '../../destinations/faults.ts'
import type { SimpleIndex } from '../../destinations/pypi.ts'
import { at, BLAME, DAY, HOUR, kind, type LifeRow, MINUTE, NOT_VERIFIED, SECOND, UNVERIFIABLE } from './life-row.ts'
import {
  livesOf,
  MONTH,
  type NpmPlace,
  OTHER_SHA,
  openNpm,
  openSimple,
  type PackageLife,
  type PypiPlace,
  row,
  toNpm,
  toPypi,
} from './registries.ts'

const large = kind('large files')
const largeLie = kind('large files', BLAME, 'never')

/** In bytes, as those of packages with thousands of versions are. */
const DOCUMENTS = [6_000_000, 20_000_000, 39_000_000]

const largeLives = DOCUMENTS.flatMap((documentBytes) => {
  const of = `in a document of ${documentBytes / 1_000_000} MB`
  return [
    row<NpmPlace>(large, `a version of a month ago, ${of}`, (place) => ({
      happens: [toNpm(place, -MONTH + DAY, { documentBytes })],
      facts: { preexisting: true, published_at: '2026-02-10T09:30:00.000Z', undated: undefined },
    })),
    row<NpmPlace>(large, `a version of now, ${of}`, (place) => ({
      happens: [toNpm(place, 0, { documentBytes })],
      facts: { preexisting: undefined, published_at: '2026-03-11T09:30:00.000Z', undated: undefined },
    })),
    row<NpmPlace>(largeLie, `no such version, ${of}`, (place) => [
      toNpm(place, -DAY, { documentBytes, version: '0.9.5' }),
    ]),
  ]
})

const hugeLives = [
  row<NpmPlace>(large, 'a version of a month ago, in a document that is too large to read', (place) => ({
    happens: [toNpm(place, -MONTH + DAY, { documentBytes: 45_000_000 })],
    facts: { preexisting: undefined, published_at: undefined, undated: true },
  })),
]

/** Indexes that have the simple API alone, as their programs show it. */
const INDEXES: readonly (readonly [name: string, index: SimpleIndex])[] = [
  ['devpi', { path: '/+simple', form: 'html' }],
  ['pypiserver', { path: '/simple', form: 'html', isStrict: true }],
  ['nexus', { path: '/simple', form: 'html' }],
  ['an index that escapes little', { path: '/simple', form: 'html', isUnescaped: true }],
  ['an index with JSON', { path: '/simple', form: 'json-1.1' }],
  ['an index with the first JSON', { path: '/simple', form: 'json-1.0' }],
]

const simple = kind('kinds of content')
const simpleLie = kind('kinds of content', NOT_VERIFIED, 'never')
const simpleOther = kind('kinds of content', BLAME, 'elsewhere')
const sha = (place: PypiPlace, file = 'py3-none-any.whl') => ({
  integrity: `sha256:${place.pypi.digestOf('tool', '1.0.0', file)}`,
})

function livesOfIndex([name, index]: (typeof INDEXES)[number]): LifeRow[] {
  const isDated = index.form === 'json-1.1'
  const lives: readonly PackageLife<PypiPlace>[] = [
    row(simple, 'published and claimed', (place) => ({
      happens: [toPypi(place)],
      facts: isDated ? { published_at: '2026-03-11T09:30:00.000Z' } : { published_at: undefined, undated: true },
    })),
    ...[400, 403, 500].map((code) =>
      row<PypiPlace>(simple, `where PyPI has its JSON API it answers ${code}`, (place) => {
        place.pypi.faults.inject({ fault: status(code), on: /\/json$/ })
        return [toPypi(place)]
      }),
    ),
    row(simple, 'a source archive', (place) => [toPypi(place, 0, { kind: 'tar.gz' })]),
    row(simple, 'by its digest', (place) => ({ params: sha(place), happens: [toPypi(place)] })),
    row(simple, 'published four minutes after the claim', (place) => ({
      happens: [toPypi(place, 4 * MINUTE)],
      cameMs: 4 * MINUTE,
    })),
    row(simple, 'yanked', (place) => ({
      happens: [toPypi(place), at(SECOND / 2, 'bot', () => place.pypi.yank('tool', '1.0.0'))],
      facts: { yanked: true },
    })),
    row(simple, 'in another spelling', (place) => ({ params: { version: '1.0' }, happens: [toPypi(place)] })),
    row(simpleOther, 'another digest', (place) => ({ params: OTHER_SHA, happens: [toPypi(place, -HOUR)] })),
    row({ ...simpleLie, right: BLAME }, 'no such version', () => []),
    row(simpleLie, 'a version that begins like another', (place) => ({
      params: { version: '1.0.0.1' },
      happens: [toPypi(place, -HOUR)],
    })),
    row({ ...simpleLie, right: UNVERIFIABLE }, 'a project that it does not show', () => ({ target: 'pypi:nowhere' })),
    row({ ...simpleLie, right: UNVERIFIABLE, truth: 'unknowable' }, 'behind a page to sign in', (place) => {
      place.pypi.faults.inject({ fault: html() })
      return []
    }),
  ]
  return livesOf(name, 'pypi', openSimple(index), lives)
}

const undigested = livesOf('an index of md5', 'pypi', openSimple({ path: '/simple', form: 'html', digest: 'md5' }), [
  row<PypiPlace>(simple, 'published and claimed', (place) => [toPypi(place)]),
  row<PypiPlace>({ ...simple, right: UNVERIFIABLE }, 'by its digest, which is not told', (place) => ({
    ...{ params: sha(place), happens: [toPypi(place)] },
  })),
])

export const recordLives: readonly LifeRow[] = [
  ...INDEXES.flatMap(livesOfIndex),
  ...undigested,
  ...livesOf('npm', 'npm', () => openNpm(true), [...largeLives, ...hugeLives]),
]
