/**
 * Reads the statuses of a commit. Accounts that may write can post one under any name, and the host's own runner (Gitea Actions, Forgejo Actions)
 * posts its outcomes in the same way: a job can post any status with the runner's token, and those look the same. So the runner's are what
 * the host ran by the repository's definition, and what that posted.
 */
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks, WantedCheck } from '../code-host.ts'
import { defined } from '../defined.ts'
import { unexpected } from '../http-failure.ts'
import { account, accountId, FORGEJO_JOBS, GITEA_JOBS, isBy } from '../reporters.ts'
import { reportersBefore } from '../reporters-before.ts'
import { latestOf as latestTime, logTime } from '../times.ts'
import { missingCommitMark } from '../without-log.ts'
import { CommitAnswer, type StatusAnswer, StatusesAnswer } from './answers.ts'
import { type GiteaAccess, type Repository, readShared, requireCode } from './repository.ts'

const PAGE = 50
const MAX_PAGES = 20

/** The names of the host's own account. It is none that can be looked up, so its statuses have no creator. */
const RUNNERS: readonly string[] = [GITEA_JOBS, FORGEJO_JOBS]
/** Where the status of one of its jobs leads. */
const JOB = /\/actions\/runs\/\d+/
/** How the runner describes a job that it skipped, which older versions and Forgejo report as a success. */
const SKIPPED: ReadonlySet<string> = new Set(['Skipped', 'Has been skipped'])

const OUTCOMES: Readonly<Record<string, Check['outcome']>> = {
  success: 'passed',
  failure: 'failed',
  error: 'failed',
  pending: 'pending',
  skipped: 'skipped',
  // Neither passed nor failed.
  warning: 'skipped',
}

export async function readChecks(access: GiteaAccess, query: ChecksQuery, context: CheckContext): Promise<FoundChecks> {
  const { repository: slug, sha, checks: wanted } = query
  const part = { slug, part: `statuses ${sha}` }
  const { repository, value } = await readShared(access, part, context, async (shown) => {
    const commit = await readCommit(shown, sha)
    return commit && { ...commit, statuses: await readStatuses(shown, sha) }
  })
  // A commit that no branch has stays for longer than a day, unless the server is set up otherwise.
  if (!value) {
    const mark = missingCommitMark(query, context.now(), repository.createdAt)
    return { ...repository.found, checks: undefined, mark }
  }
  const { statuses, parents } = value
  if (wanted) {
    refuseUnknownSources(statuses, wanted)
    // One that the claim does not name may be of a state that is not known.
    const named = statuses.filter(({ context }) => wanted.some(({ name }) => name === context))
    return { ...repository.found, checks: latestOf(named, true) }
  }
  const changedAt = latestTime(statuses.map(({ created_at }) => created_at))
  return {
    ...repository.found,
    checks: latestOf(statuses, false),
    ...defined({ changedAt }),
    async reportersBefore() {
      const before = { slug, part: `reporters before ${sha}` }
      const found = await readShared(access, before, context, (shown) =>
        reportersBefore(sha, context.cache, {
          parents: async (one) => (one === sha ? parents : ((await readCommit(shown, one))?.parents ?? [])),
          reporters: async (one) => (await readStatuses(shown, one)).flatMap((status) => namesOf(status)[0] ?? []),
        }),
      )
      return found.value
    },
  }
}

/** An account that is gone is not shown: what it posted may be what the claim names. @throws DestinationError `forbidden` */
function refuseUnknownSources(statuses: readonly StatusAnswer[], wanted: readonly WantedCheck[]): void {
  const isHidden = wanted.some((one) => {
    const named = statuses.filter(({ context }) => context === one.name)
    return !named.some((status) => isBy({ by: namesOf(status) }, one)) && named.some(({ creator }) => !creator)
  })
  if (isHidden) throw new DestinationError('forbidden')
}

