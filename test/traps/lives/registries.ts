/** Lives of packages: spellings, removed versions, large files, and registries that answer in ways of their own. */
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '@claimcheck/core/rules'
import { createVirtualClock } from '@claimcheck/core/testkit'
import registry from '@claimcheck/plugin-registry'
import { CratesStandIn } from '../../destinations/crates.ts'
import { type Fault, html, status } from '../../destinations/faults.ts'
import { NpmStandIn } from '../../destinations/npm-public.ts'
import { PypiStandIn } from '../../destinations/pypi.ts'
import { fileOf, integrityOf } from '../../destinations/verdaccio.ts'
import {
  type About,
  at,
  BLAME,
  DAY,
  HOUR,
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
  VERIFIED,
} from './life-row.ts'

const action = 'registry.package.publish'
const MONTH = 30 * DAY

interface NpmPlace extends Place {
  readonly npm: NpmStandIn
}
interface PypiPlace extends Place {
  readonly pypi: PypiStandIn
}
interface CratesPlace extends Place {
  readonly crates: CratesStandIn
}

async function openNpm(isPublic: boolean): Promise<NpmPlace> {
  const clock = createVirtualClock(START - MONTH)
  const npm = await NpmStandIn.start(clock.now)
  npm.publish('tool', '0.9.0')
  return {
    ...{ clock, npm, plugin: registry, options: isPublic ? { public_npm_url: npm.url } : {} },
    connection: isPublic ? null : { provider: 'npm', options: { base_url: npm.url } },
    close: () => npm.close(),
  }
}

async function openPypi(): Promise<PypiPlace> {
  const clock = createVirtualClock(START - MONTH)
  const pypi = await PypiStandIn.start(clock.now)
  pypi.upload('tool', '0.9.0')
  const close = () => pypi.close()
  return { clock, pypi, plugin: registry, options: { public_pypi_url: pypi.url }, connection: null, close }
}

/** @param options of the connection by which it is read; none, when left out */
async function openCrates(options?: JsonObject): Promise<CratesPlace> {
  const clock = createVirtualClock(START - MONTH)
  const crates = await CratesStandIn.start(clock.now)
  crates.publish('tool', '0.9.0')
  return {
    ...{ clock, crates, plugin: registry, options: options ? {} : { public_cargo_url: crates.url } },
    connection: options ? { provider: 'cargo', options: { base_url: crates.url, ...options } } : null,
    close: () => crates.close(),
  }
}

interface PackageLife<P extends Place> extends Pick<LifeRow, 'name' | 'about' | 'right' | 'forgets' | 'bars'> {
  readonly truth?: LifeRow['truth']
  readonly play: (place: P) => Play | Promise<Play>
}

function livesOf<P extends Place>(place: string, open: () => Promise<P>, lives: readonly PackageLife<P>[]): LifeRow[] {
  return lives.map(({ truth = 'in_time', play, ...life }) => ({
    ...{ ...life, truth, place, action },
    set: () => settingOf(open(), play),
  }))
}

const lie = { truth: 'never', about: 'plain lie', right: BLAME } as const
const work = (about: About, right: LifeRow['right'] = VERIFIED) => ({ about, right })
const OTHER = integrityOf('something else')

function ofTool(kind: string, happens: Play['happens'] = [], more: Partial<Play> = {}, params: object = {}): Play {
  return { target: `${kind}:tool`, params: { version: '1.0.0', ...params }, happens, ...more }
}

