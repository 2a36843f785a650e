/** Lives that hang on how a place answers: in pages, from replicas, by redirects, with what is no answer. */
import { html, status, truncatedJson } from '../../destinations/faults.ts'
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  checking,
  checkingAll,
  closing,
  FORGEJO,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  livesAt,
  merging,
  opening,
  pushing,
  releasing,
  type Scene,
  TAG,
} from './forges.ts'
import {
  at,
  BLAME,
  DAY,
  HOUR,
  MINUTE,
  NOT_BLAMED,
  NOT_VERIFIED,
  type Play,
  SECOND,
  UNVERIFIABLE,
  VERIFIED,
} from './life-row.ts'

const isNamed =
  (...names: string[]) =>
  ({ name }: Forge) =>
    names.includes(name)

const manyRuns = ({ repository, base: sha }: Scene, outcome: 'success' | 'failure') => [
  at(-2 * HOUR, 'ci', () => {
    const suite = repository.checks.suite({ sha, workflow: '.github/workflows/ci.yml' })
    repository.checks.run({ suite, name: 'build', outcome })
    for (let i = 0; i < 110; i++) repository.checks.run({ suite, name: `shard ${i}` })
  }),
]

const pages: readonly ForgeLife[] = [
  checking('the claimed check is behind 110 others', VERIFIED, (scene) => manyRuns(scene, 'success'), {
    where: isNamed('github', 'gitlab', 'forgejo'),
  }),
  checkingAll('none named, and the red one is behind 110 others', BLAME, (scene) => manyRuns(scene, 'failure'), {
    ...{ where: isNamed('github', 'gitlab', 'bitbucket'), truth: 'elsewhere' },
  }),
  checking(
    "the named account's status is behind 105 of others",
    VERIFIED,
    ({ repository: { checks }, base: sha }) => ({
      params: { checks: [{ name: 'unit', by: 'account:jenkins' }] },
      happens: [
        at(-HOUR, 'ci', () => {
          checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' })
          for (let i = 0; i < 105; i++) checks.post({ sha, context: `other ${i}`, state: 'success', by: 'bot' })
        }),
      ],
    }),
    { where: isNamed('github', 'gitlab', 'forgejo') },
  ),
  releasing(
    'a file that the host renamed',
    VERIFIED,
    (scene) => ({
      params: { assets: ['My App Setup (x64).exe'] },
      happens: [scene.publish(-MINUTE, 'My.App.Setup.x64.exe')],
    }),
    { where: isNamed('github') },
  ),
  releasing('a release with 130 files, of which the last one is claimed', VERIFIED, (scene) => ({
    params: { assets: ['file-129.tar.gz'] },
    happens: [
      scene.publish(-MINUTE),
      at(-MINUTE, 'agent', () => {
        for (let i = 0; i < 130; i++) scene.repository.releases.addAsset(scene.release(), `file-${i}.tar.gz`)
      }),
    ],
  })),
  pushing('a branch among sixty whose names have its name in them', VERIFIED, async ({ repository, head }) => {
    for (let i = 0; i < 60; i++) await repository.push(`a-work-${i}`, head)
    await repository.push('work', head)
    return { params: { sha: head, branch: 'work' } }
  }),
]

/** Honest work of each kind, whatever comes before the answers. */
const works: readonly ForgeLife[] = [
  opening('a pull request', VERIFIED, ({ openPull, head }) => ({
    ...{ params: { base: 'main', head_sha: head }, happens: [openPull(0)] },
  })),
  merging('a merge', VERIFIED, ({ openPull, mergePull }) => [openPull(), mergePull()]),
  closing('an issue', VERIFIED, ({ openIssue, closeIssue }) => [openIssue(-DAY), closeIssue()]),
  releasing('a release', VERIFIED, ({ publish }) => [publish()]),
  pushing('a push', VERIFIED, ({ push }) => [push(0)]),
  checking('a green check', VERIFIED, ({ repository, base: sha }) => [
    at(0, 'ci', () => repository.checks.run({ sha, name: 'build' })),
  ]),
]

/** Each of these lives, with something more. */
function all(lives: readonly ForgeLife[], name: string, change: (place: ForgePlace, play: Play) => Play): ForgeLife[] {
  return lives.map((life) => ({
    ...life,
    name: `${life.name}, ${name}`,
    play: async (place) => change(place, await life.play(place)),
  }))
}

const also = (play: Play, ...happens: NonNullable<Play['happens']>): Play => ({
  ...play,
  happens: [...(play.happens ?? []), ...happens],
})

