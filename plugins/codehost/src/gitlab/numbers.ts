/** Tells of merge requests and issues that GitLab does not show whether their numbers were ever given out. */

import type { Mark, Static } from '@claimcheck/core/plugin'
import { isLogDue } from '../actions/past.ts'
import type { NumberQuery } from '../code-host.ts'
import { isFarAbove, wasSeen } from '../forgetting.ts'
import { unexpectedAnswer } from '../rest.ts'
import { NumbersAnswer } from './answers.ts'
import type { GitLabApi } from './api.ts'
import type { Project } from './project.ts'

/** Number of the newest entries that are listed: the newest by time need not have the highest number, as owners may choose the time of an issue. */
const NEWEST = 20

/**
 * Marks a merge request or an issue that is not shown. Numbers are not given again. A number that is not above the highest was deleted, or is hidden,
 * as those of banned accounts are. The number above it may have been the highest, and deleted by an owner; of those further above, several would have
 * been.
 * @param list the path of the list, which has to be readable with these credentials
 * @param isWithoutTrace tells whether the project keeps nothing of that number that it keeps of those in the list; without it, it may keep nothing
 */
export async function markOfMissing(
  api: GitLabApi,
  { id }: Project,
  list: string,
  query: NumberQuery,
  isWithoutTrace?: (shown: Static<typeof NumbersAnswer>) => Promise<boolean>,
): Promise<Mark | undefined> {
  if (wasSeen(query)) return 'may_have_been'
  if (!isLogDue(query)) return undefined
  const { number } = query
  const { value } = await api.get(`${list}&order_by=created_at&sort=desc&per_page=${NEWEST}`, NumbersAnswer)
  if (value.some(({ project_id }) => project_id !== id)) throw unexpectedAnswer()
  const highest = Math.max(0, ...value.map(({ iid }) => iid))
  if (isFarAbove(number, highest)) return 'never_before'
  if (number <= highest || !(await isWithoutTrace?.(value))) return 'may_have_been'
  return number > highest + 1 ? 'never_before' : undefined
}
