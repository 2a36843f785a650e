/** Traps at GitHub: what an agent may try, and what may befall an honest one. */
import { brokenOff, html, redirectTo, silence, status, truncatedJson } from '../destinations/faults.ts'
import { connect } from '../support/connect.ts'
import { githubLogTraps } from './github-log.ts'
import { githubPlaceTraps } from './github-places.ts'
import type { Trap } from './trap.ts'
import { soonest, type Times, type World } from './world.ts'

const about = (slug: string) => new RegExp(`/repos/${slug}`)
const HOUR_MS = 3_600_000

/** A commit that was pushed to main before it is claimed; what is wrong is wrong with the host's answers. */
function pushedBehind(
  fault: Parameters<World['github']['faults']['inject']>[0]['fault'],
  limits: { times?: number } = {},
  when: (world: World) => Times = (world) => world.soon(),
): Trap['play'] {
  return async (world) => {
    const { slug, repository, base } = await world.repository()
    const sha = await repository.commit({ parents: [base] })
    await repository.push('main', sha)
    world.github.faults.inject({ fault, on: about(slug), ...limits })
    return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...when(world) }
  }
}

function pushedTo(branch: string, claimed = branch): Trap['play'] {
  return async (world) => {
    const { slug, repository, base } = await world.repository()
    const sha = await repository.commit({ parents: [base] })
    await repository.push(branch, sha)
    return {
      client: world.anonymous,
      target: slug,
      params: { sha, branch: claimed },
      ...(branch === claimed ? world.now() : world.soon()),
    }
  }
}

function pushedWithDate(date: string): Trap['play'] {
  return async (world) => {
    const { slug, repository, base } = await world.repository()
    const sha = await repository.commit({ parents: [base], date: new Date(date) })
    await repository.push('main', sha)
    return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.now() }
  }
}