/** Of releases a replica tells, and of tags the repository itself. */
const BEHIND = { answering: { replicaLagMs: 45 * SECOND } }
const releasesOfReplicas: readonly ForgeLife[] = [
  releasing(
    'a release that a bot deletes after twenty seconds, and its tag stays',
    NOT_BLAMED,
    ({ repository, publish, release }) => [
      publish(),
      at(20 * SECOND, 'bot', () => repository.releases.delete(release())),
    ],
    BEHIND,
  ),
  releasing(
    'a release of another commit, whose tag a bot moves after twenty seconds',
    NOT_BLAMED,
    ({ repository, base, head, publish }) => ({
      params: { commit: base },
      happens: [
        at(-SECOND, 'agent', () => repository.tag(TAG, base)),
        publish(),
        at(20 * SECOND, 'bot', () => repository.tag(TAG, head)),
      ],
    }),
    BEHIND,
  ),
  releasing('no such tag', BLAME, () => ({}), { truth: 'never', ...BEHIND }),
]

const replicas: readonly ForgeLife[] = [
  ...all(works, 'read from a replica that is 45 s behind', ({ repository }, play) => {
    repository.answering.replicaLagMs = 45 * SECOND
    return play
  }),
  ...all(works, 'read from a replica that has stood still for four minutes', ({ repository, clock }, play) => {
    const freeze = (frozenAt: number | undefined) => Object.assign(repository.answering, { frozenAt })
    return also(
      play,
      at(-SECOND, 'place', () => freeze(clock.now())),
      at(4 * MINUTE, 'place', () => freeze(undefined)),
    )
  }),
]

/** The answers come by turns from the main server and from one that is half an hour behind. */
const disagreeing = all(
  works,
  'every second answer from a server that is half an hour behind',
  ({ repository: { answering } }, play) => {
    const turns = Array.from({ length: 250 }, (_, index) =>
      at(index * 4 * SECOND + 500, 'place', () => {
        answering.replicaLagMs = index % 2 === 0 ? 30 * MINUTE : 0
      }),
    )
    return also(play, ...turns)
  },
)

const oddOnce = closing(
  'an open issue, and one odd answer at the deadline says that there is none',
  // As far as that tells, it may have been closed and deleted.
  NOT_VERIFIED,
  ({ standIn, openIssue }) => {
    let isOdd = false
    standIn.faults.inject({ fault: status(404), on: /issues\/1$/, times: 1, during: () => isOdd })
    const odd = at(15 * MINUTE, 'place', () => {
      isOdd = true
    })
    return [openIssue(-DAY), odd]
  },
  { truth: 'never' },
)

const renamed = (ms: number, slug: string) => (place: ForgePlace, play: Play) =>
  also(
    play,
    at(ms, 'owner', () => place.standIn.rename(place.repository, slug)),
  )

const redirects: readonly ForgeLife[] = [
  ...all(works, 'and its owner renames the repository after the first look', renamed(10 * SECOND, 'acme/renamed')),
  ...all(works, 'and its owner renames the repository before it', renamed(500, 'acme/renamed')),
  ...all(
    works.map((work) => ({ ...work, right: NOT_BLAMED })),
    'and the repository goes to another owner before the first look',
    renamed(500, 'other/app'),
  ),
]

const content: readonly ForgeLife[] = [
  ...all(works, 'behind a page to sign in, for three minutes', ({ standIn }, play) => {
    let isBehind = true
    standIn.faults.inject({ fault: html(), during: () => isBehind })
    const open = at(3 * MINUTE, 'place', () => {
      isBehind = false
    })
    return also(play, open)
  }),
  ...(
    [
      ['an open issue, behind a page to sign in for ever', { fault: html() }],
      ['an open issue, in answers that break off for ever', { fault: truncatedJson(), on: /issues\/1/ }],
    ] as const
  ).map(([name, injection]) =>
    closing(
      name,
      UNVERIFIABLE,
      ({ standIn, openIssue }) => {
        standIn.faults.inject(injection)
        return [openIssue(-DAY)]
      },
      { truth: 'never' },
    ),
  ),
]

const honest = { truth: 'in_time' } as const
const FEW = [GITHUB, GITLAB, GITEA, BITBUCKET]

export const answerLives = [
  ...livesAt([GITHUB, GITLAB, FORGEJO, BITBUCKET, BITBUCKET_SERVER], { about: 'pages', ...honest }, pages),
  ...livesAt([GITHUB, GITLAB, FORGEJO], { about: 'replicas', ...honest }, replicas),
  ...livesAt([GITLAB], { about: 'replicas', ...honest }, releasesOfReplicas),
  ...livesAt([GITHUB, GITEA], { about: 'reads that disagree', ...honest }, [...disagreeing, oddOnce]),
  ...livesAt(FEW, { about: 'redirects', ...honest }, redirects),
  ...livesAt([GITHUB, GITLAB], { about: 'kinds of content', ...honest }, content),
]
