/** Reads Vercel's REST API within one scope: a team, or the account of a user. */
import { bearer, type CheckContext, DestinationError, type Static, type TSchema, Type } from '@claimcheck/core/plugin'

export const VERCEL_API = 'https://api.vercel.com'

const Maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

const Team = Type.Object({ id: Type.String(), slug: Type.String() })
const User = Type.Object({
  user: Type.Object({ id: Type.String(), username: Type.String(), defaultTeamId: Maybe(Type.String()) }),
})
const Project = Type.Object({
  id: Type.String(),
  name: Type.String(),
  accountId: Type.String(),
  paused: Maybe(Type.Boolean()),
  rollingRelease: Maybe(Type.Unknown()),
})
export type Project = Static<typeof Project>

const Domains = Type.Object({
  domains: Type.Array(
    Type.Object({
      name: Type.String(),
      verified: Type.Optional(Type.Boolean()),
      redirect: Maybe(Type.String()),
      gitBranch: Maybe(Type.String()),
      customEnvironmentId: Maybe(Type.String()),
    }),
  ),
  pagination: Maybe(Type.Object({ next: Maybe(Type.Integer()) })),
})

const Alias = Type.Object({
  alias: Type.String(),
  deploymentId: Maybe(Type.String()),
  projectId: Maybe(Type.String()),
  updatedAt: Maybe(Type.Number()),
  redirect: Maybe(Type.String()),
})
export type Alias = Static<typeof Alias>

const Deployment = Type.Object({
  id: Type.String(),
  projectId: Maybe(Type.String()),
  readyState: Type.String(),
  readySubstate: Maybe(Type.String()),
  createdAt: Type.Number(),
  ready: Maybe(Type.Number()),
  gitSource: Maybe(Type.Object({ sha: Maybe(Type.String()) })),
})
export type Deployment = Static<typeof Deployment>

const Release = Type.Object({
  rollingRelease: Type.Union([
    Type.Null(),
    Type.Object({
      state: Type.String(),
      currentDeployment: Maybe(Type.Object({ id: Type.String() })),
      canaryDeployment: Maybe(Type.Object({ id: Type.String() })),
      updatedAt: Maybe(Type.Number()),
    }),
  ]),
})
export type Release = NonNullable<Static<typeof Release>['rollingRelease']>

export interface Access {
  readonly token: string
  readonly team_id?: string | undefined
  readonly base_url?: string | undefined
}

type Query = Readonly<Record<string, string>>

/** Opens a scope. @throws DestinationError `forbidden` where the credentials are of another than the named one */
export async function openScope(
  { token, team_id, base_url }: Access,
  { http }: Pick<CheckContext, 'http'>,
  named?: string,
) {
  const base = (base_url ?? VERCEL_API).replace(/\/+$/, '')
  const auth = bearer(token)
  const urlOf = (path: string, query: Query) =>
    `${base}${path}${Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''}`
  const read = async <T extends TSchema>(path: string, schema: T, query: Query = {}) =>
    (await http.json(urlOf(path, query), { schema, auth })).value

  // A token that names no team asks the team that its user has as a default, if he has one.
  const user = team_id === undefined ? (await read('/v2/user', User)).user : undefined
  const teamId = team_id ?? user?.defaultTeamId ?? undefined
  // The name of a user means his own account, and not his default team's.
  const isOwn = named === undefined || (teamId === undefined && named === user?.username)
  const team =
    teamId === undefined || (isOwn && user) ? undefined : await read(`/v2/teams/${encodeURIComponent(teamId)}`, Team)
  if (team && team.id !== teamId) throw new DestinationError('unexpected_response')
  if (!isOwn && named !== team?.slug) throw new DestinationError('forbidden')
  const scope: Query = teamId === undefined ? {} : { teamId }
  const owner = teamId ?? user?.id

  return {
    /** Reads a project of the scope. @throws DestinationError `ambiguous_claim` for one of another name or scope */
    async project(name: string): Promise<Project> {
      const project = await read(`/v9/projects/${encodeURIComponent(name)}`, Project, scope)
      if (project.name !== name || project.accountId !== owner) throw new DestinationError('ambiguous_claim')
      return project
    },
    /** The domains of production that lead to a deployment, and to no other domain. */
    async productionDomains({ id }: Project): Promise<readonly string[]> {
      const { domains, pagination } = await read(`/v9/projects/${id}/domains`, Domains, {
        ...scope,
        production: 'true',
        limit: '100',
      })
      if (pagination?.next != null) throw new DestinationError('too_large')
      const own = domains.filter(
        (one) =>
          one.verified !== false && one.redirect == null && one.gitBranch == null && one.customEnvironmentId == null,
      )
      return own.map(({ name }) => name.toLowerCase())
    },
    /** Reads the assignment of a domain; undefined where it leads to no deployment. */
    async alias(domain: string, { id }: Project): Promise<Alias | undefined> {
      const url = urlOf(`/v4/aliases/${encodeURIComponent(domain)}`, { ...scope, projectId: id })
      const { value } = await http.json(url, { schema: Alias, auth, also: [404] })
      if (value && value.alias.toLowerCase() !== domain) throw new DestinationError('unexpected_response')
      return value
    },
    async deployment(id: string): Promise<Deployment> {
      const deployment = await read(`/v13/deployments/${encodeURIComponent(id)}`, Deployment, scope)
      if (deployment.id !== id) throw new DestinationError('unexpected_response')
      return deployment
    },
    /** The rolling release of a project; undefined where it never had one. */
    release: async ({ id }: Project): Promise<Release | undefined> =>
      (await read(`/v1/projects/${id}/rolling-release`, Release, scope)).rollingRelease ?? undefined,
  }
}
