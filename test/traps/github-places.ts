/** Traps about where GitHub is read: redirects, connections, addresses, clocks, and faults at the moments that decide. */
import { status } from '../destinations/faults.ts'
import { connect } from '../support/connect.ts'
import { githubTrap } from './github-log.ts'
import type { Trap } from './trap.ts'
import type { World } from './world.ts'

const HOUR_MS = 3_600_000

/** A workspace with these connections. */
async function clientWith(world: World, ...connections: readonly (readonly [provider: string, options: object])[]) {
  const client = await world.service.client(world.nextSlug().replace('/', ' '))
  for (const [provider, options] of connections) {
    await connect(world.service.claimcheck, client.workspaceId, provider, options as never)
  }
  return client
}

/** The host answers 502 from `from` on, for three seconds. */
function blip(world: World, slug: string, from: string): () => Promise<void> {
  const begins = Date.parse(from)
  world.github.faults.inject({
    fault: status(502),
    on: new RegExp(slug),
    during: () => {
      const sinceMs = world.clock.now() - begins
      return sinceMs >= 0 && sinceMs < 3000
    },
  })
  return async () => {}
}

const toleranceEnd = (claimedAt: string, offsetMs: number) =>
  new Date(Date.parse(claimedAt) + 600_000 + offsetMs).toISOString()

