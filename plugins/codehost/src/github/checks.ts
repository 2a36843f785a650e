/** What GitHub shows of a commit's checks: of the three lists that have them, those that a claim needs. */
import { type CheckContext, DestinationError, type Mark } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks } from '../code-host.ts'
import { isMadeAfter } from '../forgetting.ts'
import { CheckRunsAnswer } from './answers.ts'
import type { GitHubAccess } from './api.ts'
import { checkRunsOf, checksOfRuns, checksOfStatuses, type Seen, statusesOf } from './check-runs.ts'
import { type ClaimedRepository, claimedRepository, KEEPS_OBJECTS_MS } from './repository.ts'
import { ACTIONS_APP, fileOf, isWorkflowFile, jobsOf, type WorkflowRuns, workflowRunsOf } from './workflow-runs.ts'

type Wanted = NonNullable<ChecksQuery['wanted']>

/** Of one commit. Each is read once for all claims that wait for it. */
interface Lists {
  checkRuns(): ReturnType<typeof checkRunsOf>
  statuses(): ReturnType<typeof statusesOf>
  workflows(): Promise<WorkflowRuns>
  /** Of the workflows in these files; of all, when left out. */
  jobs(files?: ReadonlySet<string>): Promise<Check[]>
  hasCommit(): Promise<boolean>
}

export async function findChecks(
  access: GitHubAccess,
  query: ChecksQuery,
  context: CheckContext,
): Promise<FoundChecks> {
  const claimed = await claimedRepository(access, query, context)
  const lists = listsOf(claimed, query.sha, context)
  // A branch cannot be called like a commit of 40 characters; like one of 64, which GitHub does not have, it can.
  const isName = query.sha.length !== 40 && !(await lists.hasCommit())
  const checks = isName ? undefined : await (query.wanted ? namedChecks(lists, query.wanted) : allChecks(lists))
  if (checks) return { ...claimed.found, checks }
  return { ...claimed.found, checks: undefined, mark: await markOfUnknown(claimed, query, context) }
}

function listsOf(claimed: ClaimedRepository, sha: string, context: CheckContext): Lists {
  const shared = <T>(what: string, read: () => Promise<T>) =>
    context.cache.share(`github ${claimed.repository.id} ${what} ${sha}`, read)
  const workflows = () => shared('workflows', () => workflowRunsOf(claimed, sha))
  return {
    checkRuns: () => shared('checks', () => checkRunsOf(claimed, sha)),
    statuses: () => shared('statuses', () => statusesOf(claimed, sha)),
    workflows,
    async jobs(files) {
      const isWanted = (file: string) => files === undefined || files.has(file.toLowerCase())
      return jobsOf(claimed, await workflows(), (run) => isWanted(fileOf(run)), context)
    },
    hasCommit: () => claimed.repository.isKnown(sha),
  }
}

/** What is hidden from these credentials may have failed. */
async function allChecks(lists: Lists): Promise<readonly Check[] | undefined> {
  const [runs, statuses, workflows] = await Promise.all([lists.checkRuns(), lists.statuses(), lists.workflows()])
  if (runs === undefined || statuses === undefined) return undefined
  return [...checksOfRuns(shown(runs), workflows), ...checksOfStatuses(shown(statuses))]
}

function shown<T>(seen: Seen<T>): readonly T[] {
  if (seen === 'hidden') throw new DestinationError('forbidden', { status: 403 })
  return seen
}

async function namedChecks(lists: Lists, wanted: Wanted): Promise<readonly Check[] | undefined> {
  const files = new Set(wanted.filter(({ by }) => isWorkflowFile(by)).map(({ by }) => by.toLowerCase()))
  const others = wanted.filter(({ by }) => !isWorkflowFile(by))
  const jobs = files.size > 0 ? await lists.jobs(files) : []
  // A list of jobs does not tell whether there is the commit.
  if (others.length === 0 && jobs.length > 0) return jobs

  const runs = await lists.checkRuns()
  if (runs === undefined || (runs === 'hidden' && !(await lists.hasCommit()))) return undefined
  const reported = runs === 'hidden' ? await jobsByApp(lists, others) : checksOfRuns(runs)
  if (hasAll(reported, others)) return [...jobs, ...reported]
  const statuses = await lists.statuses()
  if (statuses === undefined) return undefined
  const checks = [...jobs, ...reported, ...(statuses === 'hidden' ? [] : checksOfStatuses(statuses))]
  const isWhole = runs !== 'hidden' && statuses !== 'hidden'
  if (!isWhole && !hasAll(checks, others)) throw new DestinationError('forbidden', { status: 403 })
  return checks
}

/** Fine-grained tokens cannot read check runs; those of workflows they can, as jobs. */
async function jobsByApp(lists: Lists, wanted: Wanted): Promise<Check[]> {
  if (!wanted.some(({ by }) => by.toLowerCase() === ACTIONS_APP)) return []
  return (await lists.jobs()).map((job) => ({ ...job, by: [ACTIONS_APP] }))
}

function hasAll(checks: readonly Check[], wanted: Wanted): boolean {
  return wanted.every((one) =>
    checks.some(({ name, by }) => name === one.name && by.some((who) => who.toLowerCase() === one.by.toLowerCase())),
  )
}

/** The repository does not have the commit. @throws DestinationError `forbidden` where its checks may not be read */
async function markOfUnknown(
  { api, repository }: ClaimedRepository,
  query: ChecksQuery,
  { now }: CheckContext,
): Promise<Mark> {
  const { claimedAt, previous } = query
  const branch = encodeURIComponent(`heads/${repository.defaultBranch}`)
  // An empty repository has no branch, and says so to who may read it.
  await api.get(`${repository.root}/commits/${branch}/check-runs?per_page=1`, CheckRunsAnswer, [409, 422])
  const wasSeen = previous.some(({ observation }) => observation.facts.commit_found === true)
  const isKept = now() - claimedAt <= KEEPS_OBJECTS_MS && !isMadeAfter(query, repository.createdAt)
  return isKept && !wasSeen ? 'never_before' : 'may_have_been'
}
