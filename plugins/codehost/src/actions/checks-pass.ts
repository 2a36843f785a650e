/**
 * The action `codehost.checks.pass`: the checks of a commit passed. A name alone proves little: whoever may write can post a green status
 * under any name. So a claim names each check and who reports it, and the receipt says who did. Of a claim that names none, all that the host
 * shows counts, when it is settled: that nothing is red yet does not mean that all passed.
 */
import {
  type ActionProfile,
  type Claim,
  type LogTime,
  type Observation,
  type Static,
  Type,
} from '@claimcheck/core/plugin'
import type { Check, FoundChecks, RepositoryQuery } from '../code-host.ts'
import { defined } from '../defined.ts'
import { isNamed } from '../reporters.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import { claimedSha, Host, MINUTE_MS, RepositoryPath, repositoryFacts } from './fields.ts'
import { haveAllPassed, redFact, redNames, reportedBy, reportedByFact, seenFact, seenNames } from './reported-by.ts'
import { type Unsettled, unsettled } from './settled.ts'

const HOUR_MS = 60 * MINUTE_MS

// What follows the kind has no control character, and identifies one app, account, file or key.
const BY_PATTERN = [
  '^(?:github-actions|gitlab-ci|gitea-actions|forgejo-actions|bitbucket-pipelines',
  'app:[A-Za-z0-9][A-Za-z0-9-]{0,99}',
  'app-id:[0-9]{1,15}',
  'account:[A-Za-z0-9_.\\[\\]-]{1,255}',
  'account-id:[0-9]{1,15}',
  'workflow:[^\\u0000-\\u001f]{1,240}',
  'pipeline:[a-z_]{1,64}',
  'key:[^\\u0000-\\u001f]{1,240})$',
].join('|')

const ClaimedCheck = Type.Object(
  {
    name: Type.String({ title: 'Name', minLength: 1, maxLength: 255, description: 'As the host shows it.' }),
    by: Type.String({
      title: 'Reported by',
      pattern: BY_PATTERN,
      'x-pattern-help':
        'write `github-actions` for a job of a workflow at GitHub, or `app:NAME`, `app-id:NUMBER`, `account:NAME`, `account-id:NUMBER` or `workflow:FILE`',
      maxLength: 261,
      description: [
        'Who reports it.',
        "Jobs of the host's own runs, and nothing that is posted: `github-actions`, `gitlab-ci`, `gitea-actions`, `forgejo-actions`, `bitbucket-pipelines`.",
        'Jobs of one file: `workflow:.github/workflows/ci.yml`; at GitLab also of pipelines that one thing starts: `pipeline:push`.',
        'An app at GitHub: `app:jenkins`, or its number, `app-id:15368`.',
        'An account that posts statuses: `account:octocat`, or its number, `account-id:583231`.',
        'A status at Bitbucket, which does not tell who posted it: `key:unit`.',
      ].join(' '),
    }),
  },
  { additionalProperties: false },
)

const Params = Type.Object(
  {
    sha: claimedSha('Commit', 'The full id of the commit.'),
    checks: Type.Optional(
      Type.Array(ClaimedCheck, {
        title: 'Checks',
        minItems: 1,
        maxItems: 50,
        description:
          'The checks that passed. When left out: all that the host shows, once nothing is pending, nothing has changed for a minute, and what reported on comparable commits has reported on this one. Where no commit is comparable, they have to be named.',
        examples: [[{ name: 'build', by: 'github-actions' }]],
      }),
    ),
    host: Host,
  },
  { additionalProperties: false },
)
type Params = Static<typeof Params>

const count = (title: string, description: string) => Type.Optional(Type.Integer({ title, minimum: 0, description }))
const flag = (title: string, description: string) => Type.Optional(Type.Literal(true, { title, description }))

