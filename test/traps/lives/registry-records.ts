/** Lives of packages by the record of their registry: where it is large, where it may be replaced, and where answers lag behind it. */
import { BLAME, DAY, kind, type LifeRow } from './life-row.ts'
import { livesOf, MONTH, type NpmPlace, openNpm, row, toNpm } from './registries.ts'

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

export const recordLives: readonly LifeRow[] = [
  ...livesOf('npm', 'npm', () => openNpm(true), [...largeLives, ...hugeLives]),
]
