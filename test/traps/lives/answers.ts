/** Lives that hang on how a place answers: in pages, from replicas, by redirects, with what is no answer. */
import { html, status, truncatedJson } from '../../destinations/faults.ts'
import {
  BITBUCKET,
  BITBUCKET_SERVER,
  FORGEJO,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITHUB,
  GITLAB,
  hasIssues,
  hasReleases,
  livesAt,
  ownBuild,
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

const OPEN = 'codehost.pull_request.open'
const MERGE = 'codehost.pull_request.merge'
const ISSUE = 'codehost.issue.close'
const PUSH = 'codehost.commit.push'
const RELEASE = 'codehost.release.publish'
const CHECKS = 'codehost.checks.pass'
const TAG = 'v1.0.0'

const isNamed =
  (...names: string[]) =>
  ({ name }: Forge) =>
    names.includes(name)
const hasRuns = ({ runBy }: Forge) => runBy !== undefined

function manyRuns(place: ForgePlace, count: number, build?: 'success' | 'failure'): NonNullable<Play['happens']> {
  const { repository, base: sha } = place
  return [
    at(-2 * HOUR, 'ci', () => {
      const suite = repository.checks.suite({ sha, workflow: '.github/workflows/ci.yml' })
      if (build) repository.checks.run({ suite, name: 'build', outcome: build })
      for (let i = 0; i < count; i++) repository.checks.run({ suite, name: `shard ${i}` })
    }),
  ]
}

const pages: readonly ForgeLife[] = [
  ...[110].flatMap((count): ForgeLife[] => [
    {
      name: `the claimed check is behind ${count} others`,
      action: CHECKS,
      where: isNamed('github', 'gitlab', 'forgejo'),
      right: VERIFIED,
      play(place) {
        // Forgejo names its statuses by the file that the suite is of.
        const checks =
          place.forge === FORGEJO ? [{ name: 'ci.yml / build (push)', by: 'forgejo-actions' }] : ownBuild(place)
        return { target: place.slug, params: { sha: place.base, checks }, happens: manyRuns(place, count, 'success') }
      },
    },
    {
      name: `none named, and the red one is behind ${count} others`,
      action: CHECKS,
      where: isNamed('github', 'gitlab', 'bitbucket'),
      truth: 'elsewhere',
      right: BLAME,
      play: (place) => ({
        target: place.slug,
        params: { sha: place.base },
        happens: manyRuns(place, count, 'failure'),
      }),
    },
  ]),
  {
    name: "the named account's status is behind 105 of others",
    action: CHECKS,
    where: isNamed('github', 'gitlab', 'forgejo'),
    right: VERIFIED,
    play: ({ slug, repository, base: sha }) => ({
      target: slug,
      params: { sha, checks: [{ name: 'unit', by: 'account:jenkins' }] },
      happens: [
        at(-HOUR, 'ci', () => {
          repository.checks.post({ sha, context: 'unit', state: 'success', by: 'jenkins' })
          for (let i = 0; i < 105; i++)
            repository.checks.post({ sha, context: `other ${i}`, state: 'success', by: 'bot' })
        }),
      ],
    }),
  },
  {
    name: 'a release with 130 files, of which the last one is claimed',
    action: RELEASE,
    where: hasReleases,
    right: VERIFIED,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { tag: TAG, assets: ['file-129.tar.gz'] },
      happens: [
        at(-MINUTE, 'agent', async () => {
          const id = await repository.releases.create({ tag: TAG })
          for (let i = 0; i < 130; i++) repository.releases.addAsset(id, `file-${i}.tar.gz`)
        }),
      ],
    }),
  },
  {
    name: 'a branch among sixty whose names have its name in them',
    action: PUSH,
    right: VERIFIED,
    async play({ slug, repository, head }) {
      for (let i = 0; i < 60; i++) await repository.push(`a-work-${i}`, head)
      await repository.push('work', head)
      return { target: slug, params: { sha: head, branch: 'work' } }
    },
  },
]