const Facts = Type.Object(
  {
    ...repositoryFacts,
    commit_found: Type.Boolean({ title: 'Commit found', description: 'The repository has the commit.' }),
    passed: count('Passed', 'How many of the checks that count have passed.'),
    failed: count('Failed', 'How many of them have failed.'),
    pending: count('Pending', 'How many of them have not ended.'),
    skipped: count('Skipped', 'How many of them were skipped, or ended without a result. They have not passed.'),
    missing: count('Missing', 'How many of the claimed checks the host does not show.'),
    counted: count('Counted', 'How many checks and statuses count.'),
    reported_by: reportedByFact,
    under_way: flag('Under way', 'More may come soon: something runs, or what is green is not settled.'),
    settling: flag('Not settled', 'All that was there had passed, and it was too early to call it all.'),
    awaited: count('Awaited', 'How many checks that comparable commits have are not here.'),
    unnamed: flag(
      'To be named',
      'No comparable commit tells which checks there are to be: the claim has to name them.',
    ),
    seen: seenFact,
    red: redFact,
  },
  { additionalProperties: false },
)
type Facts = Static<typeof Facts>

export const checksPassProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.checks.pass',
  version: '2',
  rulesVersion: 2,
  underWay: 'under_way',
  shows: { commit_found: true, passed: { atLeast: 1 }, failed: 0, pending: 0, missing: 0 },
  compared: {
    target: 'none',
    // What it skips counts only against named checks.
    sha: { facts: ['failed'], are: 0, tells: 'same' },
    checks: { facts: ['failed', 'skipped'], are: 0 },
  },
  summary: 'The named checks of a commit passed.',
  words: {
    title: 'Passing of checks',
    target: 'Repository',
    claim: 'The checks of commit {sha:short} in {target} passed.',
    outcomes: {
      verified: 'The checks of commit {sha:short} in {target} passed in time.',
      late: 'The checks of commit {sha:short} in {target} passed too late.',
      mismatch: [
        '{failed} of the checks of commit {sha:short} in {target} failed.',
        'The checks of commit {sha:short} in {target} did not all pass.',
      ],
      failed: 'The checks of commit {sha:short} in {target} had not passed.',
    },
    facts: {
      repository: 'The destination calls the repository {repository}.',
      commit_found: { false: 'The repository does not have the commit.' },
      passed: 'Passed: {passed}. Failed: {failed}. Pending: {pending}. Skipped: {skipped}. Missing: {missing}.',
      reported_by:
        'Reported by {reported_by}. Accounts that may write to the repository can post a status or a check; none can post a job of the host itself.',
      settling: { true: 'All that was there had passed, and it was too early to call it all: more could still come.' },
      awaited: '{awaited} checks that comparable commits have had not come here.',
      unnamed: { true: 'Name the checks: no comparable commit tells which there are to be.' },
      seen: 'Seen were: {seen}.',
      red: 'Failed: {red}.',
    },
    found: { target: 'repository' },
  },
  aliases: { 'github.checks.pass': { providers: ['github'] } },
  target: RepositoryPath,
  params: Params,
  facts: Facts,
  required: { sha: 'content', checks: 'content' },
  toleranceMs: HOUR_MS,
  deadlineMs: 2 * HOUR_MS,
  maxDeadlineMs: 24 * HOUR_MS,
  access: {
    permission: "Reading the repository's checks, commit statuses, workflow runs and metadata.",
    anonymous: true,
  },
}

export const checksPass = defineAction({
  profile: checksPassProfile,
  reader: ({ checks }) => checks,
  observe: observed,
})

