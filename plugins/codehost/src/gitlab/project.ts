/** Reads a project at GitLab, the rights of these credentials as far as it shows them, and its git repository. */
import { type CheckContext, clockBehindMs, DestinationError } from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import type { RepositoryQuery } from '../code-host.ts'
import { keepParts } from '../lately.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { CommitAnswer, HoldersAnswer, ParentsAnswer, ProjectAnswer, RefAnswer } from './answers.ts'
import { createGitLabApi, type GitLabApi } from './api.ts'

export type Project = Awaited<ReturnType<typeof openProject>>

/** The age that answers may have: GitLab reads from a replica of its database as long as that is not further behind. Milliseconds. */
const AGE_MS = 60_000

/** The level of the Planner, the first of the roles that see confidential issues. */
const SEES_CONFIDENTIAL = 15

/**
 * Reads the claimed project, and opens what is read by it: the API and its git repository.
 * @param isWaiting what was read lately is as good
 * @throws DestinationError `forbidden` when we cannot see it: it is private, missing, or the permission is
 */
export async function openProject(
  access: RestAccess,
  { repository }: Pick<RepositoryQuery, 'repository'>,
  context: CheckContext,
  isWaiting = false,
) {
  const { now } = context
  const api = createGitLabApi(access, context)
  const shown = await keepParts(context, isWaiting).long(`gitlab ${repository}`, async () => {
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
  const { reporters } = access
  return { ...shown, api, reporters, repository: openRepository(api, shown, context) }
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
export function isOwnTime(text: string, { createdAt }: Pick<Project, 'createdAt'>): boolean {
  return Date.parse(text) >= createdAt
}

/** Opens the git repository. Each question has the one endpoint whose answer is reliable for it. */
function openRepository(
  api: GitLabApi,
  { id, path }: { readonly id: number; readonly path: string },
  { cache }: Pick<CheckContext, 'cache'>,
) {
  const root = `${path}/repository`

  async function tipOf(kind: 'branches' | 'tags', name: string): Promise<string | undefined> {
    const { value: ref } = await api.find(`${root}/${kind}/${encodeURIComponent(name)}`, RefAnswer)
    if (ref && ref.name !== name) throw unexpectedAnswer()
    return ref?.commit.id
  }

  return {
    /** Reads the tip of a branch; undefined when there is no such branch. */
    head: (branch: string) => cache.share(`gitlab ${id} branch ${branch}`, () => tipOf('branches', branch)),
    /** Reads the commit to which a tag leads; undefined when there is no such tag. */
    tagged: (tag: string) => cache.share(`gitlab ${id} tag ${tag}`, () => tipOf('tags', tag)),
    /** Tells whether `sha` is `tip` or one of its ancestors; undefined when GitLab lacks one of them, or they have no common history. */
    contains: (sha: string, tip: string) =>
      isReachable(sha, tip, cache, async () => {
        const refs = new URLSearchParams([
          ['refs[]', sha],
          ['refs[]', tip],
        ])
        // A 400 means that GitLab does not know one of the commits, and a 404 that they have nothing in common.
        const { value: base } = await api.find(`${root}/merge_base?${refs}`, CommitAnswer, [400, 404])
        return base && base.id === sha
      }),
    /** Tells whether GitLab has a commit. `false` is certain. `true` does not mean that the commit was pushed to this project: forks share objects. */
    async knows(sha: string): Promise<boolean> {
      const { value: commit } = await api.find(`${root}/commits/${sha}`, CommitAnswer)
      if (commit && commit.id !== sha) throw unexpectedAnswer()
      return commit !== undefined
    },
    /** Tells whether GitLab names a commit for the ref that it makes with a merge request, and removes long after that is closed. */
    async keepsMergeRequest(number: number): Promise<boolean> {
      const ref = encodeURIComponent(`refs/merge-requests/${number}/head`)
      return (await api.find(`${root}/commits/${ref}`, CommitAnswer)).value !== undefined
    },
    /** Reads the parents of a commit; none for one that GitLab does not know. */
    async parents(sha: string): Promise<readonly string[]> {
      const { value } = await api.find(`${root}/commits/${sha}`, ParentsAnswer)
      return value?.parent_ids ?? []
    },
    /** Finds branches that have the commit, some of them where there are many; undefined when GitLab does not know the commit. */
    async branchesWith(sha: string): Promise<readonly string[] | undefined> {
      const { value } = await api.find(`${root}/commits/${sha}/refs?type=branch&per_page=100`, HoldersAnswer)
      return value?.map(({ name }) => name)
    },
  }
}