/** Honest work of each kind, whatever comes before the answers. */
const works: readonly ForgeLife[] = [
  {
    name: 'a pull request',
    action: OPEN,
    right: VERIFIED,
    play: ({ slug, repository, head }) => ({
      target: slug,
      params: { number: 1, base: 'main', head_sha: head },
      happens: [at(0, 'agent', () => repository.pullRequests.open({ head: 'topic' }))],
    }),
  },
  {
    name: 'a merge',
    action: MERGE,
    right: VERIFIED,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 1 },
      happens: [
        at(-HOUR, 'agent', () => repository.pullRequests.open({ head: 'topic' })),
        at(0, 'agent', () => repository.pullRequests.merge(1)),
      ],
    }),
  },
  {
    name: 'an issue',
    action: ISSUE,
    where: hasIssues,
    right: VERIFIED,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { number: 1 },
      happens: [at(-DAY, 'owner', () => repository.issues.open()), at(0, 'agent', () => repository.issues.close(1))],
    }),
  },
  {
    name: 'a release',
    action: RELEASE,
    where: hasReleases,
    right: VERIFIED,
    play: ({ slug, repository }) => ({
      target: slug,
      params: { tag: TAG },
      happens: [at(0, 'agent', () => repository.releases.create({ tag: TAG }))],
    }),
  },
  {
    name: 'a push',
    action: PUSH,
    right: VERIFIED,
    play({ slug, repository, base }) {
      let sha = ''
      const push = at(0, 'agent', async () => {
        sha = await repository.commit({ parents: [base] })
        await repository.push('main', sha)
      })
      return { target: slug, params: () => ({ sha, branch: 'main' }), happens: [push] }
    },
  },
  {
    name: 'a green check',
    action: CHECKS,
    where: hasRuns,
    right: VERIFIED,
    play: (place) => ({
      target: place.slug,
      params: { sha: place.base, checks: ownBuild(place) },
      happens: [at(0, 'ci', () => place.repository.checks.run({ sha: place.base, name: 'build' }))],
    }),
  },
]

/** Each of these lives, with something more. */
function all(lives: readonly ForgeLife[], name: string, change: (place: ForgePlace, play: Play) => Play): ForgeLife[] {
  return lives.map((life) => ({
    ...life,
    name: `${life.name}, ${name}`,
    play: async (place) => change(place, await life.play(place)),
  }))
}

/** Of releases a replica tells, and of tags the repository itself. */
const releasesOfReplicas: readonly ForgeLife[] = [
  {
    name: 'a release that a bot deletes after twenty seconds, and its tag stays',
    action: RELEASE,
    right: NOT_BLAMED,
    play({ slug, repository }) {
      repository.answering.replicaLagMs = 45 * SECOND
      let id = 0
      return {
        target: slug,
        params: { tag: TAG },
        happens: [
          at(0, 'agent', async () => {
            id = await repository.releases.create({ tag: TAG })
          }),
          at(20 * SECOND, 'bot', () => repository.releases.delete(id)),
        ],
      }
    },
  },
  {
    name: 'a release of another commit, whose tag a bot moves after twenty seconds',
    action: RELEASE,
    right: NOT_BLAMED,
    play({ slug, repository, base, head }) {
      repository.answering.replicaLagMs = 45 * SECOND
      return {
        target: slug,
        params: { tag: TAG, commit: base },
        happens: [
          at(-SECOND, 'agent', () => repository.tag(TAG, base)),
          at(0, 'agent', () => repository.releases.create({ tag: TAG })),
          at(20 * SECOND, 'bot', () => repository.tag(TAG, head)),
        ],
      }
    },
  },
  {
    name: 'no such tag',
    action: RELEASE,
    truth: 'never',
    right: BLAME,
    play({ slug, repository }) {
      repository.answering.replicaLagMs = 45 * SECOND
      return { target: slug, params: { tag: TAG } }
    },
  },
]

const replicas: readonly ForgeLife[] = [
  ...all(works, 'read from a replica that is 45 s behind', ({ repository }, play) => {
    repository.answering.replicaLagMs = 45 * SECOND
    return play
  }),
  ...all(works, 'read from a replica that has stood still for four minutes', ({ repository, clock }, play) => {
    const happens = [
      at(-SECOND, 'place', () => {
        repository.answering.frozenAt = clock.now()
      }),
      at(4 * MINUTE, 'place', () => {
        repository.answering.frozenAt = undefined
      }),
    ]
    return { ...play, happens: [...(play.happens ?? []), ...happens] }
  }),
]

