/** Reads an issue of Redmine with its history. */
import { DestinationError, type LogTime } from '@claimcheck/core/plugin'
import { type Change, type Doubt, type Issue, inOrder, timeOf } from '../history.ts'
import type { Category } from '../profile.ts'
import { targetOf } from '../target.ts'
import type { ReadIssue } from '../transition.ts'
import { type Journal, openRedmine } from './api.ts'
import type { Options } from './connection.ts'

export const readIssue: ReadIssue = async ({ target, params }, { connection }, reads): Promise<Issue> => {
  const redmine = openRedmine(connection!.options as Options, reads)
  const { key } = targetOf(target)
  const { id, status, created_on, closed_on, journals } = await redmine.issue(key)
  if (String(id) !== key) throw new DestinationError('unexpected_response')
  const statuses = params.category === undefined ? [] : await redmine.statuses()
  // A status that was deleted is not in the list, and nothing tells whether it closed issues.
  const categories = new Map<string, Category>(
    statuses.map(({ id, is_closed = false }) => [String(id), is_closed ? 'done' : 'open']),
  )
  // An account may have the latest comments first.
  const changes = inOrder(journals, ({ created_on, id }) => [created_on, id]).flatMap(changesIn)
  return {
    id: key,
    key,
    status: String(status.id),
    createdAt: timeOf(created_on),
    changes,
    // Private journals are left out, and an issue does not tell the status in which it was made.
    mayHideFirst: true,
    doubts: closed_on ? hiddenClosing(timeOf(closed_on), [timeOf(created_on), ...changes.map(({ at }) => at)]) : [],
    categoryOf: (one) => categories.get(one),
  }
}

/** Finds a closing of which only the time is shown: journals that were made private are left out, and those of a reopening with them. */
function hiddenClosing(closedAt: LogTime, shown: readonly LogTime[]): readonly Doubt[] {
  const isShown = shown.some(({ notAfter }) => Math.abs(notAfter - closedAt.notAfter) <= ROUNDING_MS)
  return isShown ? [] : [{ since: closedAt, until: shown.find(({ notAfter }) => notAfter > closedAt.notAfter) }]
}

/** The largest difference between the times of an issue's closing and of its journal, which are whole seconds. */
const ROUNDING_MS = 1000

function changesIn({ created_on, user, details }: Journal): readonly Change[] {
  return details
    .filter(({ property, name }) => property === 'attr' && name === 'status_id')
    .map(({ old_value, new_value }) => ({
      at: timeOf(created_on),
      from: old_value ?? undefined,
      to: new_value ?? undefined,
      by: user && String(user.id),
    }))
}