/** Told for each registry in the same words. @param publish version 1.0.0 of `tool` */
function common<P extends Place>(kind: string, publish: (place: P) => unknown): PackageLife<P>[] {
  const published = (place: P, ms = 0) => at(ms, 'agent', () => publish(place))
  return [
    { ...lie, name: 'no such version', play: () => ofTool(kind) },
    {
      ...lie,
      name: 'no such package',
      play: () => ({ target: `${kind}:nowhere-at-all`, params: { version: '1.0.0' } }),
    },
    {
      ...lie,
      ...work('clocks of clients', BLAME),
      name: 'no such version, by a clock nearly five minutes ahead',
      play: () => ofTool(kind, [], { claimedMs: 5 * MINUTE - SECOND }),
    },
    {
      ...lie,
      ...work('clocks of clients', BLAME),
      name: 'no such version, by a clock nine seconds behind',
      play: () => ofTool(kind, [], { claimedMs: -8 * SECOND }),
    },
    { ...work('plain work'), name: 'published and claimed', play: (place) => ofTool(kind, [published(place)]) },
    {
      ...work('plain work'),
      name: 'published four minutes after the claim',
      play: (place) => ofTool(kind, [published(place, 4 * MINUTE)], { cameMs: 4 * MINUTE }),
    },
    {
      ...work('late submissions'),
      name: 'submitted eight minutes after it was published',
      play: (place) => ofTool(kind, [published(place)], { submittedMs: 8 * MINUTE }),
    },
    {
      ...work('late submissions', NOT_BLAMED),
      name: 'submitted an hour after it was published',
      play: (place) => ofTool(kind, [published(place)], { submittedMs: HOUR }),
    },
    {
      ...work('plain work', ['late', ...UNVERIFIABLE]),
      truth: 'late',
      name: 'published twenty minutes after the claim',
      play: (place) => ofTool(kind, [published(place, 20 * MINUTE)]),
    },
  ]
}

/** So many times, another file than the one that is there. */
const otherFile: Fault = (_, response) => response.end(fileOf('something else'))

