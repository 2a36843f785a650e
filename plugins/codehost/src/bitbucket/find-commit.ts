/** Where Bitbucket Cloud has a commit. It shows no push log, so it says nothing of when. */
import type { CheckContext } from '@claimcheck/core/plugin'
import type { CommitQuery, FoundCommit } from '../code-host.ts'
import { findInHistories } from '../without-log.ts'
import type { BitbucketAccess } from './api.ts'
import { AGE_MS, openRepository, type Repository } from './repository.ts'

export async function findCommit(
  access: BitbucketAccess,
  query: CommitQuery,
  context: CheckContext,
): Promise<FoundCommit> {
  const repository = openRepository(access, query.repository, context)
  const { tip, identity } = await repository.branch(query.branch)
  const found = await findInHistories(query, context, {
    head: tip,
    contains: repository.contains,
    isKnown: repository.isKnown,
    findElsewhere: () => findElsewhere(repository, query),
    createdAt: async () => (await repository.show()).createdAt,
  })
  return { ...identity, ...found, ageMs: AGE_MS }
}

/** Only a branch's tip is found, and what is on the main branch. */
async function findElsewhere(repository: Repository, { sha, branch }: CommitQuery): Promise<string | undefined> {
  const named = (await repository.branchesWithTip(sha)).find((name) => name !== branch)
  if (named !== undefined) return named
  const { mainBranch } = await repository.show()
  if (mainBranch === undefined || mainBranch === branch) return undefined
  const { tip } = await repository.branch(mainBranch)
  return tip !== undefined && (await repository.contains(sha, tip)) ? mainBranch : undefined
}
