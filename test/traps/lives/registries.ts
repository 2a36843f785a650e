/** Lives of packages: spellings, removed versions, large files, and registries that answer in ways of their own. */
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '@claimcheck/core/rules'
import { createVirtualClock } from '@claimcheck/core/testkit'
import registry from '@claimcheck/plugin-registry'
import { CratesStandIn } from '../../destinations/crates.ts'
import { type Fault, html, status } from '../../destinations/faults.ts'
import { type NpmPublication, NpmStandIn } from '../../destinations/npm-public.ts'
import { PypiStandIn, type SimpleIndex } from '../../destinations/pypi.ts'
import { fileOf, integrityOf } from '../../destinations/verdaccio.ts'
import {
  at,
  BLAME,
  DAY,
  type Happening,
  HOUR,
  type Kind,
  kind,
  type LifeRow,
  MINUTE,
  NOT_BLAMED,
  NOT_VERIFIED,
  type Place,
  type Play,
  SECOND,
  START,
  settingOf,
  UNVERIFIABLE,
} from './life-row.ts'

const action = 'registry.package.publish'
export const MONTH = 30 * DAY

export interface NpmPlace extends Place {
  readonly npm: NpmStandIn
}
export interface PypiPlace extends Place {
  readonly pypi: PypiStandIn
}
export interface CratesPlace extends Place {
  readonly crates: CratesStandIn
}

export async function openNpm(isPublic: boolean): Promise<NpmPlace> {
  const clock = createVirtualClock(START - MONTH)
  const npm = await NpmStandIn.start(clock.now)
  npm.publish('tool', '0.9.0')
  return {
    ...{ clock, npm, plugin: registry, options: isPublic ? { public_npm_url: npm.url } : {} },
    connection: isPublic ? null : { provider: 'npm', options: { base_url: npm.url } },
    close: () => npm.close(),
  }
}

export async function openPypi(): Promise<PypiPlace> {
  const clock = createVirtualClock(START - MONTH)
  const pypi = await PypiStandIn.start(clock.now)
  pypi.upload('tool', '0.9.0')
  const close = () => pypi.close()
  return { clock, pypi, plugin: registry, options: { public_pypi_url: pypi.url }, connection: null, close }
}

/** @param options of the connection by which it is read; none, when left out */
/** One's own index, which has the simple API alone. */
export function openSimple(index: SimpleIndex): () => Promise<PypiPlace> {
  return async () => {
    const clock = createVirtualClock(START - MONTH)
    const pypi = await PypiStandIn.start(clock.now, index)
    pypi.upload('tool', '0.9.0', { kind: 'tar.gz' })
    const base_url = index.path === '/simple' ? pypi.url : pypi.url + index.path
    const connection = { provider: 'pypi', options: { base_url } }
    return { clock, pypi, plugin: registry, options: {}, connection, close: () => pypi.close() }
  }
}

export async function openCrates(options?: JsonObject): Promise<CratesPlace> {
  const clock = createVirtualClock(START - MONTH)
  const crates = await CratesStandIn.start(clock.now)
  crates.publish('tool', '0.9.0')
  return {
    ...{ clock, crates, plugin: registry, options: options ? {} : { public_cargo_url: crates.url } },
    connection: options ? { provider: 'cargo', options: { base_url: crates.url, ...options } } : null,
    close: () => crates.close(),
  }
}

type Given = readonly Happening[] | Partial<Play>
export interface PackageLife<P extends Place> extends Kind {
  readonly name: string
  readonly set: (place: P) => Given
}
export const row = <P extends Place>(about: Kind, name: string, set: (place: P) => Given): PackageLife<P> => ({
  ...{ ...about, name, set },
})

/** Of version 1.0.0 of `tool`, unless a life says otherwise. @param at how claims name the registry */
export function livesOf<P extends Place>(
  place: string,
  at: string,
  open: () => Promise<P>,
  lives: readonly PackageLife<P>[],
): LifeRow[] {
  return lives.map(({ set, ...life }) => {
    const play = (opened: P): Play => {
      const given = set(opened)
      const { params, ...more }: Partial<Play> = 'length' in given ? { happens: given as Happening[] } : given
      return { target: `${at}:tool`, params: { version: '1.0.0', ...params }, ...more }
    }
    return { ...life, place, action, set: () => settingOf(open(), play) }
  })
}