const npmLives: readonly PackageLife<NpmPlace>[] = [
  ...common<NpmPlace>('npm', ({ npm }) => npm.publish('tool', '1.0.0')),
  {
    ...lie,
    truth: 'elsewhere',
    name: 'another digest',
    play: ({ npm }) =>
      ofTool('npm', [at(-HOUR, 'agent', () => npm.publish('tool', '1.0.0'))], {}, { integrity: OTHER }),
  },
  {
    ...work('late submissions', BLAME),
    truth: 'never',
    name: 'a version that never was, dated an hour back: the record keeps all that ever were',
    play: () => ofTool('npm', [], { submittedMs: HOUR }),
  },
  {
    ...work('late submissions', BLAME),
    truth: 'never',
    name: 'a version that never was, first looked at after 20 s: the record keeps all that ever were',
    play: () => ofTool('npm', [], { idleUntilMs: 20 * SECOND }),
  },
  {
    ...work('spellings', BLAME),
    truth: 'never',
    name: 'capital letters make another package',
    play: ({ npm }) => ({
      target: 'npm:Tool',
      params: { version: '1.0.0' },
      happens: [at(0, 'agent', () => npm.publish('tool', '1.0.0'))],
    }),
  },
  {
    ...work('spellings'),
    name: 'a scope',
    play: ({ npm }) => ({
      target: 'npm:@acme/tool',
      params: { version: 'v1.0.0' },
      happens: [at(0, 'agent', () => npm.publish('@acme/tool', '1.0.0'))],
    }),
  },
  {
    ...work('plain work'),
    name: 'deprecated',
    play: ({ npm }) => ({
      ...ofTool('npm', [at(0, 'agent', () => npm.publish('tool', '1.0.0', { deprecated: 'Use another one' }))]),
      facts: { deprecated: true },
    }),
  },
  {
    ...work('removed versions'),
    name: 'unpublished after the first look',
    play: ({ npm }) =>
      ofTool('npm', [
        at(0, 'agent', () => npm.publish('tool', '1.0.0')),
        at(MINUTE, 'owner', () => npm.unpublish('tool', '1.0.0')),
      ]),
  },
  {
    ...work('removed versions', NOT_BLAMED),
    name: 'unpublished before the first look',
    play: ({ npm }) =>
      ofTool(
        'npm',
        [
          at(0, 'agent', () => npm.publish('tool', '1.0.0')),
          at(2 * SECOND, 'bot', () => npm.unpublish('tool', '1.0.0')),
        ],
        { submittedMs: 3 * SECOND },
      ),
  },
  {
    ...work('removed versions', NOT_VERIFIED),
    truth: 'never',
    name: 'unpublished three days before the claim',
    play: ({ npm }) =>
      ofTool('npm', [
        at(-4 * DAY, 'owner', () => npm.publish('tool', '1.0.0')),
        at(-3 * DAY, 'owner', () => npm.unpublish('tool', '1.0.0')),
      ]),
  },
  {
    ...work('removed versions', NOT_BLAMED),
    name: 'all of the package unpublished before the first look',
    play: ({ npm }) =>
      ofTool(
        'npm',
        [at(0, 'agent', () => npm.publish('tool', '1.0.0')), at(2 * SECOND, 'owner', () => npm.unpublishAll('tool'))],
        { submittedMs: 3 * SECOND },
      ),
  },
  ...[1, 6].flatMap((mebibytes): PackageLife<NpmPlace>[] => {
    const big = () => randomBytes(mebibytes * 768 * 1024).toString('base64')
    return [
      {
        ...work('large files'),
        name: `a file of ${mebibytes} MiB, by its digest`,
        play({ npm }) {
          const content = big()
          const integrity = integrityOf(content)
          return ofTool('npm', [at(0, 'agent', () => npm.publish('tool', '1.0.0', { content }))], {}, { integrity })
        },
      },
      {
        ...work('large files', BLAME),
        truth: 'elsewhere',
        name: `a file of ${mebibytes} MiB, by another digest`,
        play({ npm }) {
          const content = big()
          const happens = [at(0, 'agent', () => npm.publish('tool', '1.0.0', { content }))]
          return ofTool('npm', happens, {}, { integrity: OTHER })
        },
      },
    ]
  }),
  {
    ...work('reads that disagree'),
    name: 'one odd answer gives another file',
    play({ npm }) {
      npm.faults.inject({ fault: otherFile, on: /\.tgz$/, times: 1 })
      const integrity = integrityOf('the files')
      const happens = [at(0, 'agent', () => npm.publish('tool', '1.0.0', { content: 'the files' }))]
      return ofTool('npm', happens, {}, { integrity })
    },
  },
  {
    ...work('reads that disagree'),
    name: 'absent at first, then one odd answer gives another file, then it is there',
    play({ npm }) {
      npm.faults.inject({ fault: otherFile, on: /\.tgz$/, times: 1 })
      const integrity = integrityOf('the files')
      const happens = [at(2 * SECOND, 'agent', () => npm.publish('tool', '1.0.0', { content: 'the files' }))]
      return ofTool('npm', happens, {}, { integrity })
    },
  },
  {
    ...work('kinds of content'),
    name: 'behind a page to sign in, for three minutes',
    play({ npm }) {
      let isBehind = true
      npm.faults.inject({ fault: html(), during: () => isBehind })
      return ofTool('npm', [
        at(0, 'agent', () => npm.publish('tool', '1.0.0')),
        at(3 * MINUTE, 'place', () => {
          isBehind = false
        }),
      ])
    },
  },
]

const VERSION = /\/tool\/1\.0\.0$/

