/** A small forge on loopback, with an API of its own: repositories, branches and the history of their commits. */
import type { Call, CodeHostKind, Reply } from './forge/kind.ts'
import { StandIn } from './forge/stand-in.ts'

export interface Forge {
  readonly url: string
  /** Of its claims: `params.host`. */
  readonly host: string
  /** Every request, oldest first. */
  readonly requests: string[]
  /** Pushes a new commit. Its id. */
  push(branch: string, parents?: readonly string[]): Promise<string>
  close(): Promise<void>
}

const ROOT = '/repos/{owner}/{name}'
const notFound = (): Reply => ({ status: 404, body: {} })
const found = (body: object | undefined): Reply => (body ? { status: 200, body } : notFound())

const TINY_FORGE: CodeHostKind = {
  name: 'Tiny Forge',
  basePath: '',
  check: () => undefined,
  sharesNumbers: true,
  find: ({ owner, name }) => ({ slug: `${owner}/${name}` }),
  notFound,
  badCredentials: () => ({ status: 401, body: {} }),
  plainRoutes: [{ template: '/', answer: ({ token }) => ({ status: token ? 200 : 401, body: {} }) }],
  routes: [
    { template: ROOT, answer: ({ repository }) => found({ id: 7, name: repository.slug }) },
    { template: `${ROOT}/branches/{branch}`, wide: ['branch'], answer: branch },
    {
      template: `${ROOT}/commits/{sha}`,
      answer: async ({ state, params }) =>
        found(state.has(params.sha!) ? { branches: await state.branchesContaining(params.sha!) } : undefined),
    },
    { template: `${ROOT}/contains`, answer: contains },
  ],
}

function branch({ state, params }: Call): Reply {
  const tip = state.tip(params.branch!)
  return found(tip === undefined ? undefined : { tip })
}

async function contains({ repository, state, query }: Call): Promise<Reply> {
  const [older, newer] = ['older', 'newer'].map((name) => query.get(name)!) as [string, string]
  if (!state.has(older) || !state.has(newer)) return notFound()
  return found({ contains: await repository.pool.isAncestor(older, newer) })
}

/** @param token without it nothing is shown */
export async function startForge({ slug, token }: { slug: string; token: string }): Promise<Forge> {
  const standIn = await StandIn.start(TINY_FORGE)
  const repository = await standIn.createRepository(slug, { isPrivate: true })
  standIn.addToken({ token, repositories: [repository] })
  return {
    url: standIn.url,
    host: new URL(standIn.url).host,
    requests: standIn.requests,
    async push(branch, parents) {
      const tip = repository.asOf().tip(branch)
      const sha = await repository.commit({ parents: parents ?? (tip === undefined ? [] : [tip]) })
      await repository.push(branch, sha)
      return sha
    },
    close: () => standIn.close(),
  }
}
