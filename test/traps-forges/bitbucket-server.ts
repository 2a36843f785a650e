/** Bitbucket Data Center, and the traps that are its own. */
import { status } from '../destinations/faults.ts'
import { startBitbucketServer } from '../destinations/forge/bitbucket-server.ts'
import type { Trap } from '../traps/trap.ts'
import { commonTraps } from './common.ts'
import { DAY, MINUTE } from './times.ts'
import type { ForgeWorld, HostKind } from './world.ts'

export const bitbucketServer: HostKind = {
  name: 'bitbucket-server',
  start: startBitbucketServer,
  connection: ({ origin }, token) => ({ base_url: origin, token }),
  actions: new Set(['pull_request.open', 'pull_request.merge', 'checks.pass']),
  dates: new Set(['open', 'merge']),
  merges: ['merge', 'squash', 'fast-forward', 'rebase'],
  runsChecks: false,
  runBy: 'key:ci',
  tellsEarlierRuns: false,
  isPrompt: true,
  tellsReopening: false,
  datesLogs: false,
  hasReasons: false,
  tellsDrafts: true,
  hasRights: false,
}

/** Where this host tells less than others: a verdict of its own; undefined, where the trap cannot be set in this way. */
const OTHERWISE: Readonly<Record<string, string | undefined>> = {
  // It lists the builds of a commit of all repositories together, so what a claim does not name cannot be read.
  'checks.pass: none named, and only a status that anybody can post': 'unverifiable/unsupported_action',
  'checks.pass: a private repository that the token does not show': 'unverifiable/unsupported_action',
  'checks.pass: a commit that is nowhere': 'unverifiable/unsupported_action',
  // Nothing tells who posted it.
  'checks.pass: the agent posts a green status of the same name': 'unverifiable/permission_denied',
  // Its paths have more between the project and the repository.
  'pull_request.open: a host that is down': undefined,
}

/** The common ones, as they end here. */
export const commonTrapsHere: readonly Trap<ForgeWorld>[] = commonTraps(bitbucketServer).flatMap((trap) => {
  if (!(trap.name in OTHERWISE)) return [trap]
  const verdict = OTHERWISE[trap.name]
  return verdict === undefined ? [] : [{ ...trap, verdict, forgets: true, play: withoutFacts(trap) }]
})

function withoutFacts({ play }: Trap<ForgeWorld>): Trap<ForgeWorld>['play'] {
  return async (world) => {
    const { facts: _, ...rest } = await play(world)
    return rest
  }
}

/** A pull request that is open. */
async function opened(world: ForgeWorld, at?: number) {
  const ground = await world.topic()
  const pulls = ground.repository.pullRequests
  return { ...ground, pulls, number: await pulls.open({ head: 'topic', ...(at === undefined ? {} : { at }) }) }
}

const unit = [{ name: 'Unit tests', by: 'key:unit' }]

function inApi(slug: string): string {
  return slug.replace('/', '/repos/')
}

export const bitbucketServerTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'commit.push: a branch that is not on the first page of those that the filter finds',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      const names = Array.from({ length: 300 }, (_, index) => `a${index}-x`)
      await repository.pushAll(names.map((branch) => ({ branch, sha: base })))
      await repository.push('X', base)
      await repository.push('x', sha)
      const claimed_at = new Date(world.clock.now()).toISOString()
      return { client: world.client, target: slug, params: { sha, branch: 'x' }, claimed_at }
    },
  },
  {
    name: 'commit.push: in the project of a person',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ slug: '~jane/My-Repo' })
      const claimed_at = new Date(world.clock.now()).toISOString()
      const facts = { repository: '~jane/my-repo', repository_id: String(repository.id) }
      return { client: world.client, target: slug, params: { sha, branch: 'main' }, claimed_at, facts }
    },
  },
  {
    name: 'open: a host that is down',
    truth: 'in_time',
    verdict: 'unverifiable/destination_unavailable',
    forgets: true,
    async play(world) {
      const { slug, number } = await opened(world)
      world.standIn.faults.inject({ fault: status(502), on: new RegExp(inApi(slug)) })
      return world.claim('pull_request.open', slug, { number })
    },
  },
  {
    name: 'open: deleted before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, number } = await opened(world, world.clock.now() - 6 * MINUTE)
      const on = new RegExp(`${inApi(slug)}/pull-requests/${number}$`)
      world.standIn.faults.inject({ fault: status(404), on })
      await repository.pullRequests.open({ head: 'topic' })
      return world.claim('pull_request.open', slug, { number }, 5 * MINUTE)
    },
  },
  {
    name: 'open: the newest one, deleted before we look',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, number } = await opened(world, world.clock.now() - DAY)
      // Its number is given out again to nobody, and nothing shows that it was given out.
      return world.claim('pull_request.open', slug, { number: number + 1 }, 5 * MINUTE)
    },
  },
  {
    name: 'merge: the first look comes after the tolerance, and its time tells that it was in time',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - DAY)
      await pulls.merge(number, { at: world.clock.now() - 11 * MINUTE })
      return world.claim('pull_request.merge', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'merge: the first look comes after the tolerance, and its time tells that it was late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - DAY)
      await pulls.merge(number, { at: world.clock.now() - MINUTE })
      return world.claim('pull_request.merge', slug, { number }, 13 * MINUTE)
    },
  },
  {
    name: 'merge: comments move the time of the last change, and not that of the merge',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, pulls, number } = await opened(world, world.clock.now() - DAY)
      await pulls.merge(number, { at: world.clock.now() - 11 * MINUTE })
      pulls.comment(number)
      return world.claim('pull_request.merge', slug, { number }, 12 * MINUTE)
    },
  },
  {
    name: 'merge: pushed by somebody, so that the server names no commit',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, pulls, number, head } = await opened(world)
      await repository.push('main', head)
      await pulls.markMerged(number, head)
      return world.claim('pull_request.merge', slug, { number })
    },
  },
  {
    name: 'checks: a build, by its key',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'success' })
      return world.claim('checks.pass', slug, { sha, checks: unit })
    },
  },
  {
    name: 'checks: a build that failed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'failure' })
      return world.claim('checks.pass', slug, { sha, checks: unit })
    },
  },
  {
    name: 'checks: a build that passes while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const { checks } = repository
      const id = checks.post({ sha, context: 'Unit tests @ unit', state: 'pending' })
      const meanwhile = async () => checks.repost(id, 'success')
      return { ...world.claim('checks.pass', slug, { sha, checks: unit }), afterMs: 20 * MINUTE, meanwhile }
    },
  },
  {
    name: 'checks: a build whose account is claimed, which nothing tells',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      repository.checks.post({ sha, context: 'Unit tests @ unit', state: 'success', by: 'key:jenkins' })
      return world.claim('checks.pass', slug, { sha, checks: [{ name: 'Unit tests', by: 'key:jenkins' }] })
    },
  },
  {
    name: 'checks: a build of the same commit, posted to a fork',
    truth: 'never',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository()
      const fork = await world.standIn.fork(repository, `forker/${slug.replace('/', '-')}`)
      fork.checks.post({ sha, context: 'Unit tests @ unit', state: 'success' })
      return world.claim('checks.pass', slug, { sha, checks: unit })
    },
  },
]