/** A registry of a company: it forgets, and has not all addresses of the public one. */
const ownNpmLives: readonly PackageLife<NpmPlace>[] = [
  ...[405, 404].flatMap((code): PackageLife<NpmPlace>[] => [
    {
      ...work('kinds of content'),
      name: `${code} for the document of a version, published`,
      play({ npm }) {
        npm.faults.inject({ fault: status(code), on: VERSION })
        return ofTool('npm', [at(0, 'agent', () => npm.publish('tool', '1.0.0'))])
      },
    },
    {
      ...work('kinds of content'),
      name: `${code} for the document of a version, published, by its digest`,
      play({ npm }) {
        npm.faults.inject({ fault: status(code), on: VERSION })
        const integrity = integrityOf('the files')
        return ofTool(
          'npm',
          [at(0, 'agent', () => npm.publish('tool', '1.0.0', { content: 'the files' }))],
          {},
          { integrity },
        )
      },
    },
    {
      ...work('kinds of content', NOT_VERIFIED),
      truth: 'never',
      name: `${code} for the document of a version, and it was not published`,
      play({ npm }) {
        npm.faults.inject({ fault: status(code), on: VERSION })
        return ofTool('npm')
      },
    },
  ]),
  {
    ...work('large files'),
    name: 'the address of the file names an inner host',
    play({ npm }) {
      const tarball = 'http://registry.internal:4873/tool/-/tool-1.0.0.tgz'
      const integrity = integrityOf('the files')
      return ofTool(
        'npm',
        [at(0, 'agent', () => npm.publish('tool', '1.0.0', { content: 'the files', tarball }))],
        {},
        { integrity },
      )
    },
  },
  {
    ...work('large files', BLAME),
    truth: 'elsewhere',
    name: 'the address of the file names an inner host, and the digest is another one',
    play({ npm }) {
      const tarball = 'http://registry.internal:4873/tool/-/tool-1.0.0.tgz'
      return ofTool(
        'npm',
        [at(-HOUR, 'agent', () => npm.publish('tool', '1.0.0', { tarball }))],
        {},
        { integrity: OTHER },
      )
    },
  },
  {
    ...work('places without a log', NOT_VERIFIED),
    truth: 'never',
    name: 'no such version, claimed at once',
    play: () => ofTool('npm'),
  },
  {
    ...work('places without a log', UNVERIFIABLE),
    truth: 'never',
    name: 'no such version, dated a minute back',
    play: () => ofTool('npm', [], { claimedMs: -MINUTE }),
  },
  {
    ...work('places without a log', UNVERIFIABLE),
    truth: 'never',
    name: 'no such version, first looked at after 20 s',
    play: () => ofTool('npm', [], { idleUntilMs: 20 * SECOND }),
  },
  {
    ...work('removed versions'),
    name: 'forgotten after the first look',
    play: ({ npm }) =>
      ofTool('npm', [
        at(0, 'agent', () => npm.publish('tool', '1.0.0')),
        at(MINUTE, 'owner', () => npm.forget('tool', '1.0.0')),
      ]),
  },
  {
    ...work('removed versions', UNVERIFIABLE),
    name: 'forgotten, and claimed a minute after it was published',
    play: ({ npm }) =>
      ofTool(
        'npm',
        [
          at(0, 'agent', () => npm.publish('tool', '1.0.0')),
          at(30 * SECOND, 'owner', () => npm.forget('tool', '1.0.0')),
        ],
        { submittedMs: MINUTE },
      ),
  },
]