export const githubPlaceTraps: readonly Trap[] = [
  githubTrap({
    name: "a redirect to somebody else's repository",
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      world.github.rename(repository, `evil-${world.nextSlug()}`)
    },
  }),
  githubTrap({
    name: "a redirect to somebody else's repository, through a connection for one owner",
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    set: async ({ world, slug, repository, sha }) => {
      await repository.push('main', sha)
      world.github.rename(repository, world.nextSlug())
      const client = await clientWith(world, ['github', { base_url: world.github.url, owners: [slug.split('/')[0]] }])
      return { client }
    },
  }),
  githubTrap({
    name: 'renamed by its owner',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, slug, repository, sha }) => {
      await repository.push('main', sha)
      const renamed = `${slug.split('/')[0]}/renamed`
      world.github.rename(repository, renamed)
      return { facts: { repository: renamed, repository_id: repository.id } }
    },
  }),
  githubTrap({
    name: 'moved to another owner, through a connection for both',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, slug, repository, sha }) => {
      await repository.push('main', sha)
      const moved = world.nextSlug()
      world.github.rename(repository, moved)
      const owners = [slug, moved].map((name) => name.split('/')[0]!.toUpperCase())
      const client = await clientWith(world, ['github', { base_url: world.github.url, owners }])
      return { client, facts: { repository: moved } }
    },
  }),
  githubTrap({
    name: 'two connections that fit, both at an unlisted address',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      const here = { base_url: world.unlistedUrl }
      const client = await clientWith(world, ['github', here], ['github', here])
      return { client }
    },
  }),
  githubTrap({
    name: 'under the alias, with a connection to an unlisted address alone',
    truth: 'unknowable',
    verdict: 'unverifiable/no_connection',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return { client: world.unlisted, action: 'github.commit.push' }
    },
  }),
  githubTrap({
    name: 'a server that this workspace chose, and withholds',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return { client: world.unlisted, source: { provider: 'github', listed: false, source_id: /^[\w-]{43}$/ } }
    },
  }),
  githubTrap({
    name: 'the listed place',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return { source: { provider: 'github', listed: true, base_url: world.github.url } }
    },
  }),
  githubTrap({
    name: 'two connections that fit, one of them named',
    truth: 'in_time',
    verdict: 'verified',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      const client = await clientWith(
        world,
        ['github', { base_url: world.github.url }],
        ['git', { base_url: world.git.url.replace('127.0.0.1', 'localhost') }],
      )
      return { client, params: { sha, branch: 'main', host: new URL(world.github.url).host } }
    },
  }),
  githubTrap({
    name: 'a host that no connection is for',
    truth: 'unknowable',
    verdict: 'unverifiable/no_connection',
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return { client: world.connected, params: { sha, branch: 'main', host: 'gitlab.example' } }
    },
  }),
  githubTrap({
    name: 'a host without the path of its connection, which another may own',
    truth: 'unknowable',
    verdict: 'unverifiable/no_connection',
    set: async ({ world, sha }) => {
      const client = await clientWith(world, ['github', { base_url: `${world.unlistedUrl}/mallory` }])
      return { client, params: { sha, branch: 'main', host: new URL(world.unlistedUrl).host } }
    },
  }),
  githubTrap({
    name: 'refs/heads/ before the name',
    truth: 'never',
    verdict: '422',
    set: async ({ repository, sha }) => {
      await repository.push('main', sha)
      return { params: { sha, branch: 'refs/heads/main' }, refusal: /`main`/ }
    },
  }),
  ...([-1500, -100] as const).flatMap((offsetMs) => [
    githubTrap({
      name: `502 for 3 s around the end of the tolerance, from ${offsetMs} ms on: pushed before`,
      truth: 'in_time',
      verdict: 'verified',
      set: async ({ world, slug, repository, sha }) => {
        await repository.push('main', sha)
        // The log has whole seconds, and as much doubt of the clock: the push is in time beyond both.
        await world.clock.sleep(3000)
        const claim = world.times(1000, 60_000)
        blip(world, slug, toleranceEnd(claim.claimed_at, offsetMs))
        return claim
      },
    }),
    githubTrap({
      name: `502 for 3 s around the deadline, from ${offsetMs} ms on: never pushed`,
      truth: 'never',
      verdict: 'failed/not_found',
      set: async ({ world, slug }) => {
        const claim = world.times(10_000, 20_000)
        blip(world, slug, new Date(Date.parse(claim.deadline_at!) + offsetMs).toISOString())
        return claim
      },
    }),
  ]),
  githubTrap({
    name: '502 for 3 s around the deadline and the age after it: never pushed',
    truth: 'never',
    verdict: 'failed/not_found',
    set: async ({ world, slug }) => {
      const claim = world.times(10_000, 20_000)
      blip(world, slug, new Date(Date.parse(claim.deadline_at!) + 9000).toISOString())
      return claim
    },
  }),
  githubTrap({
    name: '502 for 3 s around the end of the tolerance, without a log: pushed before',
    truth: 'in_time',
    verdict: 'verified',
    answering: { logStatus: 403 },
    set: async ({ world, slug, repository, sha }) => {
      await repository.push('main', sha)
      const claim = world.times(20_000, 60_000)
      blip(world, slug, toleranceEnd(claim.claimed_at, -3500))
      return claim
    },
  }),
  githubTrap({
    name: 'no Date header, seen in time',
    truth: 'in_time',
    verdict: 'verified',
    answering: { isDated: false },
    set: async ({ repository, sha }) => {
      await repository.push('main', sha)
      return { facts: { preexisting: undefined } }
    },
  }),
  githubTrap({
    name: 'no Date header, seen after the tolerance',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    answering: { isDated: false },
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha)
      return world.times(-500, 60_000)
    },
  }),
  githubTrap({
    name: 'no Date header, and merged and deleted before the claim',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    answering: { isDated: false },
    set: async ({ repository, sha }) => {
      await repository.push('topic', sha)
      await repository.deleteBranch('topic')
      return { params: { sha, branch: 'topic' } }
    },
  }),
  githubTrap({
    name: 'an Age header of 20 s, and pushed just before the tolerance ends',
    truth: 'in_time',
    verdict: 'verified',
    answering: { ageSeconds: 20, replicaLagMs: 20_000 },
    set: async ({ world, repository, sha }) => {
      await repository.push('main', sha, { at: world.clock.now() - 5000 })
      return world.times(1000, 60_000)
    },
  }),
  githubTrap({
    name: 'an Age header of an hour at an unlisted place: it delays blame by a minute at most',
    truth: 'never',
    verdict: 'failed/not_found',
    answering: { ageSeconds: 3600 },
    set: async ({ world }) => ({ client: world.unlisted }),
  }),
  ...([HOUR_MS, -HOUR_MS] as const).flatMap((clockAheadMs) => [
    githubTrap({
      name: `a clock that is ${clockAheadMs / HOUR_MS} h ahead, and a push that is seen in time`,
      truth: 'in_time',
      verdict: 'verified',
      answering: { clockAheadMs },
      set: async ({ world, repository, sha }) => {
        await repository.push('main', sha)
        return { client: world.unlisted, ...world.now(), facts: { preexisting: undefined } }
      },
    }),
    githubTrap({
      name: `a clock that is ${clockAheadMs / HOUR_MS} h ahead, two claims that share a read, pushed late`,
      truth: 'late',
      // A clock that is ahead gives its log's times too late: less all of the offset, they are a bound from below.
      ...(clockAheadMs > 0
        ? { verdict: 'late/observed_after_tolerance' }
        : { verdict: 'unverifiable/claim_ambiguous', forgets: true }),
      answering: { clockAheadMs },
      set: async ({ world, repository, sha }) => {
        await repository.push('main', sha)
        const pushedAt = repository.pushes.at(-1)!.at - clockAheadMs
        const claim = world.times(pushedAt - 5000 - world.clock.now(), 60_000)
        return { client: world.unlisted, ...claim, beside: 3 }
      },
    }),
    githubTrap({
      name: `a clock that is ${clockAheadMs / HOUR_MS} h ahead, and a commit that is nowhere`,
      truth: 'never',
      verdict: 'failed/not_found',
      answering: { clockAheadMs },
      set: async ({ world }) => ({ client: world.unlisted }),
    }),
    githubTrap({
      name: `a clock that is ${clockAheadMs / HOUR_MS} h ahead, and a repository younger than the claim`,
      truth: 'unknowable',
      verdict: 'unverifiable/claim_ambiguous',
      answering: { clockAheadMs },
      createdAt: (world) => world.clock.now() - 60_000 + clockAheadMs,
      set: async ({ world }) => ({ client: world.unlisted }),
    }),
  ]),
  {
    ...githubTrap({
      name: 'the one listed place disagrees with our clock',
      truth: 'in_time',
      verdict: 'verified',
      answering: { clockAheadMs: HOUR_MS },
      set: async ({ world, repository, sha }) => {
        await repository.push('main', sha)
        return world.times(500, 500)
      },
    }),
    alone: true,
  },
  ...(['+02:00', '-11:30'] as const).map((offset) =>
    githubTrap({
      name: `claimed_at with the offset ${offset}`,
      truth: 'in_time',
      verdict: 'verified',
      set: async ({ world, repository, sha }) => {
        await repository.push('main', sha)
        const sign = offset.startsWith('-') ? -1 : 1
        const [hours, minutes] = offset.slice(1).split(':').map(Number) as [number, number]
        const local = world.clock.now() + sign * (hours * 60 + minutes) * 60_000
        return { claimed_at: new Date(local).toISOString().replace('Z', offset) }
      },
    }),
  ),
]