async function observed(
  found: FoundChecks,
  claim: Pick<Claim<Params>, 'action' | 'params'>,
  query: RepositoryQuery,
): Promise<Observation<Facts>> {
  const { checks, mark, ageMs, isGrowing = false } = found
  const aged = ageMs === undefined ? {} : { ageMs }
  if (checks === undefined) {
    const facts = { ...repositoryFactsOf(found), commit_found: false }
    return { kind: 'absent', facts, ...aged, ...defined({ mark }) }
  }
  const { checks: wanted } = claim.params
  const groups = wanted?.map((one) => checks.filter((check) => isNamed(check, one))) ?? [checks]
  const counted = [...new Set(groups.flat())]
  const having = (outcome: Check['outcome']) => counted.filter((check) => check.outcome === outcome).length
  const missing = wanted ? groups.filter((group) => group.length === 0).length : 0
  const pending = having('pending')
  const facts: Facts = {
    ...repositoryFactsOf(found),
    commit_found: true,
    passed: having('passed'),
    failed: having('failed'),
    pending,
    skipped: having('skipped'),
    missing,
    counted: counted.length,
    ...reportedBy(counted),
    ...redNames(counted),
    ...(pending > 0 || (missing > 0 && isGrowing) ? { under_way: true as const } : {}),
  }
  // Of all that the host shows, what it skips does not count against the rest. A skipped check that the claim names has not passed.
  const isGreen = ({ outcome }: Check) => outcome === 'passed' || (!wanted && outcome === 'skipped')
  const red = counted.filter((check) => !isGreen(check))

  if (missing > 0 || red.length > 0) {
    const history = historyOf(red, { missing, counted, isNamed: wanted !== undefined }, found, query)
    const told = { facts, ...aged, ...history }
    return missing === 0 && pending === 0
      ? { kind: 'present', differs: [wanted ? 'checks' : 'sha'], ...told }
      : { kind: 'absent', ...told }
  }
  // There may be nothing yet.
  if (facts.passed === 0) {
    const history =
      counted.length > 0 ? MAY_HAVE_BEEN : historyOf([], { missing, counted, isNamed: false }, found, query)
    return { kind: 'absent', facts, ...aged, ...history }
  }

  const open = wanted ? undefined : await unsettled(found, { checks: counted, passed: facts.passed! }, query)
  if (open) {
    return { kind: 'absent', facts: { ...facts, ...factsOf(open, counted) }, ...aged, mark: 'unsettled' }
  }
  // A red check that is there no more was deleted, unless it passed since.
  const wasTaken = lastRed(query).some(({ red, seenAt }) => {
    const isSince = ({ endedAt, changedAt }: Check) => isAfter(endedAt ?? changedAt, seenAt, found)
    return !haveAllPassed(red, counted.filter(isSince))
  })
  const passed = wanted ? endedAt(counted) : found.changedAt && { notAfter: found.changedAt.notAfter }
  if (wasTaken || isTooLate(claim, passed, query)) return { kind: 'absent', facts, ...aged, ...MAY_HAVE_BEEN }
  // All are green at one time: when the last one ended says nothing of it once one was red.
  const stays = passed && !wasRed(query) ? { stays: [{ appeared: passed }] } : {}
  return { kind: 'present', differs: [], facts, ...aged, ...stays }
}

function wasRed({ previous }: RepositoryQuery): boolean {
  return previous.some(({ observation: { facts } }) => typeof facts.failed === 'number' && facts.failed > 0)
}

interface LastRed {
  /** Names them as the fact does. */
  readonly red: string
  /** The last look at which they were, less the age of its answer. */
  readonly seenAt: number
}

function lastRed({ previous }: RepositoryQuery): readonly LastRed[] {
  const last = new Map<string, number>()
  for (const { sentAt, observation } of previous) {
    const { facts, ageMs = 0 } = observation
    if (typeof facts.red === 'string') last.set(facts.red, sentAt - ageMs)
  }
  return [...last].map(([red, seenAt]) => ({ red, seenAt }))
}

/** Compares a time by the host's clock with one by ours. What the host does not date may be later. */
function isAfter(time: LogTime | undefined, moment: number, { clockBehindMs }: FoundChecks): boolean {
  if (time === undefined) return true
  return time.notAfter + (clockBehindMs ?? CLOCKS_MS) >= moment - CLOCK_STEP_MS
}

const MAY_HAVE_BEEN = { mark: 'may_have_been' } as const

