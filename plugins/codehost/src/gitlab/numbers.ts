/** Merge requests and issues that GitLab does not show: whether their numbers were ever given out. */
import type { Mark } from '@claimcheck/core/plugin'
import type { NumberQuery } from '../code-host.ts'
import { wasSeen } from '../forgetting.ts'
import { unexpected } from '../http-failure.ts'
import { NumbersAnswer } from './answers.ts'
import type { GitLabApi } from './api.ts'
import type { Project } from './project.ts'

/** The newest by time need not have the highest number: owners may choose the time of an issue. */
const NEWEST = 20

/**
 * Numbers are not given again. One that is not above the highest was deleted, or is hidden. The one above it may have been the
 * highest, and deleted by an owner; of those further above, several would have been.
 *
 * @param list the path of the list, which has to be readable with these credentials
 */
export async function markOfMissing(
  api: GitLabApi,
  { id }: Project,
  list: string,
  query: NumberQuery,
): Promise<Mark | undefined> {
  const { value } = await api.get(`${list}&order_by=created_at&sort=desc&per_page=${NEWEST}`, NumbersAnswer)
  if (value.some(({ project_id }) => project_id !== id)) throw unexpected()
  const highest = Math.max(0, ...value.map(({ iid }) => iid))
  if (query.number > highest + 1) return 'never_before'
  return query.number <= highest || wasSeen(query) ? 'may_have_been' : undefined
}
