/** Where Bitbucket Data Center has a commit. Its push log is for administrators, so it says nothing of when. */
import type { CheckContext } from '@claimcheck/core/plugin'
import type { CommitQuery, FoundCommit } from '../code-host.ts'
import { findInHistories } from '../without-log.ts'
import type { ServerAccess } from './api.ts'
import { AGE_MS, openRepository } from './repository.ts'

export async function findCommit(
  access: ServerAccess,
  query: CommitQuery,
  context: CheckContext,
): Promise<FoundCommit> {
  const { branch, sha } = query
  const repository = openRepository(access, query.repository, context)
  const identity = await repository.show()
  const head = await repository.head(branch)
  const found = await findInHistories(query, context, {
    head,
    contains: repository.contains,
    isKnown: repository.isKnown,
    findElsewhere: async () => (await repository.branchesWith(sha)).find((name) => name !== branch),
  })
  return { ...identity, ...found, ageMs: AGE_MS }
}
