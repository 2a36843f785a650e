/** A code host that a third party adds to `codehost.*`: a plugin of its own, which the tests copy into a package of its own. */
import {
  bearer,
  type CheckContext,
  DestinationError,
  defineConnectionType,
  definePlugin,
  isDestinationError,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import {
  baseUrl,
  type CommitQuery,
  codeHostVerifiers,
  defineProvider,
  type FoundCommit,
  fitsClaim,
  hostName,
  isReachable,
  markOf,
  withoutTrailingSlash,
} from '@claimcheck/plugin-codehost/provider'

const Options = Type.Object(
  { base_url: baseUrl('The address of the forge.'), token: secret({ description: 'A token that can read.' }) },
  { additionalProperties: false },
)
type Options = Static<typeof Options>

const Repository = Type.Object({ id: Type.Integer(), name: Type.String() })
const Branch = Type.Object({ tip: Type.String() })
const Commit = Type.Object({ branches: Type.Array(Type.String()) })
const Comparison = Type.Object({ contains: Type.Boolean() })

async function findCommit(
  { base_url, token }: Options,
  query: CommitQuery,
  context: CheckContext,
): Promise<FoundCommit> {
  const { repository, branch, sha } = query
  const auth = bearer(token)
  const root = `${withoutTrailingSlash(base_url)}/repos/${repository}`
  const { value: shown } = await context.http.json(root, { schema: Repository, auth })
  const found = { repositoryId: String(shown.id), repositoryName: shown.name }
  const branchUrl = `${root}/branches/${encodeURIComponent(branch)}`
  const { value: branchShown } = await context.http.json(branchUrl, { schema: Branch, auth, also: [404] })
  const head = branchShown?.tip
  const contains = (older: string, newer: string) =>
    isReachable(older, newer, context.cache, async () => {
      const url = `${root}/contains?older=${older}&newer=${newer}`
      const { value } = await context.http.json(url, { schema: Comparison, auth, also: [404] })
      return value?.contains
    })
  const shownHead = head === undefined ? {} : { head }
  if (head !== undefined && (await contains(sha, head))) return { ...found, ...shownHead, place: { at: 'branch' } }
  const { value: known } = await context.http.json(`${root}/commits/${sha}`, { schema: Commit, auth, also: [404] })
  const [name] = known?.branches ?? []
  const place = name === undefined ? ({ at: 'nowhere' } as const) : ({ at: 'another_branch', name } as const)
  const isKnown = known !== undefined
  const mark = await markOf(query, { place, head, isKnown, keepsObjects: true, isAncestor: contains })
  return { ...found, ...shownHead, place, ...(mark === undefined ? {} : { mark }) }
}

const tinyforge = defineProvider<Options>({
  connectionType: defineConnectionType({
    provider: 'tinyforge',
    title: 'Tinyforge',
    options: Options,
    help: 'Make a token under Settings.',
    baseUrl: ({ base_url }) => withoutTrailingSlash(base_url),
    fits: ({ base_url }, claim) => fitsClaim(claim, [hostName(base_url)], undefined),
    async probe({ base_url, token }, { http }) {
      try {
        await http.head(base_url, { auth: bearer(token) })
      } catch (error) {
        throw isDestinationError(error) ? error : new DestinationError('unavailable')
      }
      return { proves: 'works', scopes: [], warnings: [] }
    },
  }),
  access: ({ options }) => options as Options,
  ownersOf: () => undefined,
  readers: { commit: findCommit },
})

export default definePlugin({
  name: 'tinyforge',
  api: 3,
  manifest: { hosts: ['connection.base_url'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: codeHostVerifiers([tinyforge]), connections: [tinyforge.connectionType] }),
})
