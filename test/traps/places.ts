/** Traps about where a claim is read, and by which clock: addresses, connections, and what a receipt says of them. At GitHub, through the whole service. */
import { GITHUB } from './lives/forges.ts'
import type { Play, Trap, Truth } from './trap.ts'
import type { Ground } from './world.ts'

const HOUR = 3_600_000
const AMBIGUOUS = 'unverifiable/claim_ambiguous'
const NO_CONNECTION = 'unverifiable/no_connection'

/** A claim of a push to main, soon decided, without a connection, unless it says otherwise. */
function row(
  name: string,
  truth: Truth,
  verdict: string,
  set: (ground: Ground) => Promise<Partial<Play>> | Partial<Play>,
  isPrivate = false,
): Trap {
  return {
    ...{ name, truth, verdict },
    async play(world) {
      const ground = await world.repository(GITHUB, { isPrivate })
      const { params, ...given } = await set(ground)
      return {
        ...{ client: world.parts.anonymous, target: ground.slug, ...world.soon() },
        params: { sha: ground.sha, branch: 'main', ...params },
        ...given,
      }
    },
  }
}

/** Pushed by now. */
const pushed: typeof row = (name, truth, verdict, set, isPrivate) =>
  row(
    name,
    truth,
    verdict,
    async (ground) => {
      await ground.repository.push('main', ground.sha)
      return set(ground)
    },
    isPrivate,
  )

const listed = ({ world }: Ground) => ['github', { base_url: world.github.url }] as const
const unlisted = ({ world }: Ground) => ['github', { base_url: world.unlistedUrl }] as const
const git = ({ world }: Ground) => ['git', { base_url: world.parts.git.url.replace('127.0.0.1', 'localhost') }] as const
const host = (url: string) => ({ params: { host: new URL(url).host } })

export const placeTraps: readonly Trap[] = [
  pushed('under the alias, its sha in upper case', 'in_time', 'verified', async (ground) => ({
    ...{ action: 'github.commit.push', params: { sha: ground.sha.toUpperCase() } },
    client: await ground.world.connected(listed(ground)),
  })),
  pushed('the listed place', 'in_time', 'verified', ({ world }) => ({
    source: { provider: 'github', listed: true, base_url: world.github.url },
  })),
  pushed('a server that the workspace chose, and withholds', 'in_time', 'verified', async (ground) => ({
    client: await ground.world.connected(unlisted(ground)),
    source: { provider: 'github', listed: false, source_id: /^[\w-]{43}$/ },
  })),
  pushed('two connections that fit', 'unknowable', AMBIGUOUS, async (ground) => ({
    client: await ground.world.connected(listed(ground), git(ground)),
  })),
  pushed('two connections that fit, one of them named', 'in_time', 'verified', async (ground) => ({
    client: await ground.world.connected(listed(ground), git(ground)),
    ...host(ground.world.github.url),
  })),
  pushed('a host that no connection is for', 'unknowable', NO_CONNECTION, async (ground) => ({
    client: await ground.world.connected(listed(ground)),
    ...host('https://gitlab.example'),
  })),
  pushed(
    'a host without the path of its connection, which another may own',
    'unknowable',
    NO_CONNECTION,
    async (ground) => ({
      client: await ground.world.connected(['github', { base_url: `${ground.world.unlistedUrl}/mallory` }]),
      ...host(ground.world.unlistedUrl),
    }),
  ),
  pushed(
    'under the alias, with a connection to an unlisted address alone',
    'unknowable',
    NO_CONNECTION,
    async (ground) => ({ ...{ action: 'github.commit.push', client: await ground.world.connected(unlisted(ground)) } }),
  ),
  pushed('renamed by another owner, through a connection for both', 'in_time', 'verified', async (ground) => {
    const { world, slug, repository } = ground
    const moved = `${world.nextName()}/app`
    world.github.rename(repository, moved)
    const owners = [slug, moved].map((name) => name.split('/')[0]!.toUpperCase())
    return {
      client: await world.connected(['github', { base_url: world.github.url, owners }]),
      facts: { repository: moved },
    }
  }),
  pushed('private, without a connection', 'unknowable', 'unverifiable/permission_denied', () => ({}), true),
  pushed('refs/heads/ before the name', 'never', '422', () => ({
    ...{ params: { branch: 'refs/heads/main' }, refusal: /`main`/ },
  })),
  pushed('claimed_at with an offset', 'in_time', 'verified', ({ world }) => ({
    claimed_at: new Date(world.clock.now() - 11.5 * HOUR).toISOString().replace('Z', '-11:30'),
    deadline_at: new Date(world.clock.now() + HOUR).toISOString(),
  })),
  ...([HOUR, -HOUR] as const).map((clockAheadMs) =>
    row(
      `a clock that is ${clockAheadMs / HOUR} h ahead, four claims that share a read, pushed late`,
      'late',
      // A clock that is ahead gives its log's times too late: less all of the offset, they are a bound from below.
      clockAheadMs > 0 ? 'late/observed_after_tolerance' : AMBIGUOUS,
      async (ground) => {
        const { world, repository, sha } = ground
        repository.answering.clockAheadMs = clockAheadMs
        await repository.push('main', sha)
        const pushedAt = repository.pushes.at(-1)!.at - clockAheadMs
        const claim = world.times(pushedAt - 5000 - world.clock.now(), 60_000)
        return { client: await world.connected(unlisted(ground)), ...claim, beside: 3 }
      },
    ),
  ),
]