const lie = kind('plain lie', BLAME, 'never')
const elsewhere = kind('plain lie', BLAME, 'elsewhere')
const wrongClock = kind('clocks of clients', BLAME, 'never')
const spelt = kind('spellings')
const misspelt = kind('spellings', BLAME, 'never')
const removed = kind('removed versions')
const goneBefore = kind('removed versions', NOT_BLAMED)
const content = kind('kinds of content')
const untold = kind('kinds of content', NOT_VERIFIED, 'never')
const noLog = kind('places without a log', UNVERIFIABLE, 'never')

const OTHER = { integrity: integrityOf('something else') }
const FILES = { content: 'the files' }
const OF_FILES = { integrity: integrityOf(FILES.content) }

/** Told for each registry in the same words. @param publish version 1.0.0 of `tool` */
function common<P extends Place>(publish: (place: P) => unknown): PackageLife<P>[] {
  const published = (ms: number, more: Partial<Play>) => (place: P) => ({
    ...{ happens: [at(ms, 'agent', () => publish(place))], ...more },
  })
  return [
    row(lie, 'no such version', () => []),
    // A clock that is ahead makes no claim fresh, and blame then needs a log of the place's own.
    row({ ...wrongClock, right: NOT_VERIFIED }, 'no such version, by a clock nearly five minutes ahead', () => ({
      claimedMs: 5 * MINUTE - SECOND,
    })),
    row(wrongClock, 'no such version, by a clock nine seconds behind', () => ({ claimedMs: -8 * SECOND })),
    ...[11 * MINUTE, 3 * HOUR].map((behindMs) =>
      row(
        kind('clocks of clients', ['refused']),
        `by a clock ${behindMs / MINUTE} minutes behind, as the client measured`,
        published(0, { claimedMs: -behindMs, claimedAgoMs: SECOND }),
      ),
    ),
    row(
      kind('clocks of clients'),
      'by a clock nine minutes behind, as the client measured',
      published(0, { claimedMs: -9 * MINUTE, claimedAgoMs: SECOND }),
    ),
    row(kind('plain work'), 'published and claimed', published(0, {})),
    row(kind('plain work'), 'published four minutes after the claim', published(4 * MINUTE, { cameMs: 4 * MINUTE })),
    row(
      kind('late submissions'),
      'submitted eight minutes after it was published',
      published(0, { submittedMs: 8 * MINUTE }),
    ),
    row(
      kind('late submissions', NOT_BLAMED),
      'submitted an hour after it was published',
      published(0, { submittedMs: HOUR }),
    ),
    row(
      kind('plain work', ['late', ...UNVERIFIABLE], 'late'),
      'published twenty minutes after the claim',
      published(20 * MINUTE, {}),
    ),
  ]
}

/** So many times, another file than the one that is there. */
const otherFile: Fault = (_, response) => response.end(fileOf('something else'))

type NpmOptions = NpmPublication & { readonly version?: string }
export const toNpm = ({ npm }: NpmPlace, ms = 0, options: NpmOptions = {}) =>
  at(ms, 'agent', () => npm.publish('tool', options.version ?? '1.0.0', options))
const unpublish = ({ npm }: NpmPlace, ms: number) => at(ms, 'owner', () => npm.unpublish('tool', '1.0.0'))
const recorded = kind('late submissions', BLAME, 'never')

