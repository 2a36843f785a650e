/** Reads a project at GitLab, and the rights of these credentials as far as it shows them. */
import { type CheckContext, clockBehindMs, DestinationError } from '@claimcheck/core/plugin'
import type { RepositoryQuery } from '../code-host.ts'
import { keepParts } from '../lately.ts'
import { ProjectAnswer } from './answers.ts'
import type { GitLabApi } from './api.ts'

export type Project = Awaited<ReturnType<typeof readProject>>

/** The age that answers may have: GitLab reads from a replica of its database as long as that is not further behind. Milliseconds. */
export const AGE_MS = 60_000

/** The level of the Planner, the first of the roles that see confidential issues. */
const SEES_CONFIDENTIAL = 15

/** Reads a project. @throws DestinationError `forbidden` when we cannot see it: it is private, missing, or the permission is */
export async function readProject(
  api: GitLabApi,
  { repository }: Pick<RepositoryQuery, 'repository'>,
  context: Pick<CheckContext, 'cache' | 'now'>,
  isWaiting = false,
) {
  const { now } = context
  return keepParts(context, isWaiting).long(`gitlab ${repository}`, async () => {
    const { value: answer, headers } = await api.get(`/projects/${encodeURIComponent(repository)}`, ProjectAnswer)
    const behindMs = clockBehindMs(headers, now())
    const createdAt = Date.parse(answer.created_at)
    // A second is added because `Date` has whole seconds.
    const madeBy = createdAt + 1000 + (behindMs ?? 0)
    return {
      id: answer.id,
      /** The path of the project's own requests, by its number, which is still the same after a rename. */
      path: `/projects/${answer.id}`,
      answer,
      /** The time when the project was made, by the host's own clock. */
      createdAt,
      /** The time when the project was made, at the latest, by our clock. */
      madeBy,
      /** The facts of the project that every answer has. */
      found: {
        repositoryId: String(answer.id),
        repositoryName: answer.path_with_namespace,
        repositoryCreatedAt: madeBy,
        ageMs: AGE_MS,
        clockBehindMs: behindMs,
      },
    }
  })
}

/** Requires the right to read code. @throws DestinationError `forbidden` where these credentials may see that the project exists, and not its code */
export function requireCode({ answer }: Project): void {
  if (answer.default_branch === undefined) throw new DestinationError('forbidden')
}

/** Tells whether these credentials see confidential issues, which GitLab hides from everybody else without saying so. */
export function seesConfidentialIssues({ answer: { permissions } }: Project): boolean {
  const levels = [permissions?.project_access, permissions?.group_access].map((access) => access?.access_level ?? 0)
  return Math.max(...levels) >= SEES_CONFIDENTIAL
}

/** Tells whether a time is GitLab's own: one from before the project was made came with it from elsewhere, and whoever imported it could choose it. */
export function isOwnTime(text: string, { createdAt }: Project): boolean {
  return Date.parse(text) >= createdAt
}
