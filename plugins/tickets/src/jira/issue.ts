/** Reads an issue of Jira with its history. */
import { DestinationError } from '@claimcheck/core/plugin'
import { type Change, type Issue, inOrder, timeOf } from '../history.ts'
import type { Category } from '../profile.ts'
import { targetOf } from '../target.ts'
import type { ReadIssue } from '../transition.ts'
import { type Entry, openJira } from './api.ts'
import type { Options } from './connection.ts'

/** The categories of Jira by their keys. That of statuses without one, `undefined`, is none of them. */
const CATEGORIES: ReadonlyMap<string, Category> = new Map([
  ['new', 'open'],
  ['indeterminate', 'in_progress'],
  ['done', 'done'],
])

export const readIssue: ReadIssue = async ({ target, params }, { connection }, reads): Promise<Issue> => {
  const jira = openJira(connection!.options as Options, reads)
  const { key } = targetOf(target)
  const issue = await jira.issue(key)
  const { status, created } = issue.fields
  const { entries, isOfIssue } = await jira.history(issue)
  if (issue.key !== key && !(await leadsTo(jira, key, issue.key, entries)))
    throw new DestinationError('ambiguous_claim')
  const changes = inOrder(entries, ({ created, id }) => [created, Number(id)]).flatMap(changesIn)
  const last = changes.at(-1)
  // The issue was moved between the two answers.
  if (!isOfIssue && last && last.to !== status.id) throw new DestinationError('unexpected_response')
  const isNeeded = params.category !== undefined && changes.length > 0
  const statuses = isNeeded ? [...(await jira.statuses()), status] : [status]
  const categories = new Map(statuses.map(({ id, statusCategory }) => [id, CATEGORIES.get(statusCategory.key)]))
  return {
    id: issue.id,
    key: issue.key,
    status: status.id,
    createdAt: timeOf(created),
    changes,
    categoryOf: (one) => categories.get(one),
  }
}

/** Tells whether a key that an issue had leads to it under its own: it was moved, or its project was given another key. */
async function leadsTo(
  jira: ReturnType<typeof openJira>,
  earlier: string,
  key: string,
  entries: readonly Entry[],
): Promise<boolean> {
  if (entries.some(({ items }) => items.some(({ field, fromString }) => field === 'Key' && fromString === earlier)))
    return true
  const [[earlierProject, earlierNumber], [project, number]] = [earlier.split('-'), key.split('-')]
  return number === earlierNumber && (await jira.project(earlierProject!)).key === project
}

function changesIn({ created, author, items }: Entry): readonly Change[] {
  const by = author?.accountId ?? author?.key ?? undefined
  // A field that people added may be called status, too.
  return items
    .filter(({ field, fieldtype = 'jira' }) => field === 'status' && fieldtype === 'jira')
    .map(({ from, to }) => ({ at: timeOf(created), from: from ?? undefined, to: to ?? undefined, by: accountOf(by) }))
}

/** The id of an account in the form that facts and claims have; undefined for any other. */
function accountOf(id: string | undefined): string | undefined {
  // Jira's id of accounts that were erased names nobody.
  return id !== undefined && id !== 'unknown' && /^[0-9A-Za-z][0-9A-Za-z:._-]{0,127}$/.test(id) ? id : undefined
}