const npmLives: readonly PackageLife<NpmPlace>[] = [
  ...common<NpmPlace>(({ npm }) => npm.publish('tool', '1.0.0')),
  row(lie, 'no such package', () => ({ target: 'npm:nowhere-at-all' })),
  row(elsewhere, 'another digest', (place) => ({ params: OTHER, happens: [toNpm(place, -HOUR)] })),
  row(recorded, 'a version that never was, dated an hour back: the record keeps all that ever were', () => ({
    submittedMs: HOUR,
  })),
  row(recorded, 'a version that never was, first looked at after 20 s: the record keeps all that ever were', () => ({
    idleUntilMs: 20 * SECOND,
  })),
  row(misspelt, 'capital letters make another package', (place) => ({ target: 'npm:Tool', happens: [toNpm(place)] })),
  row(spelt, 'a scope', ({ npm }) => ({
    target: 'npm:@acme/tool',
    params: { version: 'v1.0.0' },
    happens: [at(0, 'agent', () => npm.publish('@acme/tool', '1.0.0'))],
  })),
  row(kind('plain work'), 'by a record whose clock is twelve minutes ahead', (place) => ({
    ...{ happens: [toNpm(place, 0, { at: START + 12 * MINUTE })], facts: { undated: true, published_at: undefined } },
  })),
  row(kind('plain work'), 'by a record whose clock is five seconds ahead', (place) => [
    toNpm(place, 0, { at: START + 5 * SECOND }),
  ]),
  row(kind('plain work'), 'deprecated', (place) => ({
    ...{ happens: [toNpm(place, 0, { deprecated: 'Use another one' })], facts: { deprecated: true } },
  })),
  row(removed, 'unpublished after the first look', (place) => [toNpm(place), unpublish(place, MINUTE)]),
  row(goneBefore, 'unpublished before the first look', (place) => ({
    ...{ happens: [toNpm(place), unpublish(place, 2 * SECOND)], submittedMs: 3 * SECOND },
  })),
  row(kind('removed versions', NOT_VERIFIED, 'never'), 'unpublished three days before the claim', (place) => [
    ...[toNpm(place, -4 * DAY), unpublish(place, -3 * DAY)],
  ]),
  row(goneBefore, 'all of the package unpublished before the first look', (place) => ({
    happens: [toNpm(place), at(2 * SECOND, 'owner', () => place.npm.unpublishAll('tool'))],
    submittedMs: 3 * SECOND,
  })),
  ...[1, 6].flatMap((mebibytes) => {
    const big = () => randomBytes(mebibytes * 768 * 1024).toString('base64')
    return [
      row<NpmPlace>(kind('large files'), `a file of ${mebibytes} MiB, by its digest`, (place) => {
        const content = big()
        return { params: { integrity: integrityOf(content) }, happens: [toNpm(place, 0, { content })] }
      }),
      row<NpmPlace>(
        kind('large files', BLAME, 'elsewhere'),
        `a file of ${mebibytes} MiB, by another digest`,
        (place) => ({ params: OTHER, happens: [toNpm(place, 0, { content: big() })] }),
      ),
    ]
  }),
  ...(
    [
      ['one odd answer gives another file', 0],
      ['absent at first, then one odd answer gives another file, then it is there', 2 * SECOND],
    ] as const
  ).map(([name, ms]) =>
    row<NpmPlace>(kind('reads that disagree'), name, (place) => {
      place.npm.faults.inject({ fault: otherFile, on: /\.tgz$/, times: 1 })
      return { params: OF_FILES, happens: [toNpm(place, ms, FILES)] }
    }),
  ),
  row(content, 'behind a page to sign in, for three minutes', (place) => {
    let isBehind = true
    place.npm.faults.inject({ fault: html(), during: () => isBehind })
    const open = at(3 * MINUTE, 'place', () => {
      isBehind = false
    })
    return [toNpm(place), open]
  }),
]

/** A registry of a company: it forgets, and has not all addresses of the public one. */
const ownNpmLives: readonly PackageLife<NpmPlace>[] = [
  ...[400, 401, 403, 500].flatMap((code) =>
    [true, false].map((isThere) =>
      row<NpmPlace>(isThere ? content : untold, `${code} for versions, ${isThere ? 'published' : 'a lie'}`, (place) => {
        place.npm.faults.inject({ fault: status(code), on: /\/tool\/1\.0\.0$/ })
        return isThere ? [toNpm(place)] : []
      }),
    ),
  ),
  ...[405, 404].flatMap((code) => {
    const refused = (about: Kind, name: string, set: (place: NpmPlace) => Given) =>
      row<NpmPlace>(about, `${code} for the document of a version, ${name}`, (place) => {
        place.npm.faults.inject({ fault: status(code), on: /\/tool\/1\.0\.0$/ })
        return set(place)
      })
    return [
      refused(content, 'published', (place) => [toNpm(place)]),
      refused(content, 'published, by its digest', (place) => ({
        ...{ params: OF_FILES, happens: [toNpm(place, 0, FILES)] },
      })),
      refused(untold, 'and it was not published', () => []),
    ]
  }),
  ...(
    [
      [kind('large files'), 'the address of the file names an inner host', OF_FILES, 0],
      [
        kind('large files', BLAME, 'elsewhere'),
        'the address of the file names an inner host, and the digest is another one',
        OTHER,
        -HOUR,
      ],
    ] as const
  ).map(([about, name, params, ms]) =>
    row<NpmPlace>(about, name, (place) => {
      const tarball = 'http://registry.internal:4873/tool/-/tool-1.0.0.tgz'
      return { params, happens: [toNpm(place, ms, { ...FILES, tarball })] }
    }),
  ),
  row({ ...noLog, right: NOT_VERIFIED }, 'no such version, claimed at once', () => []),
  row(noLog, 'no such version, dated a minute back', () => ({ claimedMs: -MINUTE })),
  row(noLog, 'no such version, first looked at after 20 s', () => ({ idleUntilMs: 20 * SECOND })),
  row(removed, 'forgotten after the first look', (place) => [
    ...[toNpm(place), at(MINUTE, 'owner', () => place.npm.forget('tool', '1.0.0'))],
  ]),
  row(kind('removed versions', UNVERIFIABLE), 'forgotten, and claimed a minute after it was published', (place) => ({
    happens: [toNpm(place), at(30 * SECOND, 'owner', () => place.npm.forget('tool', '1.0.0'))],
    submittedMs: MINUTE,
  })),
]