export const githubTraps: readonly Trap[] = [
  ...githubLogTraps,
  ...githubPlaceTraps,
  { name: 'pushed and claimed', truth: 'in_time', verdict: 'verified', play: pushedTo('main') },
  { name: 'a branch with a slash', truth: 'in_time', verdict: 'verified', play: pushedTo('feature/one') },
  { name: 'a branch with a percent sign', truth: 'in_time', verdict: 'verified', play: pushedTo('a%2Fb') },
  { name: 'a branch that is not ASCII', truth: 'in_time', verdict: 'verified', play: pushedTo('größe-大') },
  { name: 'a back-dated commit', truth: 'in_time', verdict: 'verified', play: pushedWithDate('1999-01-01') },
  { name: 'a commit dated in the future', truth: 'in_time', verdict: 'verified', play: pushedWithDate('2099-01-01') },
  {
    name: 'in the middle of a push',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      const tip = await repository.commit({ parents: [await repository.commit({ parents: [sha] })] })
      await repository.push('main', tip)
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.now() }
    },
  },
  {
    name: 'its sha in upper case, under the alias',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('main', sha)
      const params = { sha: sha.toUpperCase(), branch: 'main' }
      return { client: world.connected, action: 'github.commit.push', target: slug, params, ...world.now() }
    },
  },
  {
    name: 'never pushed',
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const { slug, base, repository } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'a commit that is nowhere',
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const { slug } = await world.repository()
      return { client: world.anonymous, target: slug, params: { sha: 'f'.repeat(40), branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'pushed to a fork only',
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const fork = await world.github.fork(repository, world.nextSlug())
      const sha = await fork.commit({ parents: [base] })
      await fork.push('main', sha)
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'right commit, wrong branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: pushedTo('topic', 'main'),
  },
  {
    name: 'a branch that there is not',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: pushedTo('main', 'mian'),
  },
  {
    name: 'the beginning of a name',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: pushedTo('main-2', 'main'),
  },
  {
    name: 'a tag for a branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      await repository.tag('v1', base)
      return { client: world.anonymous, target: slug, params: { sha: base, branch: 'v1' }, ...world.soon() }
    },
  },
  {
    name: 'a sha for a branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: async (world) => {
      const { slug, base } = await world.repository()
      return { client: world.anonymous, target: slug, params: { sha: base, branch: base }, ...world.soon() }
    },
  },
  { name: 'user:branch', truth: 'never', verdict: '422', play: pushedTo('main', 'mallory:main') },
  { name: '../ in the branch', truth: 'never', verdict: '422', play: pushedTo('main', '../../mallory/app') },
  {
    name: "an annotated tag's sha",
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.tag('v1', base, { annotated: true })
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'squashed into main',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('topic', sha)
      await repository.merge('topic', 'main', { squash: true })
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'merged into main while it is waited for',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('topic', sha)
      const meanwhile = async () => {
        await repository.merge('topic', 'main')
      }
      return {
        client: world.anonymous,
        target: slug,
        params: { sha, branch: 'main' },
        ...world.soon(),
        meanwhile,
      }
    },
  },
  {
    name: 'an empty repository',
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const slug = world.nextSlug()
      await world.github.createRepository(slug, { createdAt: world.clock.now() - HOUR_MS })
      return { client: world.anonymous, target: slug, params: { sha: 'a'.repeat(40), branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'pushed after the tolerance, seen by reads',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      const meanwhile = async () => repository.push('main', sha)
      return {
        client: world.anonymous,
        target: slug,
        params: { sha, branch: 'main' },
        ...world.times(30_000, 60_000),
        meanwhile,
        afterMs: 45_000,
      }
    },
  },
  {
    name: 'pushed after the tolerance with a date before it, claimed afterwards',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const claim = world.times(-3000, HOUR_MS)
      const sha = await repository.commit({ parents: [base], date: new Date(claim.claimed_at) })
      await repository.push('main', sha)
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...claim }
    },
  },
  {
    name: 'pushed in time, claimed long after the deadline',
    truth: 'in_time',
    verdict: 'verified',
    alone: true,
    play: async (world) => {
      const { slug, repository, base } = await world.skewed(-3 * HOUR_MS, () => world.repository())
      const sha = await repository.commit({ parents: [base] })
      await world.skewed(-2 * HOUR_MS, () => repository.push('main', sha))
      return {
        client: world.anonymous,
        target: slug,
        params: { sha, branch: 'main' },
        ...world.times(-2 * HOUR_MS + 60_000, 60_000),
      }
    },
  },
  {
    name: 'pushed after the deadline, claimed long after it',
    truth: 'late',
    verdict: 'failed/not_found',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('main', sha)
      return {
        client: world.anonymous,
        target: slug,
        params: { sha, branch: 'main' },
        ...world.times(-HOUR_MS, 60_000),
      }
    },
  },
  {
    name: 'forced away before anybody looked, and in the push log',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      const claim = world.soon()
      await repository.push('main', sha)
      await repository.push('main', base, { force: true })
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...claim }
    },
  },
  {
    name: 'forced away after it was seen late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      const claim = world.times(-2000, HOUR_MS)
      await repository.push('main', sha)
      await repository.push('main', base, { force: true })
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...claim }
    },
  },
  {
    name: 'deleted before anybody looked',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      world.github.delete(repository)
      return { client: world.anonymous, target: slug, params: { sha: base, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'made again under its name between two looks',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: async (world) => {
      const { slug, repository } = await world.repository()
      const meanwhile = async () => {
        world.github.delete(repository)
        const other = await world.github.createRepository(slug)
        await other.push('main', await other.commit())
      }
      return {
        client: world.anonymous,
        target: slug,
        params: { sha: 'b'.repeat(40), branch: 'main' },
        ...world.soon(),
        meanwhile,
      }
    },
  },
  {
    name: 'private, without a connection',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    play: async (world) => {
      const { slug, base } = await world.repository({ isPrivate: true })
      return { client: world.anonymous, target: slug, params: { sha: base, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'private, read through a connection',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.repository({ isPrivate: true })
      const token = `token of ${slug}`
      world.github.addToken({ token, repositories: [repository] })
      const client = await world.service.client(slug.replace('/', ' '))
      const options = { base_url: world.github.url, token }
      await connect(world.service.claimcheck, client.workspaceId, 'github', options)
      return { client, target: slug, params: { sha: base, branch: 'main' }, ...world.now() }
    },
  },
  {
    name: 'a token that is refused',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    play: async (world) => {
      const { slug, base } = await world.repository()
      const client = await world.service.client(slug.replace('/', ' '))
      const options = { base_url: world.github.url, token: slug }
      world.github.addToken({ token: slug, repositories: [] })
      await connect(world.service.claimcheck, client.workspaceId, 'github', options)
      world.github.revokeToken(slug)
      return { client, target: slug, params: { sha: base, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'two connections that fit',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: async (world) => {
      const { slug, base } = await world.repository()
      const client = await world.service.client(slug.replace('/', ' '))
      const { connections } = world.service.claimcheck
      await connect({ connections }, client.workspaceId, 'github', { base_url: world.github.url })
      await connect({ connections }, client.workspaceId, 'git', { base_url: world.git.url })
      return { client, target: slug, params: { sha: base, branch: 'main' }, ...world.now() }
    },
  },
  { name: '401', truth: 'unknowable', verdict: 'unverifiable/permission_denied', play: pushedBehind(status(401)) },
  { name: '403', truth: 'unknowable', verdict: 'unverifiable/permission_denied', play: pushedBehind(status(403)) },
  {
    name: '403 with no requests left',
    truth: 'unknowable',
    verdict: 'unverifiable/rate_limited',
    play: pushedBehind(
      status(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600) }),
    ),
  },
  {
    name: '429, come back in an hour',
    truth: 'unknowable',
    verdict: 'unverifiable/rate_limited',
    play: pushedBehind(status(429, { 'retry-after': '3600' })),
  },
  {
    name: '429, come back in a second',
    truth: 'in_time',
    verdict: 'verified',
    play: pushedBehind(status(429, { 'retry-after': '1' }), { times: 1 }),
  },
  { name: '500, then fine', truth: 'in_time', verdict: 'verified', play: pushedBehind(status(500), { times: 1 }) },
  {
    name: '500 for good',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    play: pushedBehind(status(500)),
  },
  {
    name: 'a web page instead of JSON',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: pushedBehind(html()),
  },
  {
    name: 'truncated JSON',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: pushedBehind(truncatedJson()),
  },
  {
    name: 'an answer that breaks off',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    play: pushedBehind(brokenOff()),
  },
  {
    name: 'a redirect to another host',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: pushedBehind(redirectTo('http://127.0.0.1:9/repos/a/b')),
  },
  {
    name: 'silence',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    play: pushedBehind(silence(), {}, soonest),
  },
  {
    name: 'an empty list of commits from a broken comparison',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('main', await repository.commit({ parents: [sha] }))
      world.github.faults.inject({ fault: html(), on: new RegExp(`${slug}/compare`) })
      return { client: world.anonymous, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'a host whose clock is an hour ahead',
    truth: 'in_time',
    verdict: 'verified',
    alone: true,
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await world.skewed(HOUR_MS, () => repository.push('main', sha))
      const meanwhile = async () => {}
      return {
        client: world.unlisted,
        target: slug,
        params: { sha, branch: 'main' },
        ...world.now(),
        meanwhile,
        skewMs: HOUR_MS,
      }
    },
  },
  {
    name: 'pushed late at a host whose clock is an hour behind',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    alone: true,
    play: async (world) => {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      const claim = world.times(-1500, 2500)
      await world.skewed(-HOUR_MS, () => repository.push('main', sha))
      return { client: world.unlisted, target: slug, params: { sha, branch: 'main' }, ...claim, skewMs: -HOUR_MS }
    },
  },
]
