/** The verifier of `codehost.commit.push`: asks the claim's code host for the commit, and reports where it is. */
import {
  type CheckContext,
  DestinationError,
  defineVerifier,
  type Instant,
  type Observation,
  type Verifier,
} from '@claimcheck/core/plugin'
import type { CodeHost, FoundCommit, Provider } from './code-host.ts'
import { commitPushProfile, type Facts, isBranchName } from './profile.ts'

/** The host that is read without credentials, for claims that no connection fits. */
export interface PublicHost {
  readonly host: CodeHost
  /** The values of `params.host` that mean this host. */
  readonly names: readonly string[]
}

export function createCommitPush(providers: readonly Provider[], publicHost: PublicHost): Verifier {
  const byName = new Map(providers.map((provider) => [provider.connectionType.provider, provider]))

  function hostFor({ connection }: CheckContext, name: string | undefined): CodeHost {
    if (connection) return byName.get(connection.provider)!.open(connection)
    if (name !== undefined && !publicHost.names.includes(name)) throw new DestinationError('no_connection')
    return publicHost.host
  }

  return defineVerifier({
    profile: commitPushProfile,
    providers: [...byName.keys()],
    normalize: ({ target, params }) => ({
      target,
      params: {
        ...params,
        sha: params.sha.toLowerCase(),
        ...(params.host === undefined ? {} : { host: params.host.toLowerCase() }),
      },
    }),
    async check({ target, params, claimedAt }, context) {
      const [owner, repository] = target.split('/') as [string, string]
      const { sha, branch } = params
      const inTimeUntil = claimedAt + commitPushProfile.toleranceMs
      const query = { owner, repository, sha, branch, claimedAt, inTimeUntil }
      const found = await hostFor(context, params.host).findCommit(query, context)
      refuseAnotherRepository(found, context.previous)
      return toObservation(found)
    },
  })
}

/** A repository that was deleted and created again under its name is not the one that the claim is about. */
function refuseAnotherRepository({ repositoryId }: FoundCommit, previous: readonly Observation[]): void {
  const ids = previous.map(({ facts }) => facts.repository_id).filter((id) => id !== undefined)
  if (repositoryId !== undefined && ids.some((id) => id !== repositoryId)) throw new DestinationError('ambiguous_claim')
}

function toObservation({ finding, repositoryId, head }: FoundCommit): Observation<Facts> {
  const facts: Facts = {
    ...(repositoryId === undefined ? {} : { repository_id: repositoryId }),
    ...(head === undefined ? {} : { head }),
  }
  switch (finding.where) {
    case 'branch': {
      const { appeared, pushedAt, removedAt, settled } = finding
      return {
        kind: 'present',
        differs: [],
        facts: {
          ...facts,
          ...(pushedAt === undefined ? {} : { pushed_at: timestamp(pushedAt) }),
          ...(removedAt === undefined ? {} : { removed_at: timestamp(removedAt) }),
        },
        ...(appeared === undefined ? {} : { appeared }),
        settled,
      }
    }
    // Not settled: it can still be merged into the claimed branch.
    case 'another_branch':
      return {
        kind: 'present',
        differs: ['branch'],
        facts: { ...facts, ...(isBranchName(finding.name) ? { found_on: finding.name } : {}) },
      }
    case 'nowhere':
      return { kind: 'absent', facts, settled: finding.settled }
  }
}

/** In the form of receipts. */
function timestamp(at: Instant): string {
  return new Date(at).toISOString()
}
