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

export function repositoryAnswer({ id, slug, isPrivate, defaultBranch }: ForgeRepository) {
  const [key, name] = slug.split('/') as [string, string]
  return {
    id,
    slug: name.toLowerCase(),
    name,
    hierarchyId: 'e3c939f9ef4a7fae272e',
    scmId: 'git',
    state: 'AVAILABLE',
    statusMessage: 'Available',
    forkable: true,
    archived: false,
    public: !isPrivate,
    defaultBranch,
    project: { id: 1, key, name: key, public: false, type: key.startsWith('~') ? 'PERSONAL' : 'NORMAL' },
  } as const satisfies Schemas['RestRepository']
}

export function commitAnswer({ pool }: ForgeRepository, sha: string) {
  const { parents, message, date } = pool.show(sha)
  const person = { name: 'Agent', emailAddress: 'agent@example.com' }
  const timestamp = date.getTime()
  return {
    ...minimal(sha),
    author: person,
    authorTimestamp: timestamp,
    committer: person,
    committerTimestamp: timestamp,
    message,
    parents: parents.map(minimal),
  } satisfies Schemas['RestCommit']
}

function minimal(sha: string) {
  return { id: sha, displayId: sha.slice(0, 11) } satisfies Schemas['RestMinimalCommit']
}

export function branchAnswer({ defaultBranch }: ForgeRepository, name: string, sha: string) {
  return {
    ...refAnswer(name),
    latestCommit: sha,
    latestChangeset: sha,
    default: name === defaultBranch,
  } satisfies Schemas['RestBranch']
}

export function refAnswer(name: string) {
  return { id: `refs/heads/${name}`, displayId: name, type: 'BRANCH' } as const satisfies Schemas['RestMinimalRef']
}

const STATES = { open: 'OPEN', closed: 'DECLINED', merged: 'MERGED' } as const

export function pullRequestAnswer(repository: ForgeRepository, pullRequest: PullRequest) {
  const { number, title, state, isDraft, openedAt, updatedAt, closedAt, mergedHow, landed } = pullRequest
  const { base, baseSha, head, headSha, from } = pullRequest
  const answer = {
    id: number,
    version: 1,
    title,
    state: STATES[state],
    open: state === 'open',
    closed: state !== 'open',
    draft: isDraft,
    locked: false,
    createdDate: openedAt,
    updatedDate: updatedAt,
    ...(closedAt === undefined ? {} : { closedDate: closedAt }),
    fromRef: { ...refAnswer(head), latestCommit: headSha, repository: repositoryAnswer(from) },
    toRef: { ...refAnswer(base), latestCommit: baseSha, repository: repositoryAnswer(repository) },
    participants: [],
    reviewers: [],
  } satisfies Schemas['RestPullRequest']
  // The types leave the properties out. A merge that somebody pushed has none.
  const isOwn = landed !== undefined && mergedHow !== 'manually'
  const merge = isOwn ? { mergeCommit: minimal(landed) } : {}
  return { ...answer, properties: { ...merge, openTaskCount: 0, resolvedTaskCount: 0 } }
}

const BUILD_STATES = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', error: 'CANCELLED' } as const

/** `context` is the name, with the key behind it where that is another: `Unit tests @ unit`. */
const ACTIONS: Readonly<
  Partial<Record<ForgeEvent['kind'], NonNullable<Schemas['RestPullRequestActivity']['action']>>>
> = {
  ...{ opened: 'OPENED', closed: 'DECLINED', reopened: 'REOPENED', merged: 'MERGED', commented: 'COMMENTED' },
  ...{ base_changed: 'RESCOPED', head_moved: 'RESCOPED', head_forced: 'RESCOPED', edited: 'UPDATED' },
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