export const OTHER_SHA = { integrity: `sha256:${'a'.repeat(64)}` }
type PypiOptions = Parameters<PypiStandIn['upload']>[2]
export const toPypi = ({ pypi }: PypiPlace, ms = 0, options: PypiOptions = {}) =>
  at(ms, 'agent', () => pypi.upload('tool', '1.0.0', options))

const pypiLives: readonly PackageLife<PypiPlace>[] = [
  ...common<PypiPlace>(({ pypi }) => pypi.upload('tool', '1.0.0')),
  row(lie, 'no such package', () => ({ target: 'pypi:nowhere-at-all' })),
  row(elsewhere, 'another digest', (place) => ({ params: OTHER_SHA, happens: [toPypi(place, -HOUR)] })),
  ...['Foo.Bar_baz', 'foo-bar-baz', 'FOO__bar.Baz'].map((name) =>
    row<PypiPlace>(spelt, `claimed as ${name}`, ({ pypi }) => ({
      target: `pypi:${name}`,
      params: { version: '1.0' },
      happens: [at(0, 'agent', () => pypi.upload('Foo.Bar-Baz', '1.0.0'))],
    })),
  ),
  row(misspelt, 'another version under another spelling', ({ pypi }) => ({
    target: 'pypi:foo_bar',
    params: { version: '2.0' },
    happens: [at(-DAY, 'agent', () => pypi.upload('Foo.Bar', '1.0.0'))],
  })),
  row(removed, 'yanked before the first look', (place) => ({
    happens: [toPypi(place), at(2 * SECOND, 'bot', () => place.pypi.yank('tool', '1.0.0'))],
    submittedMs: 3 * SECOND,
  })),
  row(removed, 'deleted by its owner after the first look', (place) => [
    ...[toPypi(place), at(MINUTE, 'owner', () => place.pypi.remove('tool', '1.0.0'))],
  ]),
  row(kind('removed versions', UNVERIFIABLE), 'its files deleted before the first look', (place) => ({
    happens: [toPypi(place), at(2 * SECOND, 'owner', () => place.pypi.remove('tool', '1.0.0', { keepsRelease: true }))],
    submittedMs: 3 * SECOND,
  })),
  row(
    kind('removed versions', UNVERIFIABLE, 'unknowable'),
    'a version that may have been deleted: it is dated a minute back',
    () => ({ claimedMs: -MINUTE }),
  ),
  row(kind('plain work'), 'the wheel with the claimed digest comes five minutes after the source', (place) => ({
    params: { integrity: `sha256:${place.pypi.digestOf('tool', '1.0.0', 'py3-none-any.whl', 'wheel')}` },
    happens: [
      toPypi(place, 0, { kind: 'src.tar.gz', content: 'source' }),
      at(5 * MINUTE, 'ci', () => place.pypi.upload('tool', '1.0.0', { content: 'wheel' })),
    ],
    cameMs: 5 * MINUTE,
  })),
]

export const crate = (
  { crates }: CratesPlace,
  ms = 0,
  name = 'tool',
  line: Parameters<CratesStandIn['publish']>[2] = {},
) => at(ms, 'agent', () => crates.publish(name, '1.0.0', line))

