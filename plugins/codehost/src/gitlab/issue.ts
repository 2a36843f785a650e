/** Reads an issue at GitLab. Owners may choose its times, so that only our own reads tell when it was closed. */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { FoundIssue, Issue, NumberQuery } from '../code-host.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { IssueAnswer } from './answers.ts'
import { closingsOf, markOfMissing } from './history.ts'
import { openProject, type Project, seesConfidentialIssues } from './project.ts'

export async function findIssue(access: RestAccess, query: NumberQuery, context: CheckContext): Promise<FoundIssue> {
  const project = await openProject(access, query, context)
  const { api, path, answer, found } = project
  const list = `${path}/issues`
  const { value: issue } = await context.cache.share(`gitlab ${project.id} issue ${query.number}`, () =>
    api.find(`${list}/${query.number}`, IssueAnswer),
  )
  if (issue) {
    const closings = () => closingsOf(project, `${list}/${query.number}`, query)
    const shown = toIssue(issue, project, query)
    return { ...found, issue: { ...shown, closings: access.token === undefined ? undefined : closings } }
  }
  // The list is empty where a project has no issues for these credentials; confidential ones are left out of it.
  if (!answer.issues_enabled || !seesConfidentialIssues(project)) throw new DestinationError('forbidden')
  const mark = await markOfMissing(project, `${list}?state=all&scope=all`, query)
  return { ...found, issue: undefined, mark }
}

function toIssue(
  { iid, project_id, state, moved_to_id, _links }: IssueAnswer,
  { id }: Project,
  { number }: NumberQuery,
): Issue {
  if (iid !== number) throw unexpectedAnswer()
  // An issue that is moved to another project is closed here, and goes on there.
  if (project_id !== id || (moved_to_id ?? null) !== null) throw new DestinationError('ambiguous_claim')
  // GitLab's API tells this reason alone.
  const isDuplicate = state === 'closed' && typeof _links?.closed_as_duplicate_of === 'string'
  return { state: state === 'opened' ? 'open' : 'closed', reason: isDuplicate ? 'duplicate' : undefined }
}
