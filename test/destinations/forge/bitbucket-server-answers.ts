/** Bitbucket Data Center's answers, field by field, for its stand-in. Their description is types alone: the compiler holds them against it. */
import type { components } from '@coderabbitai/bitbucket/server/openapi'
import type { PostedStatus } from './checks.ts'
import type { ForgeEvent } from './events.ts'
import type { ForgeRepository } from './model.ts'
import type { PullRequest } from './pull-requests.ts'

type Schemas = components['schemas']

export function failure(exceptionName: string, message: string) {
  const error = { context: '', exceptionName: `com.atlassian.bitbucket.${exceptionName}`, message }
  return { errors: [error satisfies Schemas['RestErrorMessage']] }
}

export function repositoryAnswer({ id, slug }: ForgeRepository) {
  const [key, name] = slug.split('/') as [string, string]
  return { id, slug: name.toLowerCase(), name, project: { key } } as const satisfies Schemas['RestRepository']
}

export function commitAnswer({ pool }: ForgeRepository, sha: string) {
  return { ...minimal(sha), parents: pool.show(sha).parents.map(minimal) } satisfies Schemas['RestCommit']
}

function minimal(sha: string) {
  return { id: sha, displayId: sha.slice(0, 11) } satisfies Schemas['RestMinimalCommit']
}

export function branchAnswer(name: string, sha: string) {
  return { ...refAnswer(name), latestCommit: sha } satisfies Schemas['RestBranch']
}

export function refAnswer(name: string) {
  return { id: `refs/heads/${name}`, displayId: name, type: 'BRANCH' } as const satisfies Schemas['RestMinimalRef']
}

const STATES = { open: 'OPEN', closed: 'DECLINED', merged: 'MERGED' } as const

export function pullRequestAnswer(repository: ForgeRepository, pullRequest: PullRequest) {
  const { number, state, isDraft, openedAt, closedAt, mergedHow, landed } = pullRequest
  const { base, baseSha, head, headSha, from } = pullRequest
  const answer = {
    ...{ id: number, state: STATES[state], draft: isDraft, createdDate: openedAt },
    ...(closedAt === undefined ? {} : { closedDate: closedAt }),
    fromRef: { ...refAnswer(head), latestCommit: headSha, repository: repositoryAnswer(from) },
    toRef: { ...refAnswer(base), latestCommit: baseSha, repository: repositoryAnswer(repository) },
  } satisfies Schemas['RestPullRequest']
  // The types leave the properties out. A merge that somebody pushed has none.
  const isOwn = landed !== undefined && mergedHow !== 'manually'
  return { ...answer, properties: isOwn ? { mergeCommit: minimal(landed) } : {} }
}

const BUILD_STATES = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', error: 'CANCELLED' } as const

const ACTIONS: Readonly<
  Partial<Record<ForgeEvent['kind'], NonNullable<Schemas['RestPullRequestActivity']['action']>>>
> = {
  ...{ opened: 'OPENED', closed: 'DECLINED', reopened: 'REOPENED', merged: 'MERGED', commented: 'COMMENTED' },
  ...{ base_changed: 'RESCOPED', head_moved: 'RESCOPED', head_forced: 'RESCOPED' },
}

/** Newest first. */
export function activityAnswers(events: readonly ForgeEvent[]) {
  return events
    .flatMap(({ id, at, by, kind }) => {
      const action = ACTIONS[kind]
      return action === undefined ? [] : [{ id, createdDate: at, user: { name: by, slug: by, type: 'NORMAL' }, action }]
    })
    .reverse()
}

/** `context` is the name, with the key behind it where that is another: `Unit tests @ unit`. */
export function buildAnswer({ context, state, createdAt, updatedAt }: PostedStatus) {
  const [name, key = name] = context.split(' @ ') as [string, string?]
  return {
    key,
    name,
    state: BUILD_STATES[state],
    url: `https://ci.example.com/${encodeURIComponent(key)}`,
    createdDate: createdAt,
    updatedDate: updatedAt,
  } satisfies Schemas['RestBuildStatus']
}
