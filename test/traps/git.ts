/** Traps at a git server, which keeps no push log: what was read is all that is known. */
import { html, redirectTo, silence, status } from '../destinations/faults.ts'
import { GitServer } from '../destinations/git-server.ts'
import { connect } from '../support/connect.ts'
import { gitForgetsTraps } from './git-forgets.ts'
import type { Trap } from './trap.ts'
import { soonest, type Times, type World } from './world.ts'

const about = (slug: string) => new RegExp(`/${slug}`)
const HOUR_MS = 3_600_000

function pushedTo(branch: string, claimed = branch): Trap['play'] {
  return async (world) => {
    const { slug, repository, base } = await world.gitRepository()
    const sha = await repository.commit({ parents: [base] })
    await repository.push(branch, sha)
    return {
      client: world.atGit,
      target: slug,
      params: { sha, branch: claimed },
      ...(branch === claimed ? world.now() : world.soon()),
    }
  }
}

function pushedBehind(
  fault: Parameters<World['git']['faults']['inject']>[0]['fault'],
  limits: { times?: number } = {},
  when: (world: World) => Times = (world) => world.soon(),
): Trap['play'] {
  return async (world) => {
    const { slug, base } = await world.gitRepository()
    world.git.faults.inject({ fault, on: about(slug), ...limits })
    return { client: world.atGit, target: slug, params: { sha: base, branch: 'main' }, ...when(world) }
  }
}

export const gitTraps: readonly Trap[] = [
  ...gitForgetsTraps,
  { name: 'git: pushed and claimed', truth: 'in_time', verdict: 'verified', play: pushedTo('main') },
  {
    name: 'git: a branch with a slash and letters of elsewhere',
    truth: 'in_time',
    verdict: 'verified',
    play: pushedTo('feature/größe%20'),
  },
  {
    name: 'git: right commit, wrong branch',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: pushedTo('topic', 'main'),
  },
  {
    name: 'git: the beginning of a name',
    truth: 'elsewhere',
    verdict: 'mismatch/target_mismatch',
    play: pushedTo('main-2', 'main'),
  },
  {
    name: 'git: below the tip',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository()
      const sha = await repository.commit({ parents: [base], date: new Date('1999-01-01') })
      await repository.push('main', await repository.commit({ parents: [sha] }))
      return { client: world.atGit, target: slug, params: { sha, branch: 'main' }, ...world.now() }
    },
  },
  {
    name: 'git: an object that the server hands out, and no ref holds',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository()
      const sha = await repository.commit({ parents: [base] })
      return { client: world.atGit, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'git: a tag for a branch',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository()
      await repository.tag('v1', base)
      return { client: world.atGit, target: slug, params: { sha: base, branch: 'v1' }, ...world.soon() }
    },
  },
  {
    name: "git: an annotated tag's sha",
    truth: 'never',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository()
      const sha = await repository.tag('v1', base, { annotated: true })
      return { client: world.atGit, target: slug, params: { sha, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'git: an empty repository',
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const slug = world.nextSlug()
      await world.git.createRepository(slug)
      return { client: world.atGit, target: slug, params: { sha: 'a'.repeat(40), branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'git: an option for a branch',
    truth: 'never',
    verdict: '422',
    play: async (world) => {
      const { slug, base } = await world.gitRepository()
      return { client: world.atGit, target: slug, params: { sha: base, branch: '--upload-pack=touch' }, ...world.now() }
    },
  },
  {
    name: 'git: pushed after the tolerance, and its server had the commit before',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository()
      const sha = await repository.commit({ parents: [base], date: new Date('1999-01-01') })
      const meanwhile = async () => repository.push('main', sha)
      return {
        client: world.atGit,
        target: slug,
        params: { sha, branch: 'main' },
        ...world.times(30_000, 60_000),
        meanwhile,
        afterMs: 45_000,
      }
    },
  },
  {
    name: 'git: pushed in time, first looked at after the tolerance',
    forgets: true,
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    play: async (world) => {
      const { slug, base } = await world.gitRepository()
      return {
        client: world.atGit,
        target: slug,
        params: { sha: base, branch: 'main' },
        ...world.times(-1000, HOUR_MS),
      }
    },
  },
  {
    name: 'git: an invented id, claimed long after the deadline',
    truth: 'never',
    verdict: 'failed/not_found',
    play: async (world) => {
      const { slug } = await world.gitRepository()
      return {
        client: world.atGit,
        target: slug,
        params: { sha: 'c'.repeat(40), branch: 'main' },
        ...world.times(-HOUR_MS, 60_000),
      }
    },
  },
  {
    name: 'git: seen in time, and forced away afterwards',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const { slug, repository, base } = await world.gitRepository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('main', sha)
      const meanwhile = async () => repository.push('main', base)
      return { client: world.atGit, target: slug, params: { sha, branch: 'main' }, ...world.soon(), meanwhile }
    },
  },
  {
    name: 'git: a repository that is not there',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    play: async (world) => ({
      client: world.atGit,
      target: world.nextSlug(),
      params: { sha: 'a'.repeat(40), branch: 'main' },
      ...world.soon(),
    }),
  },
  {
    name: 'git: wrong credentials',
    truth: 'unknowable',
    verdict: 'unverifiable/permission_denied',
    play: async (world) => {
      const credentials = { username: 'reader', password: 'right' }
      const { slug, base } = await world.gitRepository({ credentials })
      return { client: world.atGit, target: slug, params: { sha: base, branch: 'main' }, ...world.soon() }
    },
  },
  {
    name: 'git: right credentials',
    truth: 'in_time',
    verdict: 'verified',
    play: async (world) => {
      const credentials = { username: 'reader', password: 'right' }
      const { slug, base } = await world.gitRepository({ credentials })
      const client = await world.service.client(slug.replace('/', ' '))
      await connect(world.service.claimcheck, client.workspaceId, 'git', {
        base_url: world.git.url,
        ...credentials,
      })
      return { client, target: slug, params: { sha: base, branch: 'main' }, ...world.now() }
    },
  },
  { name: 'git: 403', truth: 'unknowable', verdict: 'unverifiable/permission_denied', play: pushedBehind(status(403)) },
  {
    name: 'git: 429, come back in an hour',
    truth: 'unknowable',
    verdict: 'unverifiable/rate_limited',
    play: pushedBehind(status(429, { 'retry-after': '3600' })),
  },
  {
    name: 'git: 500, then fine',
    truth: 'in_time',
    verdict: 'verified',
    play: pushedBehind(status(500), { times: 1 }, (world) => world.now()),
  },
  {
    name: 'git: a web page',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    play: pushedBehind(html()),
  },
  {
    name: 'git: a redirect to another host',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    play: pushedBehind(redirectTo('http://127.0.0.1:9/a/b.git/info/refs')),
  },
  {
    name: 'git: silence',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    play: pushedBehind(silence(), {}, soonest),
  },
  {
    name: 'git: the server is down over the deadline',
    truth: 'unknowable',
    verdict: 'unverifiable/destination_unavailable',
    play: async (world) => {
      const gone = await GitServer.start()
      const { url } = gone
      await gone.close()
      const client = await world.service.client(world.nextSlug().replace('/', ' '))
      await connect(world.service.claimcheck, client.workspaceId, 'git', { base_url: url })
      return { client, target: 'acme/app', params: { sha: 'a'.repeat(40), branch: 'main' }, ...world.soon() }
    },
  },
]