const pypiLives: readonly PackageLife<PypiPlace>[] = [
  ...common<PypiPlace>('pypi', ({ pypi }) => pypi.upload('tool', '1.0.0')),
  {
    ...lie,
    truth: 'elsewhere',
    name: 'another digest',
    play: ({ pypi }) =>
      ofTool(
        'pypi',
        [at(-HOUR, 'agent', () => pypi.upload('tool', '1.0.0'))],
        {},
        { integrity: `sha256:${'a'.repeat(64)}` },
      ),
  },
  ...['Foo.Bar_baz', 'foo-bar-baz', 'FOO__bar.Baz'].map(
    (name): PackageLife<PypiPlace> => ({
      ...work('spellings'),
      name: `claimed as ${name}`,
      play: ({ pypi }) => ({
        target: `pypi:${name}`,
        params: { version: '1.0' },
        happens: [at(0, 'agent', () => pypi.upload('Foo.Bar-Baz', '1.0.0'))],
      }),
    }),
  ),
  {
    ...work('spellings', BLAME),
    truth: 'never',
    name: 'another version under another spelling',
    play: ({ pypi }) => ({
      target: 'pypi:foo_bar',
      params: { version: '2.0' },
      happens: [at(-DAY, 'agent', () => pypi.upload('Foo.Bar', '1.0.0'))],
    }),
  },
  {
    ...work('removed versions'),
    name: 'yanked before the first look',
    play: ({ pypi }) =>
      ofTool(
        'pypi',
        [at(0, 'agent', () => pypi.upload('tool', '1.0.0')), at(2 * SECOND, 'bot', () => pypi.yank('tool', '1.0.0'))],
        { submittedMs: 3 * SECOND },
      ),
  },
  {
    ...work('removed versions'),
    name: 'deleted by its owner after the first look',
    play: ({ pypi }) =>
      ofTool('pypi', [
        at(0, 'agent', () => pypi.upload('tool', '1.0.0')),
        at(MINUTE, 'owner', () => pypi.remove('tool', '1.0.0')),
      ]),
  },
  {
    ...work('removed versions', UNVERIFIABLE),
    name: 'its files deleted before the first look',
    play: ({ pypi }) =>
      ofTool(
        'pypi',
        [
          at(0, 'agent', () => pypi.upload('tool', '1.0.0')),
          at(2 * SECOND, 'owner', () => pypi.remove('tool', '1.0.0', { keepsRelease: true })),
        ],
        { submittedMs: 3 * SECOND },
      ),
  },
  {
    ...work('removed versions', UNVERIFIABLE),
    truth: 'unknowable',
    name: 'a version that may have been deleted: it is dated a minute back',
    play: () => ofTool('pypi', [], { claimedMs: -MINUTE }),
  },
  {
    ...work('plain work'),
    name: 'the wheel with the claimed digest comes five minutes after the source',
    play({ pypi }) {
      const integrity = `sha256:${pypi.digestOf('tool', '1.0.0', 'py3-none-any.whl', 'wheel')}`
      const happens = [
        at(0, 'agent', () => pypi.upload('tool', '1.0.0', { kind: 'src.tar.gz', content: 'source' })),
        at(5 * MINUTE, 'ci', () => pypi.upload('tool', '1.0.0', { content: 'wheel' })),
      ]
      return ofTool('pypi', happens, { cameMs: 5 * MINUTE }, { integrity })
    },
  },
]

function ofCrate(name: string, happens: Play['happens'], params: object = {}): Play {
  return { target: `cargo:${name}`, params: { version: '1.0.0', ...params }, happens: happens ?? [] }
}