function factsOf({ awaited, isUnderWay, isUntold }: Unsettled, counted: readonly Check[]): Partial<Facts> {
  return {
    settling: true,
    ...(isUnderWay ? { under_way: true } : {}),
    ...(awaited > 0 ? { awaited } : {}),
    ...(isUntold ? { unnamed: true, ...seenNames(counted) } : {}),
  }
}

interface Shown {
  readonly missing: number
  readonly counted: readonly Check[]
  readonly isNamed: boolean
}

/**
 * What the host's lists of all runs tell of a claim that is not green. All passed at one time only if each did: one that never passed, or has
 * been red since before the claim, tells that they did not. Two things leave no trace in the lists: a run that was deleted, and that a red one
 * is newer than the claim, where others of its name passed or the claim names none. Looks from the claim on leave no room for either.
 */
function historyOf(
  red: readonly Check[],
  { missing, counted, isNamed }: Shown,
  { canBeDeleted = false, clockBehindMs }: FoundChecks,
  { previous, claimedAt, submittedAt, windowFrom, sentAt }: RepositoryQuery,
): Pick<Observation, 'mark' | 'stays'> {
  const hadMore = previous.some(
    ({ observation: { facts } }) => typeof facts.missing === 'number' && facts.missing < missing,
  )
  // All that was awaited was green: what is red now may be newer than the claim.
  const wasGreen = previous.some(({ observation: { facts } }) => facts.settling === true && facts.awaited === undefined)
  if (hadMore || wasGreen) return MAY_HAVE_BEEN
  const claimed = Math.min(claimedAt, submittedAt)
  const isWatched = (previous[0]?.sentAt ?? sentAt) - claimed <= WATCHED_MS
  const isBefore = (time: LogTime | undefined, moment: number) =>
    clockBehindMs !== undefined && time !== undefined && time.notAfter + Math.max(clockBehindMs, 0) < moment
  const isOld = ({ changedAt }: Check) => isBefore(changedAt, windowFrom)
  const mayBeNewer = (check: Check) =>
    !isNamed || counted.some((other) => other.outcome === 'passed' && isAlike(other, check))
  const neverPassed = red.some((check) => {
    const { passedBefore, isRunByHost, begunAt } = check
    if (passedBefore === undefined) return isRunByHost && isWatched
    return !passedBefore && (isWatched || !mayBeNewer(check) || isBefore(begunAt, claimed - CLOCKS_MS))
  })
  const wasNeverThere =
    neverPassed || (isNamed ? missing > 0 && (isWatched || !canBeDeleted) : isWatched && red.length === 0)
  if (wasNeverThere || red.some(isOld)) return LOG_WITHOUT_IT
  return red.length > 0 && red.every(({ passedBefore }) => passedBefore === true) ? MAY_HAVE_BEEN : {}
}

/** Both may be what a claim names. */
function isAlike(one: Check, other: Check): boolean {
  return one.name === other.name && one.by.some((by) => other.by.includes(by))
}

/** From the claim to the first look. Milliseconds. */
const WATCHED_MS = 10_000
/** A host's clock is measured to about a second. */
const CLOCK_STEP_MS = 2000
/** A client's clock may be ahead by so much. */
const CLOCKS_MS = 15_000

const LOG_WITHOUT_IT = { stays: [] } as const

/** When the last of them ended, where the host tells it of each. An earlier run may have passed before: it bounds from above only. */
function endedAt(checks: readonly Check[]): { readonly notAfter: number } | undefined {
  const ends = checks.flatMap(({ endedAt }) => endedAt ?? [])
  return ends.length < checks.length ? undefined : { notAfter: Math.max(...ends.map(({ notAfter }) => notAfter)) }
}

/** Under its other name the action has no verdict `late`: what passes after the tolerance is not told from what passed in it. */
function isTooLate(
  { action }: Pick<Claim, 'action'>,
  passed: { readonly notAfter: number } | undefined,
  { sentAt, inTimeUntil }: RepositoryQuery,
): boolean {
  return action !== checksPassProfile.action && sentAt > inTimeUntil && !(passed && passed.notAfter <= inTimeUntil)
}