/** The answers come by turns from the main server and from one that is half an hour behind. */
const disagreeing = all(
  works,
  'every second answer from a server that is half an hour behind',
  ({ repository }, play) => {
    const turns = Array.from({ length: 250 }, (_, index) =>
      at(index * 4 * SECOND + 500, 'place', () => {
        repository.answering.replicaLagMs = index % 2 === 0 ? 30 * MINUTE : 0
      }),
    )
    return { ...play, happens: [...(play.happens ?? []), ...turns] }
  },
)

const oddOnce: readonly ForgeLife[] = [
  {
    name: 'an open issue, and one odd answer at the deadline says that there is none',
    action: ISSUE,
    where: hasIssues,
    truth: 'never',
    // As far as that tells, it may have been closed and deleted.
    right: NOT_VERIFIED,
    play({ slug, repository, standIn, clock }) {
      let isOdd = false
      standIn.faults.inject({ fault: status(404), on: /issues\/1$/, times: 1, during: () => isOdd })
      return {
        target: slug,
        params: { number: 1 },
        happens: [
          at(-DAY, 'owner', () => repository.issues.open()),
          at(15 * MINUTE, 'place', () => {
            isOdd = clock.now() > 0
          }),
        ],
      }
    },
  },
]

const redirects: readonly ForgeLife[] = [
  ...all(works, 'and its owner renames the repository after the first look', ({ standIn, repository }, play) => ({
    ...play,
    happens: [...(play.happens ?? []), at(10 * SECOND, 'owner', () => standIn.rename(repository, 'acme/renamed'))],
  })),
  ...all(works, 'and its owner renames the repository before it', ({ standIn, repository }, play) => ({
    ...play,
    happens: [...(play.happens ?? []), at(500, 'owner', () => standIn.rename(repository, 'acme/renamed'))],
  })),
  ...all(
    works.map((work) => ({ ...work, right: NOT_BLAMED })),
    'and the repository goes to another owner before the first look',
    ({ standIn, repository }, play) => ({
      ...play,
      happens: [...(play.happens ?? []), at(500, 'owner', () => standIn.rename(repository, 'other/app'))],
    }),
  ),
]

const content: readonly ForgeLife[] = [
  ...all(works, 'behind a page to sign in, for three minutes', ({ standIn }, play) => {
    let isBehind = true
    standIn.faults.inject({ fault: html(), during: () => isBehind })
    const open = at(3 * MINUTE, 'place', () => {
      isBehind = false
    })
    return { ...play, happens: [...(play.happens ?? []), open] }
  }),
  {
    name: 'an open issue, behind a page to sign in for ever',
    action: ISSUE,
    truth: 'never',
    right: UNVERIFIABLE,
    where: hasIssues,
    play({ slug, repository, standIn }) {
      standIn.faults.inject({ fault: html() })
      return { target: slug, params: { number: 1 }, happens: [at(-DAY, 'owner', () => repository.issues.open())] }
    },
  },
  {
    name: 'an open issue, in answers that break off for ever',
    action: ISSUE,
    truth: 'never',
    right: UNVERIFIABLE,
    where: hasIssues,
    play({ slug, repository, standIn }) {
      standIn.faults.inject({ fault: truncatedJson(), on: /issues\/1/ })
      return { target: slug, params: { number: 1 }, happens: [at(-DAY, 'owner', () => repository.issues.open())] }
    },
  },
]

const honest = { truth: 'in_time' } as const
const FEW = [GITHUB, GITLAB, GITEA, BITBUCKET]

export const answerLives = [
  ...livesAt([GITHUB, GITLAB, FORGEJO, BITBUCKET, BITBUCKET_SERVER], { about: 'pages', ...honest }, pages),
  ...livesAt([GITHUB, GITLAB, FORGEJO], { about: 'replicas', ...honest }, replicas),
  ...livesAt([GITLAB], { about: 'replicas', ...honest }, releasesOfReplicas),
  ...livesAt([GITHUB, GITEA], { about: 'reads that disagree', ...honest }, [...disagreeing, ...oddOnce]),
  ...livesAt(FEW, { about: 'redirects', ...honest }, redirects),
  ...livesAt([GITHUB, GITLAB], { about: 'kinds of content', ...honest }, content),
]
