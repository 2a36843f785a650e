/**
 * Reads the pushes to a branch from the activity feed. It is written from a queue, so its times bound from above only; it leaves out
 * accounts that hide what they do, and old entries. So only entries that join one another without a gap, from the present tip backwards,
 * say how long the branch has had a commit, and nothing follows from what is not in it.
 */

import { isDestinationError, type LogTime, readJson, Value } from '@claimcheck/core/plugin'
import { unexpectedAnswer } from '../rest.ts'
import { notAfter } from '../times.ts'
import { ActivitiesAnswer, type Activity, PushContent } from './answers.ts'
import type { Repository } from './repository.ts'

export interface Push {
  readonly at: LogTime
  /** The new tip; undefined where the entry does not say to what the branch was moved: it was created or deleted, or the entry cannot be understood. */
  readonly after?: string
  /** The tip from which the branch was moved; undefined where the entry does not say. */
  readonly before?: string
  /** The newest of the commits that the push brought. */
  readonly commits: readonly string[]
  /** The account that pushed; undefined where the feed does not say. */
  readonly actor?: string
}

/** Size of a page of the feed, each of whose entries carries its whole repository with it. */
const PAGE = 30
const PUSHES: ReadonlySet<string> = new Set(['commit_repo', 'mirror_sync_push'])
const REF_CHANGES: ReadonlySet<string> = new Set([
  ...PUSHES,
  'delete_branch',
  'mirror_sync_create',
  'mirror_sync_delete',
])

/** Reads one page of the feed. @param page the number of the page, from 1 on */
export async function readActivities({ get, id }: Repository, page: number): Promise<readonly Activity[]> {
  const { value } = await get(`/activities/feeds?page=${page}&limit=${PAGE}`, ActivitiesAnswer)
  if (value.some(({ repo_id }) => repo_id !== id)) throw unexpectedAnswer()
  return value
}

/** Selects the entries about a branch, newest first. */
export async function pushesTo(branch: string, activities: readonly Activity[]): Promise<Push[]> {
  const ref = `refs/heads/${branch}`
  const entries = activities.filter(({ op_type, ref_name }) => ref_name === ref && REF_CHANGES.has(op_type))
  return Promise.all(entries.filter((entry, index) => !isSame(entry, entries[index - 1])).map(toPush))
}

/** Lists the numbers of the accounts that pushed a commit, as far as these entries tell. */
export async function pushersOf(sha: string, activities: readonly Activity[]): Promise<readonly number[]> {
  const pushers = await Promise.all(
    activities.map(async (entry) => (brings(await toPush(entry), sha) ? [entry.act_user?.id ?? []] : []).flat()),
  )
  return [...new Set(pushers.flat())]
}

/** Tells whether two entries are one: the feed can have it once for everybody who watches. */
function isSame(one: Activity, other: Activity | undefined): boolean {
  return other?.created === one.created && other.content === one.content && other.op_type === one.op_type
}

async function toPush({ op_type, content, created, act_user }: Activity): Promise<Push> {
  const at = notAfter(created)
  const told = PUSHES.has(op_type) && content !== '' ? await parseContent(content) : undefined
  if (!Value.Check(PushContent, told)) return { at, commits: [] }
  const { HeadCommit, Commits, CompareURL } = told
  const [, before, after] = /\/compare\/([0-9a-f]{40,64})\.\.\.([0-9a-f]{40,64})$/.exec(CompareURL) ?? []
  return {
    at,
    after: HeadCommit.Sha1,
    commits: (Commits ?? []).map(({ Sha1 }) => Sha1),
    before: after === HeadCommit.Sha1 ? before : undefined,
    actor: act_user?.login,
  }
}

/** Parses JSON within the limits of any answer's. */
async function parseContent(content: string): Promise<unknown> {
  try {
    return await readJson(new Response(content))
  } catch (error) {
    if (!isDestinationError(error)) throw error
    return undefined
  }
}

/** Selects the newest entries that join without a gap, back from the branch's tip. */
export function currentRun(pushes: readonly Push[], head: string): readonly Push[] {
  const run: Push[] = []
  let next: string | undefined = head
  for (const push of pushes) {
    if (next === undefined || push.after !== next) break
    run.push(push)
    next = push.before
  }
  return run
}

/** Tells whether a push names the commit among those that it brought. */
export function brings({ after, commits }: Push, sha: string): boolean {
  return after === sha || commits.includes(sha)
}