async function readCommit(
  repository: Repository,
  sha: string,
): Promise<{ readonly parents: readonly string[] } | undefined> {
  const path = `/git/commits/${sha}?stat=false&verification=false&files=false`
  const { value } = await repository.find(path, CommitAnswer)
  if (value && value.sha !== sha) throw unexpected()
  if (!value) await requireCode(repository)
  return value && { parents: (value.parents ?? []).map((parent) => parent.sha) }
}

/**
 * All of them, the newest first. By the commit's id alone: the endpoint that takes names, too, would take a branch that is called like the
 * id. Pages are counted here, because the links in answers lead to the address that the server believes to have.
 */
async function readStatuses({ get }: Repository, sha: string): Promise<readonly StatusAnswer[]> {
  const byId = new Map<number, StatusAnswer>()
  for (let page = 1; page <= MAX_PAGES; page++) {
    const path = `/statuses/${sha}?sort=highestindex&page=${page}&limit=${PAGE}`
    const { value, headers } = await get(path, StatusesAnswer)
    if (value.length > PAGE || value.some(({ url }) => !url.endsWith(`/statuses/${sha}`))) throw unexpected()
    const before = byId.size
    for (const status of value) byId.set(status.id, status)
    const total = Number(headers.get('x-total-count') ?? Number.POSITIVE_INFINITY)
    if (value.length === 0 || byId.size >= total) return [...byId.values()].sort((one, other) => other.id - one.id)
    if (byId.size === before) throw unexpected()
  }
  throw new DestinationError('too_large')
}

/**
 * The newest status of each check: of one name, by one account. Of what the runner posted, each run counts: two workflows can have the same
 * name and a job of the same name, and one that failed must not vanish behind one that passed.
 *
 * @param areNamed the claim names each check and its source. Otherwise what counts as passed before is what the host shows, which is the
 *   newest status under a name, by whomever
 */
function latestOf(statuses: readonly StatusAnswer[], areNamed: boolean): Check[] {
  const latest = new Map<string, StatusAnswer>()
  for (const status of statuses) {
    const key = JSON.stringify([sourceOf(status), runOf(status)])
    if (!latest.has(key)) latest.set(key, status)
  }
  const keyOf = areNamed ? sourceOf : ({ context }: StatusAnswer) => context
  const passes = new Map<string, number>()
  for (const status of statuses.filter((one) => outcomeOf(one) === 'passed')) {
    passes.set(keyOf(status), (passes.get(keyOf(status)) ?? 0) + 1)
  }
  return [...latest.values()].map((status): Check => {
    const { context, created_at } = status
    const outcome = outcomeOf(status)
    const passedBefore = (passes.get(keyOf(status)) ?? 0) > (outcome === 'passed' ? 1 : 0)
    return {
      name: context,
      by: namesOf(status),
      isRunByHost: isRunner(status) && JOB.test(status.target_url),
      outcome,
      passedBefore: passedBefore || status.status === 'warning',
      ...(outcome === 'pending' ? {} : { endedAt: logTime(created_at) }),
      changedAt: logTime(created_at),
    }
  })
}

/** The name and the account. */
function sourceOf({ context, creator }: StatusAnswer): string {
  return JSON.stringify([context, creator?.id ?? null])
}

function runOf(status: StatusAnswer): string {
  return isRunner(status) ? status.target_url : ''
}

/** No status of the runner has a creator; where its account is shown, its number is below 0. */
function isRunner({ creator }: StatusAnswer): boolean {
  return !creator || creator.id <= 0
}

function namesOf(status: StatusAnswer): readonly string[] {
  const { creator } = status
  return !creator || isRunner(status) ? RUNNERS : [accountId(creator.id), account(creator.login)]
}

/** @throws DestinationError `unexpected_response` for a state that this version of the host does not have */
function outcomeOf(posted: StatusAnswer): Check['outcome'] {
  const { status, description } = posted
  const outcome = Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined
  if (outcome === undefined) throw unexpected()
  return outcome === 'passed' && isRunner(posted) && SKIPPED.has(description) ? 'skipped' : outcome
}