const cratesLives: readonly PackageLife<CratesPlace>[] = [
  ...common<CratesPlace>(({ crates }) => crates.publish('tool', '1.0.0')),
  row(lie, 'no such package', () => ({ target: 'cargo:nowhere-at-all' })),
  row(elsewhere, 'another digest', (place) => ({ params: OTHER_SHA, happens: [crate(place, -HOUR)] })),
  ...(
    [
      ['serde-json', 'serde_json'],
      ['serde_json', 'serde-json'],
      ['Serde_JSON', 'serde_json'],
      ['a-b_c', 'a_b-c'],
    ] as const
  ).map(([claimed, published]) =>
    row<CratesPlace>(spelt, `claimed as ${claimed}, published as ${published}`, (place) => ({
      ...{ target: `cargo:${claimed}`, happens: [crate(place, 0, published)] },
    })),
  ),
  row(misspelt, 'another version, claimed under another spelling', ({ crates }) => ({
    target: 'cargo:serde-json',
    happens: [at(-DAY, 'agent', () => crates.publish('serde_json', '0.9.0'))],
  })),
  row(misspelt, 'a name of which there is no spelling', () => ({ target: 'cargo:no-such_crate' })),
  ...(
    [
      ['a line with a null for yanked', { yanked: null }],
      ['a line of a newer form', { v: 9 }],
    ] as const
  ).map(([what, line]) =>
    row<CratesPlace>(content, `${what} beside the claimed one`, (place) => [
      ...[at(-DAY, 'owner', () => place.crates.publish('tool', '0.9.5', line)), crate(place)],
    ]),
  ),
  row(content, 'lines that are no JSON beside the claimed one', (place) => [
    at(-DAY, 'owner', () => place.crates.write('tool', '<<<<<<< HEAD')),
    crate(place),
    at(SECOND, 'owner', () => place.crates.write('tool', '')),
  ]),
  row({ ...content, right: NOT_BLAMED }, 'the claimed line itself is of a newer form', (place) => [
    crate(place, 0, 'tool', { v: 9 }),
  ]),
  row(untold, 'a line that is no JSON, and the claimed version is not there', ({ crates }) => [
    at(-DAY, 'owner', () => crates.write('tool', '{"name":"tool","vers":')),
  ]),
  row(removed, 'yanked before the first look', (place) => [crate(place, 0, 'tool', { yanked: true })]),
  row(kind('late submissions', NOT_BLAMED), 'submitted an hour after, in an index without times', (place) => ({
    happens: [crate(place, 0, 'tool', { isTimed: false })],
    submittedMs: HOUR,
  })),
]

const DENIED = ['unverifiable/permission_denied']

/** An index of a company: it forgets, and two spellings may be two crates. */
const ownCratesLives: readonly PackageLife<CratesPlace>[] = [
  row(kind('plain work'), 'published and claimed', (place) => [crate(place)]),
  row(noLog, 'no such version, dated a minute back', () => ({ claimedMs: -MINUTE })),
  row(kind('places without a log', DENIED, 'unknowable'), 'a crate that these credentials do not see', () => ({
    target: 'cargo:hidden',
  })),
  row(kind('reads that disagree', DENIED), '451, which does not say that it never was', (place) => {
    place.crates.faults.inject({ fault: status(451), on: /tool$/ })
    return [crate(place)]
  }),
]

const wholeCratesLives: readonly PackageLife<CratesPlace>[] = [
  row(
    kind('spellings', ['unverifiable/claim_ambiguous'], 'unknowable'),
    'published with an underscore, and claimed with a hyphen',
    (place) => ({ target: 'cargo:serde-json', happens: [crate(place, -DAY, 'serde_json')] }),
  ),
]

const openOwnCrates = () => openCrates({})
const openWholeCrates = () => openCrates({ sees_all_packages: true })

export const registryLives: readonly LifeRow[] = [
  ...livesOf('npm', 'npm', () => openNpm(true), npmLives),
  ...livesOf('an own npm registry', 'npm', () => openNpm(false), ownNpmLives),
  ...livesOf('pypi', 'pypi', openPypi, pypiLives),
  ...livesOf('crates.io', 'cargo', openCrates, cratesLives),
  ...livesOf('an own cargo index', 'cargo', openOwnCrates, ownCratesLives),
  ...livesOf('an own cargo index, seen whole', 'cargo', openWholeCrates, wholeCratesLives),
]
