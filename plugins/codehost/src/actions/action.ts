/** The stages that all actions of code hosts share: where a claim is read, whether it is still the same repository, and what is recorded of it. */
import {
  type ActionProfile,
  type Claim,
  type Connection,
  DestinationError,
  defineVerifier,
  type JsonObject,
  type Observation,
  type Static,
  type TSchema,
  type Verifier,
  windowStart,
} from '@claimcheck/core/plugin'
import type { FoundRepository, Provider, Reader, Readers, RepositoryQuery } from '../code-host.ts'
import { isWithin, namespaceOf } from '../connection-options.ts'
import { isMadeAfter } from '../forgetting.ts'
import { atLast } from '../times.ts'

/** A host that is read without credentials, for claims of workspaces that have no connection. */
export interface PublicHost {
  readonly provider: Provider
  /** The address and the credentials, in the form that the provider's readers take. */
  readonly access: unknown
  readonly baseUrl: string
  /** The names that `params.host` may give this host. */
  readonly names: readonly string[]
}

export interface CodeHosts {
  readonly providers: readonly Provider[]
  /** The host that is read without credentials. Without one, every claim needs a connection. */
  readonly publicHost?: PublicHost
}

/** An action, for the code hosts of an installation; undefined where none of them can read it. */
export type Action = (hosts: CodeHosts) => Verifier | undefined

export function defineAction<P extends TSchema, F extends TSchema, X extends FoundRepository>({
  profile,
  reader,
  observe,
}: {
  readonly profile: ActionProfile<P, F>
  /** Chooses the reader that is asked, with the claim's params. Providers without it do not offer the action. */
  reader(readers: Readers<unknown>): Reader<unknown, RepositoryQuery & Static<P>, X> | undefined
  /** Judges what was found. Members without a value are left out of the observation, of its facts and of its stays. */
  observe(
    found: X,
    claim: Claim<Static<P>>,
    query: RepositoryQuery,
  ): Observation<Static<F>> | Promise<Observation<Static<F>>>
}): Action {
  return ({ providers, publicHost }) => {
    const readable = providers.filter(({ readers }) => reader(readers) !== undefined)
    if (readable.length === 0) return undefined
    const byName = new Map(readable.map((provider) => [provider.connectionType.provider, provider]))
    const anonymous = publicHost && byName.has(publicHost.provider.connectionType.provider) ? publicHost : undefined

    function sourceOf(connection: Connection | null, { host }: JsonObject): Pick<PublicHost, 'provider' | 'access'> {
      const provider = connection && byName.get(connection.provider)
      if (connection && provider) return { provider, access: provider.access(connection) }
      if (connection || !anonymous || !answersTo(anonymous, host)) throw new DestinationError('no_connection')
      return anonymous
    }

    return defineVerifier<P, F>({
      profile,
      providers: [...byName.keys()],
      normalize,
      ...(anonymous && {
        anonymousSource: ({ params }: Claim<Static<P>>) =>
          answersTo(anonymous, (params as JsonObject).host)
            ? { provider: anonymous.provider.connectionType.provider, baseUrl: anonymous.baseUrl }
            : undefined,
      }),
      async check(claim, context) {
        const { params } = claim
        const { provider, access } = sourceOf(context.connection, params as JsonObject)
        const { target: repository, claimedAt, submittedAt } = claim
        const query: RepositoryQuery = {
          repository,
          claimedAt,
          submittedAt,
          windowFrom: windowStart(claim, profile.removedWithinMs),
          inTimeUntil: claimedAt + profile.toleranceMs,
          sentAt: context.now(),
          previous: context.previous,
        }
        const found = await reader(provider.readers)!(access, { ...params, ...query }, context)
        refuseAnotherRepository(found, query)
        refuseAnotherOwner(found, query, context.connection, provider)
        const observation = await observe(found, claim, query)
        return withoutGaps(isMadeAfter(query, found.repositoryCreatedAt) ? withoutBlame(observation) : observation)
      },
    })
  }
}

/** Leaves out the members without a value: a receipt holds only what was seen. */
function withoutGaps<F extends JsonObject>(observation: Observation<F>): Observation<F> {
  const { facts, stays } = observation
  return omitUndefined({ ...observation, facts: omitUndefined(facts), stays: stays?.map(omitUndefined) })
}

function omitUndefined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

function answersTo({ names }: PublicHost, name: unknown): boolean {
  return name === undefined || (typeof name === 'string' && names.includes(name))
}

/** The params that hosts accept in any case, and write in lower case. */
const CASELESS: ReadonlySet<string> = new Set(['sha', 'head_sha', 'merge_commit', 'commit', 'host'])

function normalize<P>({ target, params }: { target: string; params: P }): { target: string; params: P } {
  const entries = Object.entries(params as JsonObject).map(([name, value]) =>
    CASELESS.has(name) && typeof value === 'string' ? [name, value.toLowerCase()] : [name, value],
  )
  return { target, params: Object.fromEntries(entries) as P }
}

/** Refuses a repository that was deleted and made again under its name: it is not the one that was claimed. */
function refuseAnotherRepository({ repositoryId }: FoundRepository, { previous }: RepositoryQuery): void {
  if (repositoryId === undefined) return
  const ids = previous.map(({ observation }) => observation.facts.repository_id).filter((id) => id !== undefined)
  if (ids.some((id) => String(id) !== repositoryId)) throw new DestinationError('ambiguous_claim')
}

/** Refuses somebody else's repository to which the claimed name redirects: it is not the one that was claimed. */
function refuseAnotherOwner(
  { repositoryName }: FoundRepository,
  { repository }: RepositoryQuery,
  connection: Connection | null,
  provider: Provider,
): void {
  if (repositoryName === undefined || namespaceOf(repositoryName) === namespaceOf(repository)) return
  const owners = connection ? provider.ownersOf(connection) : undefined
  const isTrusted = (path: string) => owners?.some((owner) => isWithin(path, owner)) === true
  if (!isTrusted(repositoryName) || !isTrusted(repository)) throw new DestinationError('ambiguous_claim')
}

/** Blames nobody for what is not there: a place that is younger than the claim forgot what was there before. */
function withoutBlame<F>(seen: Observation<F>): Observation<F> {
  const isShown = seen.kind === 'present' && seen.differs.length === 0
  return {
    ...seen,
    stays: seen.stays?.map((stay) => ({ ...stay, appeared: atLast(stay.appeared) })),
    mark: isShown ? seen.mark : 'may_have_been',
  }
}

/** The facts of the repository, as every profile has them. */
export function repositoryFactsOf({ repositoryName, repositoryId }: FoundRepository) {
  return { repository: repositoryName, repository_id: repositoryId }
}
