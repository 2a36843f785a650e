/** Reads GitHub's lists of the reports about a commit: check runs and suites of apps, and statuses of accounts. */
import { type Static, type TSchema, Value } from '@claimcheck/core/plugin'
import { isOwnReport } from '../reporters.ts'
import { unexpectedAnswer } from '../rest.ts'
import {
  CheckRun,
  CheckRunsAnswer,
  type CheckSuite,
  CheckSuitesAnswer,
  PostedStatus,
  StatusesAnswer,
} from './answers.ts'
import type { GitHubAccess, Refused } from './api.ts'
import { postersOf, reportersOf } from './check-runs.ts'
import type { ClaimedRepository } from './repository.ts'

/** A list, or `hidden` where these credentials may not read it. */
export type CheckList<T> = ShownList<T> | 'hidden'

export interface ShownList<T> {
  readonly entries: readonly T[]
  /** Tells that the list has older entries: whoever may write can post them by the thousand. */
  readonly isCut: boolean
}

export function entriesOf<T>(list: CheckList<T> | undefined): readonly T[] {
  return typeof list === 'object' ? list.entries : []
}

export function isCutList(list: CheckList<unknown> | undefined): boolean {
  return typeof list === 'object' && list.isCut
}

const PAGE = 100
/** Statuses by which a list is hidden, or there is no such commit. */
const UNREAD = [403, 404, 409, 422] as const

function unreadList({ refused }: Refused): 'hidden' | undefined {
  return refused === 409 || refused === 422 ? undefined : 'hidden'
}

/**
 * Reads check runs, earlier ones too, the newest first; undefined where the repository does not have the commit.
 * @param names the names of the only ones that count
 */
export async function readCheckRuns(
  { access, api, repository }: ClaimedRepository,
  sha: string,
  names?: ReadonlySet<string>,
): Promise<CheckList<CheckRun> | undefined> {
  const [only] = names?.size === 1 ? names : []
  const filter = only === undefined ? 'filter=all' : `filter=all&check_name=${encodeURIComponent(only)}`
  const path = `${repository.root}/commits/${sha}/check-runs?${filter}&per_page=${PAGE}`
  const start = await api.findStart(path, CheckRunsAnswer, UNREAD)
  if ('refused' in start) return unreadList(start)
  const all = start.pages.flatMap(({ check_runs }) => check_runs)
  const runs = requireReadable(all, CheckRun, names)
  if (runs.some(({ head_sha }) => head_sha !== sha)) throw unexpectedAnswer()
  const entries = [...new Map(runs.map((run) => [run.id, run])).values()].filter((run) => !isOwnRun(run, access))
  return { entries, isCut: start.isCut }
}

function isOwnRun(run: CheckRun, { reporters }: GitHubAccess): boolean {
  return isOwnReport({ name: run.name, by: reportersOf(run) }, reporters)
}

/**
 * Reads the check runs that count, of another commit than the claimed one; undefined where the repository does not have it.
 * @throws DestinationError `too_large` where there are too many
 */
export async function readLatestCheckRuns(
  { access, api, repository }: ClaimedRepository,
  sha: string,
): Promise<readonly CheckRun[] | 'hidden' | undefined> {
  const path = `${repository.root}/commits/${sha}/check-runs?filter=latest&per_page=${PAGE}`
  const answer = await api.findList(path, CheckRunsAnswer, UNREAD)
  if ('refused' in answer) return unreadList(answer)
  const runs = answer.flatMap(({ check_runs }) => check_runs).filter((run) => Value.Check(CheckRun, run))
  return runs.filter((run) => !isOwnRun(run, access))
}

/**
 * Reads all statuses that were ever posted, the newest first; undefined where the repository does not have the commit.
 *
 * @param names the only ones that are wanted
 */
export async function readStatuses(
  { access, api, repository }: ClaimedRepository,
  sha: string,
  names?: ReadonlySet<string>,
): Promise<CheckList<PostedStatus> | undefined> {
  const path = `${repository.root}/commits/${sha}/statuses?per_page=${PAGE}`
  const start = await api.findStart(path, StatusesAnswer, UNREAD)
  if ('refused' in start) return unreadList(start)
  const statuses = requireReadable(start.pages.flat(), PostedStatus, names, ({ context }) => context)
  const isOwn = (status: PostedStatus) => isOwnReport({ name: status.context, by: postersOf(status) }, access.reporters)
  return { entries: statuses.filter((status) => !isOwn(status)), isCut: start.isCut }
}

/**
 * Reads suites of check runs, which GitHub makes for each app that may report on a commit; undefined where the repository does not have the commit.
 * Their times are GitHub's own, where those of check runs are sent by what ran them.
 */
export async function readCheckSuites(
  { api, repository }: ClaimedRepository,
  sha: string,
): Promise<CheckList<CheckSuite> | undefined> {
  const path = `${repository.root}/commits/${sha}/check-suites?per_page=${PAGE}`
  const start = await api.findStart(path, CheckSuitesAnswer, UNREAD)
  if ('refused' in start) return unreadList(start)
  const entries = start.pages.flatMap(({ check_suites }) => check_suites)
  if (entries.some(({ head_sha }) => head_sha !== sha)) throw unexpectedAnswer()
  return { entries, isCut: start.isCut }
}

/**
 * Takes the needed entries of a list of which some are of a form that is not known: one of another name must not hide the claimed one.
 * @param names the names of the needed entries; all are needed without it
 * @throws DestinationError `unexpected_response` where a needed one does not match the schema
 */
export function requireReadable<T extends TSchema>(
  entries: readonly unknown[],
  schema: T,
  names?: ReadonlySet<unknown>,
  nameOf: (entry: Record<string, unknown>) => unknown = ({ name }) => name,
): Static<T>[] {
  const needed = entries.filter((entry) => !names || names.has(nameOf(entry as Record<string, unknown>)))
  if (!needed.every((entry) => Value.Check(schema, entry))) throw unexpectedAnswer()
  return needed as Static<T>[]
}
