/**
 * Reads the checks of a commit at Bitbucket Cloud: the statuses that accounts and apps post, and the runs of Bitbucket Pipelines. A status
 * tells its key and not who posted it, so whoever may write can post any. A run of Pipelines nobody can post.
 */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks, WantedCheck } from '../code-host.ts'
import { defined } from '../defined.ts'
import { unexpected } from '../http-failure.ts'
import { BITBUCKET_JOBS, isBy, isNamed, isSame, key as keyed, workflow } from '../reporters.ts'
import { type Reports, reportersBefore } from '../reporters-before.ts'
import { latestOf, notAfter } from '../times.ts'
import { missingCommitMark } from '../without-log.ts'
import { PAGE, ParentsAnswer, type Pipeline, PipelinesAnswer, type StatusAnswer, StatusesAnswer } from './answers.ts'
import { type BitbucketAccess, linkedPage } from './api.ts'
import { AGE_MS, openRepository, type Repository } from './repository.ts'

/** What claims call Pipelines. */
const PIPELINES: readonly string[] = [BITBUCKET_JOBS, workflow('bitbucket-pipelines.yml')]

export async function findChecks(
  access: BitbucketAccess,
  query: ChecksQuery,
  context: CheckContext,
): Promise<FoundChecks> {
  const { repository: slug, sha, checks: wanted } = query
  const { cache, now } = context
  const repository = openRepository(access, slug, context)
  const { createdAt, mainBranch: _, ...shown } = await repository.show()
  const found = { ...shown, ageMs: AGE_MS }

  // A branch may be called like a commit, and its tip has statuses.
  const statuses = wanted?.every(isOfPipelines)
    ? []
    : await cache.share(`bitbucket ${slug} statuses ${sha}`, async () =>
        (await repository.isKnown(sha)) ? readStatuses(repository, sha) : undefined,
      )
  const runs =
    statuses && (!wanted || wanted.some(isOfPipelines))
      ? await cache.share(`bitbucket ${slug} pipelines ${sha}`, () => readPipelines(repository, sha))
      : []
  // The list of pipelines is empty for a commit that there is not, too.
  const isMissing = !statuses || (wanted?.every(isOfPipelines) && runs.length === 0 && !(await repository.isKnown(sha)))
  if (isMissing) return { ...found, checks: undefined, mark: missingCommitMark(query, now(), createdAt) }
  if (wanted) {
    refuseUntold(wanted, statuses)
    const named = statuses.filter((status) => wanted.some((one) => statusName(status) === one.name))
    return { ...found, checks: [...named.map(toPosted), ...runs] }
  }
  // Each run of Pipelines has a status, too, which stays when another run replaces it.
  const posted = statuses.filter((status) => !isOfRun(status, slug))
  const times = statuses.flatMap(({ updated_on }) => updated_on ?? [])
  const changedAt = times.length === statuses.length ? latestOf(times) : undefined
  return {
    ...found,
    checks: [...posted.map(toPosted), ...runs].map(stoppedIsRed),
    ...defined({ changedAt }),
    reportersBefore: () =>
      cache.share(`bitbucket ${slug} reporters before ${sha}`, () =>
        reportersBefore(sha, cache, reportsOf(repository, slug)),
      ),
  }
}

/** Who posted a status nothing tells: its key stands for them. */
function reportsOf(repository: Repository, slug: string): Reports {
  return {
    async parents(sha) {
      const { value } = await repository.api.get(`${repository.root}/commit/${sha}`, ParentsAnswer)
      return value.parents.map(({ hash }) => hash)
    },
    async reporters(sha) {
      const statuses = (await readStatuses(repository, sha)) ?? []
      return statuses.map((one) => (isOfRun(one, slug) ? BITBUCKET_JOBS : keyed(one.key)))
    },
  }
}

const RUN = /^https:\/\/bitbucket\.org\/([^/]+\/[^/]+)\/(?:addon\/)?pipelines\//

/** It leads to a run of Pipelines of this repository: one of another repository may have been posted here, and no run here speaks for it. */
function isOfRun({ url }: StatusAnswer, slug: string): boolean {
  return RUN.exec(url ?? '')?.[1]?.toLowerCase() === slug.toLowerCase()
}

/** Accounts that may write can stop what is about to fail. Why it was stopped nothing tells, so that it spoils the commit and blames nobody. */
function stoppedIsRed(check: Check): Check {
  return check.outcome === 'skipped' ? { ...check, outcome: 'failed', passedBefore: true } : check
}

function isOfPipelines({ by }: WantedCheck): boolean {
  return PIPELINES.some((one) => isSame(one, by))
}

/**
 * A status of the claimed name under another key may be of the account that the claim names: nothing tells whose it is. And one with the
 * claimed key under another name has replaced what was there. The next read may show more.
 */