const cratesLives: readonly PackageLife<CratesPlace>[] = [
  ...common<CratesPlace>('cargo', ({ crates }) => crates.publish('tool', '1.0.0')),
  {
    ...lie,
    truth: 'elsewhere',
    name: 'another digest',
    play: ({ crates }) =>
      ofCrate('tool', [at(-HOUR, 'agent', () => crates.publish('tool', '1.0.0'))], {
        integrity: `sha256:${'a'.repeat(64)}`,
      }),
  },
  ...[
    ['serde-json', 'serde_json'],
    ['serde_json', 'serde-json'],
    ['Serde_JSON', 'serde_json'],
    ['a-b_c', 'a_b-c'],
  ].map(
    ([claimed, published]): PackageLife<CratesPlace> => ({
      ...work('spellings'),
      name: `claimed as ${claimed}, published as ${published}`,
      play: ({ crates }) => ofCrate(claimed!, [at(0, 'agent', () => crates.publish(published!, '1.0.0'))]),
    }),
  ),
  {
    ...work('spellings', BLAME),
    truth: 'never',
    name: 'another version, claimed under another spelling',
    play: ({ crates }) => ofCrate('serde-json', [at(-DAY, 'agent', () => crates.publish('serde_json', '0.9.0'))]),
  },
  {
    ...work('spellings', BLAME),
    truth: 'never',
    name: 'a name of which there is no spelling',
    play: () => ofCrate('no-such_crate', []),
  },
  ...(
    [
      ['a line with a null for yanked', { yanked: null }],
      ['a line of a newer form', { v: 9 }],
    ] as const
  ).map(
    ([what, line]): PackageLife<CratesPlace> => ({
      ...work('kinds of content'),
      name: `${what} beside the claimed one`,
      play: ({ crates }) =>
        ofCrate('tool', [
          at(-DAY, 'owner', () => crates.publish('tool', '0.9.5', line)),
          at(0, 'agent', () => crates.publish('tool', '1.0.0')),
        ]),
    }),
  ),
  {
    ...work('kinds of content'),
    name: 'lines that are no JSON beside the claimed one',
    play: ({ crates }) =>
      ofCrate('tool', [
        at(-DAY, 'owner', () => crates.write('tool', '<<<<<<< HEAD')),
        at(0, 'agent', () => crates.publish('tool', '1.0.0')),
        at(SECOND, 'owner', () => crates.write('tool', '')),
      ]),
  },
  {
    ...work('kinds of content', NOT_BLAMED),
    name: 'the claimed line itself is of a newer form',
    play: ({ crates }) => ofCrate('tool', [at(0, 'agent', () => crates.publish('tool', '1.0.0', { v: 9 }))]),
  },
  {
    ...work('kinds of content', NOT_VERIFIED),
    truth: 'never',
    name: 'a line that is no JSON, and the claimed version is not there',
    play: ({ crates }) => ofCrate('tool', [at(-DAY, 'owner', () => crates.write('tool', '{"name":"tool","vers":'))]),
  },
  {
    ...work('removed versions'),
    name: 'yanked before the first look',
    play: ({ crates }) => ofCrate('tool', [at(0, 'agent', () => crates.publish('tool', '1.0.0', { yanked: true }))]),
  },
  {
    ...work('late submissions', NOT_BLAMED),
    name: 'submitted an hour after, in an index without times',
    play: ({ crates }) => ({
      ...ofCrate('tool', [at(0, 'agent', () => crates.publish('tool', '1.0.0', { isTimed: false }))]),
      submittedMs: HOUR,
    }),
  },
]

/** An index of a company: it forgets, and two spellings may be two crates. */
const ownCratesLives: readonly PackageLife<CratesPlace>[] = [
  {
    ...work('plain work'),
    name: 'published and claimed',
    play: ({ crates }) => ofCrate('tool', [at(0, 'agent', () => crates.publish('tool', '1.0.0'))]),
  },
  {
    ...work('places without a log', UNVERIFIABLE),
    truth: 'never',
    name: 'no such version, dated a minute back',
    play: () => ({ ...ofCrate('tool', []), claimedMs: -MINUTE }),
  },
  {
    ...work('places without a log', ['unverifiable/permission_denied']),
    truth: 'unknowable',
    name: 'a crate that these credentials do not see',
    play: () => ofCrate('hidden', []),
  },
  {
    ...work('reads that disagree', ['unverifiable/permission_denied']),
    name: '451, which does not say that it never was',
    play({ crates }) {
      crates.faults.inject({ fault: status(451), on: /tool$/ })
      return ofCrate('tool', [at(0, 'agent', () => crates.publish('tool', '1.0.0'))])
    },
  },
]

const wholeCratesLives: readonly PackageLife<CratesPlace>[] = [
  {
    ...work('spellings', ['unverifiable/claim_ambiguous']),
    truth: 'unknowable',
    name: 'published with an underscore, and claimed with a hyphen',
    play: ({ crates }) => ofCrate('serde-json', [at(-DAY, 'agent', () => crates.publish('serde_json', '1.0.0'))]),
  },
]

export const registryLives: readonly LifeRow[] = [
  ...livesOf('npm', () => openNpm(true), npmLives),
  ...livesOf('an own npm registry', () => openNpm(false), ownNpmLives),
  ...livesOf('pypi', openPypi, pypiLives),
  ...livesOf('crates.io', openCrates, cratesLives),
  ...livesOf('an own cargo index', () => openCrates({}), ownCratesLives),
  ...livesOf('an own cargo index, seen whole', () => openCrates({ sees_all_packages: true }), wholeCratesLives),
]
