/** The verifier of `codehost.commit.push`: asks the claim's code host for the commit, and reports what it showed. */
import {
  type AnonymousSource,
  type CheckContext,
  type Claim,
  type Connection,
  DestinationError,
  defineVerifier,
  type Observation,
  type Verifier,
} from '@claimcheck/core/plugin'
import type { CodeHost, FoundCommit, Provider } from './code-host.ts'
import { ownerOf } from './connection-options.ts'
import { commitPushProfile, type Facts, isBranchName, type Params } from './profile.ts'

/** Read without credentials, for claims of workspaces that have no connection. */
export interface PublicHost {
  readonly host: CodeHost
  readonly provider: string
  readonly baseUrl: string
  /** The names that `params.host` may give it. */
  readonly names: readonly string[]
}

export interface CodeHosts {
  readonly providers: readonly Provider[]
  /** Without one, every claim needs a connection. */
  readonly publicHost?: PublicHost
}

/** What both versions of the verifier have in common: where they look, and how a claim's commit is found. */
export function createFinder({ providers, publicHost }: CodeHosts) {
  const byName = new Map(providers.map((provider) => [provider.connectionType.provider, provider]))

  function hostFor(connection: Connection | null, name: string | undefined): CodeHost {
    if (connection) return byName.get(connection.provider)!.open(connection)
    if (!publicHost || !answersTo(publicHost, name)) throw new DestinationError('no_connection')
    return publicHost.host
  }

  async function find({ target, params, claimedAt }: Claim<Params>, context: CheckContext): Promise<FoundCommit> {
    const [owner, repository] = target.split('/') as [string, string]
    const { sha, branch, host, pusher } = params
    const { toleranceMs, removedWithinMs = 0 } = commitPushProfile
    const found = await hostFor(context.connection, host).findCommit(
      {
        owner,
        repository,
        sha,
        branch,
        claimedAt,
        inTimeUntil: claimedAt + toleranceMs,
        logFrom: claimedAt - removedWithinMs,
        previous: context.previous,
        ...(pusher === undefined ? {} : { pusher }),
      },
      context,
    )
    refuseAnotherRepository(found, context)
    refuseAnotherOwner(found, owner, context.connection)
    return found
  }

  /** Somebody else's repository under the claimed name, by a redirect, is not the one that was claimed. */
  function refuseAnotherOwner({ repositoryName }: FoundCommit, owner: string, connection: Connection | null): void {
    if (repositoryName === undefined) return
    const finalOwner = ownerOf(repositoryName)
    if (finalOwner === owner.toLowerCase()) return
    const owners = connection && byName.get(connection.provider)!.ownersOf(connection)
    const trusted = (owners ?? []).map((name) => name.toLowerCase())
    if (!trusted.includes(finalOwner) || !trusted.includes(owner.toLowerCase())) {
      throw new DestinationError('ambiguous_claim')
    }
  }

  const common = {
    providers: [...byName.keys()],
    normalize,
    ...(publicHost && { anonymousSource: ({ params }: Claim<Params>) => sourceFor(publicHost, params.host) }),
  }
  return { find, common }
}

function sourceFor(publicHost: PublicHost, name: string | undefined): AnonymousSource | undefined {
  const { provider, baseUrl } = publicHost
  return answersTo(publicHost, name) ? { provider, baseUrl } : undefined
}

function answersTo({ names }: PublicHost, name: string | undefined): boolean {
  return name === undefined || names.includes(name)
}

export function createCommitPush(hosts: CodeHosts): Verifier {
  const { find, common } = createFinder(hosts)
  return defineVerifier({
    ...common,
    profile: commitPushProfile,
    check: async (claim, context) => toObservation(await find(claim, context)),
  })
}

function normalize<P extends Pick<Params, 'sha' | 'host'>>({ target, params }: { target: string; params: P }) {
  return {
    target,
    params: {
      ...params,
      sha: params.sha.toLowerCase(),
      ...(params.host === undefined ? {} : { host: params.host.toLowerCase() }),
    },
  }
}

/** A repository that was deleted and made again under its name is not the one that was claimed. */
function refuseAnotherRepository({ repositoryId }: FoundCommit, { previous }: CheckContext): void {
  const ids = previous.map(({ observation }) => observation.facts.repository_id).filter((id) => id !== undefined)
  if (repositoryId !== undefined && ids.some((id) => id !== repositoryId)) throw new DestinationError('ambiguous_claim')
}

function toObservation(found: FoundCommit): Observation<Facts> {
  const { place, stays, mark, ageMs } = found
  const observed = {
    facts: factsOf(found),
    ...(stays === undefined ? {} : { stays }),
    ...(ageMs === undefined ? {} : { ageMs }),
  }
  switch (place.at) {
    case 'branch':
      return { kind: 'present', differs: [], ...observed }
    // Not final: a merge into the claimed branch may still come.
    case 'another_branch':
      return { kind: 'present', differs: ['branch'], ...observed, ...(mark === undefined ? {} : { mark }) }
    case 'nowhere':
      return { kind: 'absent', ...observed, ...(mark === undefined ? {} : { mark }) }
  }
}

function factsOf(found: FoundCommit): Facts {
  const { place, head, repositoryId, repositoryName, pushedAt, removedAt, preexisting, pusherMatches } = found
  return {
    ...(repositoryName === undefined ? {} : { repository: repositoryName }),
    ...(repositoryId === undefined ? {} : { repository_id: repositoryId }),
    branch_listed: head !== undefined,
    ...(head === undefined ? {} : { head }),
    ...(pushedAt === undefined ? {} : { pushed_at: new Date(pushedAt).toISOString() }),
    ...(removedAt === undefined ? {} : { removed_at: new Date(removedAt).toISOString() }),
    ...(place.at === 'another_branch' && isBranchName(place.name) ? { found_on: place.name } : {}),
    ...(preexisting ? { preexisting } : {}),
    ...(pusherMatches === undefined ? {} : { pusher_matches: pusherMatches }),
  }
}