function refuseUntold(wanted: readonly WantedCheck[], statuses: readonly StatusAnswer[]): void {
  for (const one of wanted.filter((one) => !isOfPipelines(one))) {
    const isKeyed = ({ key }: StatusAnswer) => isBy({ by: [keyed(key)] }, one)
    const isThere = statuses.some((status) => isNamed({ name: statusName(status), by: [keyed(status.key)] }, one))
    if (!isThere && statuses.some((status) => statusName(status) === one.name || isKeyed(status))) {
      throw new DestinationError('forbidden')
    }
  }
}

const OUTCOMES = new Map<string, Check['outcome']>([
  ['SUCCESSFUL', 'passed'],
  ['FAILED', 'failed'],
  ['INPROGRESS', 'pending'],
  ['STOPPED', 'skipped'],
])

/** A status replaces the one that had its key. Undefined where the repository does not have the commit. */
async function readStatuses({ api, root }: Repository, sha: string): Promise<readonly StatusAnswer[] | undefined> {
  let statuses: StatusAnswer[] | undefined
  const path = `${root}/commit/${sha}/statuses?pagelen=${PAGE}`
  for await (const { values } of api.pages(path, StatusesAnswer, linkedPage)) {
    statuses = [...(statuses ?? []), ...values]
  }
  return statuses
}

function statusName({ name, key }: StatusAnswer): string {
  return name || key
}

function toPosted(status: StatusAnswer): Check {
  const outcome = OUTCOMES.get(status.state)
  if (outcome === undefined) throw unexpected()
  const { updated_on } = status
  const changed = updated_on === undefined ? {} : { changedAt: notAfter(updated_on) }
  return { name: statusName(status), by: [keyed(status.key)], isRunByHost: false, outcome, ...changed }
}

/** The latest run of each definition on each branch, tag or pull request. @throws DestinationError `forbidden` without the right to read pipelines */
async function readPipelines(repository: Repository, sha: string): Promise<Check[]> {
  const { api, root } = repository
  const path = `${root}/pipelines`
  const queryOf = (page: number) =>
    new URLSearchParams({ 'target.commit.hash': sha, sort: '-created_on', pagelen: String(PAGE), page: String(page) })
  const groups = new Map<string, Pipeline[]>()
  let pages = 0
  let seen = 0
  for await (const { values } of api.pages(`${path}?${queryOf(1)}`, PipelinesAnswer, (page) => {
    // Links to the next page do not always have what was asked for.
    seen += page.values.length
    const isLast =
      page.size === undefined ? page.next === undefined && page.values.length < page.pagelen : seen >= page.size
    if (!isLast && page.values.length === 0) throw unexpected()
    return isLast ? undefined : queryOf(pages + 1).toString()
  })) {
    pages++
    for (const run of values) {
      if (!(await isOf(sha, run, repository))) continue
      const { ref_name, source, destination } = run.target
      const group = JSON.stringify([nameOf(run), ref_name, source, destination])
      groups.set(group, [...(groups.get(group) ?? []), run])
    }
  }
  if (pages === 0) throw new DestinationError('forbidden', { status: 404 })
  return [...groups.values()].map(toCheck)
}

/** The host may have left out what was asked for. */
async function isOf(sha: string, { target }: Pipeline, repository: Repository): Promise<boolean> {
  const hash = target.commit?.hash
  return hash !== undefined && sha.startsWith(hash) && (await repository.expand(hash)) === sha
}

/** As `bitbucket-pipelines.yml` has it: `default`, `branches/main`, `pull-requests/**`, `custom/deploy`. */
function nameOf({ target: { selector } }: Pipeline): string {
  if (!selector) return 'default'
  return selector.pattern ? `${selector.type}/${selector.pattern}` : selector.type
}

function toCheck(runs: readonly Pipeline[]): Check {
  const [latest, ...earlier] = [...runs].sort((a, b) => b.build_number - a.build_number)
  const { completed_on } = latest!
  return {
    name: nameOf(latest!),
    by: PIPELINES,
    isRunByHost: true,
    outcome: outcomeOf(latest!),
    // Of a run that was made again under its number, nothing is told.
    ...(earlier.some((run) => outcomeOf(run) === 'passed') ? { passedBefore: true } : {}),
    ...(completed_on ? { endedAt: notAfter(completed_on) } : {}),
  }
}

const RESULTS: ReadonlyMap<string | undefined, Check['outcome']> = new Map([
  ['SUCCESSFUL', 'passed'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['STOPPED', 'skipped'],
  ['EXPIRED', 'skipped'],
])
const UNDER_WAY: ReadonlySet<string> = new Set(['PENDING', 'PARSING', 'BUILDING', 'IN_PROGRESS', 'PAUSED', 'HALTED'])

function outcomeOf({ state: { name, result } }: Pipeline): Check['outcome'] {
  if (UNDER_WAY.has(name)) return 'pending'
  const outcome = name === 'COMPLETED' ? RESULTS.get(result?.name) : undefined
  if (outcome === undefined) throw unexpected()
  return outcome
}
