/**
 * The action `codehost.checks.pass`: the checks of a commit passed. A name alone proves little: whoever may write can post a green status
 * under any name. So a claim names each check and who reports it, and the receipt says who did. Of a claim that names none, all that the host
 * shows counts, when it is settled: that nothing is red yet does not mean that all passed.
 */
import {
  type ActionProfile,
  DestinationError,
  type LogTime,
  type Observation,
  type Static,
  Type,
} from '@claimcheck/core/plugin'
import { type Check, type FoundChecks, type RepositoryQuery, type WantedCheck, withoutBlame } from '../code-host.ts'
import { hasOwnName, isNamed } from '../reporters.ts'
import { atLast } from '../times.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import {
  claimedSha,
  closedObject,
  commonProfile,
  Host,
  MINUTE_MS,
  onlyTrue,
  repositoryFacts,
  repositoryWords,
} from './fields.ts'
import { haveAllPassed, redFact, redNames, reportedByFact, reportersFact, seenFact, seenNames } from './reported-by.ts'
import { findUnsettled, type Tally, type Unsettled } from './settled.ts'

const HOUR_MS = 60 * MINUTE_MS

// The pattern of reporters. The part behind the kind has no control character, and identifies one app, account, file or key.
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

const ClaimedCheck = closedObject({
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
})

const Params = closedObject({
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
})

const count = (title: string, description: string) => Type.Optional(Type.Integer({ title, minimum: 0, description }))
const flag = (title: string, description: string) => Type.Optional(Type.Literal(true, { title, description }))

const Facts = closedObject({
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
  settles: flag('To settle', 'The claim names no checks: what ends counts once nothing has changed for a minute.'),
  settling: flag('Not settled', 'All that was there had passed, and it was too early to call it all.'),
  awaited: count('Awaited', 'How many checks that comparable commits have are not here.'),
  unnamed: flag('To be named', 'No comparable commit tells which checks there are to be: the claim has to name them.'),
  seen: seenFact,
  red: redFact,
})
type Facts = Static<typeof Facts>

const checksPassProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.checks.pass',
  ...commonProfile,
  underWay: 'under_way',
  settles: 'settles',
  shows: { commit_found: true, passed: { atLeast: 1 }, failed: 0, pending: 0, missing: 0 },
  compared: {
    target: 'none',
    // Skipped checks count only against named checks.
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
      ...repositoryWords,
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
  params: Params,
  facts: Facts,
  required: { sha: 'content', checks: 'content' },
  toleranceMs: HOUR_MS,
  deadlineMs: 2 * HOUR_MS,
  access: {
    permission: "Reading the repository's checks, commit statuses, workflow runs and metadata.",
    anonymous: true,
  },
}

export const checksPass = defineAction({
  profile: checksPassProfile,
  reader: ({ checks }) => checks,
  async observe(found, { action, params }, query) {
    const { mark, ageMs } = found
    const checks = evidenceOf(found, params.checks)
    const repository = repositoryFactsOf(found)
    if (!checks) return { kind: 'absent', facts: { ...repository, commit_found: false }, ageMs, mark }
    const tally = tallyOf(checks, params.checks)
    const { counted, missing, red } = tally
    const facts = { ...repository, ...factsOf(tally, found) }
    if (missing > 0 || red.length > 0 || facts.passed === 0) {
      const told = { facts, ageMs, ...historyOf(tally, found, query) }
      const hasEnded = red.length > 0 && missing === 0 && facts.pending === 0
      return hasEnded
        ? { kind: 'present', differs: [params.checks ? 'checks' : 'sha'], ...told }
        : { kind: 'absent', ...told }
    }
    const unsettled = await findUnsettled(found, tally, query)
    if (unsettled) {
      return { kind: 'absent', facts: { ...facts, ...unsettledFacts(unsettled, counted) }, ageMs, mark: 'unsettled' }
    }
    const passed = passedAt(tally, found)
    if (wasTakenAway(counted, found, query) || isTooLate(action, passed, query)) {
      return { kind: 'absent', facts, ageMs, ...MAY_HAVE_BEEN }
    }
    // The time of a pass is told only if no check was red before: then all are green from when the last one ended.
    const stays = passed && !wasRed(query) ? [{ appeared: passed }] : undefined
    return { kind: 'present', differs: [], facts, ageMs, stays }
  },
})

/** Takes the checks that can be evidence. @throws DestinationError `unsupported_target` for a claim that names our own report */
function evidenceOf({ checks }: FoundChecks, wanted: readonly WantedCheck[] | undefined): readonly Check[] | undefined {
  if (wanted?.some(hasOwnName)) throw new DestinationError('unsupported_target')
  return checks?.map(withoutOwnWord)
}

/**
 * Takes the weight from what may be a report of ours, or of another workspace: it founds no green, and blames nobody. Whoever takes the name for a
 * check of their own changes no more than that.
 */
function withoutOwnWord(check: Check): Check {
  if (!hasOwnName(check)) return check
  return check.outcome === 'passed' ? { ...check, outcome: 'skipped' } : withoutBlame(check)
}

/** Counts the named checks; where none is named, all. Among all, what the host skips does not count against the rest; named, it has not passed. */
function tallyOf(checks: readonly Check[], wanted: readonly WantedCheck[] | undefined): Tally {
  const groups = wanted?.map((one) => checks.filter((check) => isNamed(check, one))) ?? [checks]
  const counted = [...new Set(groups.flat())]
  const isGreen = ({ outcome }: Check) => outcome === 'passed' || (!wanted && outcome === 'skipped')
  return {
    isNamed: wanted !== undefined,
    counted,
    missing: wanted ? groups.filter((group) => group.length === 0).length : 0,
    red: counted.filter((check) => !isGreen(check)),
  }
}

function factsOf({ isNamed, counted, missing }: Tally, { isGrowing }: FoundChecks) {
  const having = (outcome: Check['outcome']) => counted.filter((check) => check.outcome === outcome).length
  const pending = having('pending')
  const isUnderWay = pending > 0 || (missing > 0 && isGrowing)
  return {
    commit_found: true,
    passed: having('passed'),
    failed: having('failed'),
    pending,
    skipped: having('skipped'),
    missing,
    counted: counted.length,
    reported_by: reportersFact(counted),
    red: redNames(counted),
    under_way: onlyTrue(isUnderWay),
    settles: onlyTrue(isUnderWay && !isNamed),
  }
}

function unsettledFacts({ awaited, isUnderWay, isUntold }: Unsettled, counted: readonly Check[]): Partial<Facts> {
  return {
    settling: true,
    under_way: onlyTrue(isUnderWay),
    awaited: awaited > 0 ? awaited : undefined,
    unnamed: onlyTrue(isUntold),
    seen: isUntold ? seenNames(counted) : undefined,
  }
}

function wasRed({ previous }: RepositoryQuery): boolean {
  return previous.some(({ observation: { facts } }) => typeof facts.failed === 'number' && facts.failed > 0)
}

/** Tells whether a check that an earlier look shows as red is gone: it was deleted, unless it passed since. */
function wasTakenAway(counted: readonly Check[], found: FoundChecks, { previous }: RepositoryQuery): boolean {
  /** The last look at which each list of names was red, less the age of its answer. The names are as the fact has them. */
  const lastRed = new Map<string, number>()
  for (const { sentAt, observation } of previous) {
    const { facts, ageMs = 0 } = observation
    if (typeof facts.red === 'string') lastRed.set(facts.red, sentAt - ageMs)
  }
  return [...lastRed].some(([red, seenAt]) => {
    const isSince = ({ endedAt, changedAt }: Check) => isAfter(endedAt ?? changedAt, seenAt, found)
    return !haveAllPassed(red, counted.filter(isSince))
  })
}

/** Compares a time by the host's clock with one by ours. What the host does not date may be later. */
function isAfter(time: LogTime | undefined, moment: number, { clockBehindMs }: FoundChecks): boolean {
  if (time === undefined) return true
  return time.notAfter + (clockBehindMs ?? CLOCKS_MS) >= moment - CLOCK_STEP_MS
}

const MAY_HAVE_BEEN = { mark: 'may_have_been' } as const

/**
 * Tells by the host's lists of all runs what was before, of a claim that is not green. All passed at one time only if each did: one check that never
 * passed, or has been red since before the claim, tells that they did not. Two things leave no trace in the lists: a run that was deleted, and that a
 * red one is newer than the claim, where others of its name passed or the claim names none. Looks from the claim on leave no room for either.
 */
function historyOf(
  { isNamed, counted, missing, red }: Tally,
  { canBeDeleted = false, clockBehindMs }: FoundChecks,
  { previous, claimedAt, submittedAt, windowFrom, sentAt }: RepositoryQuery,
): Pick<Observation, 'mark' | 'stays'> {
  const hadMore = previous.some(
    ({ observation: { facts } }) => typeof facts.missing === 'number' && facts.missing < missing,
  )
  // All that was awaited was green: what is red now may be newer than the claim.
  const wasGreen = previous.some(({ observation: { facts } }) => facts.settling === true && facts.awaited === undefined)
  const isAllSkipped = counted.length > 0 && missing === 0 && red.length === 0
  if (hadMore || wasGreen || isAllSkipped) return MAY_HAVE_BEEN
  const claimed = Math.min(claimedAt, submittedAt)
  const isWatched = (previous[0]?.sentAt ?? sentAt) - claimed <= WATCHED_MS
  const isBefore = (time: LogTime | undefined, moment: number) =>
    clockBehindMs !== undefined && time !== undefined && time.notAfter + Math.max(clockBehindMs, 0) < moment
  const isOld = ({ changedAt }: Check) => isBefore(changedAt, windowFrom)
  const mayBeNewer = (check: Check) =>
    !isNamed || counted.some((other) => other.outcome === 'passed' && areAlike(other, check))
  const neverPassed = red.some((check) => {
    const { passedBefore, isRunByHost, begunAt } = check
    if (passedBefore === undefined) return isRunByHost && isWatched
    return !passedBefore && (isWatched || !mayBeNewer(check) || isBefore(begunAt, claimed - CLOCKS_MS))
  })
  const wasNeverThere =
    neverPassed || (isNamed ? missing > 0 && (isWatched || !canBeDeleted) : isWatched && red.length === 0)
  if (wasNeverThere || red.some(isOld)) return { stays: [] }
  return red.length > 0 && red.every(({ passedBefore }) => passedBefore === true) ? MAY_HAVE_BEEN : {}
}

/** Tells whether a claim that names one of two checks may mean the other. */
function areAlike(one: Check, other: Check): boolean {
  return one.name === other.name && one.by.some((by) => other.by.includes(by))
}

/** The longest time from the claim to the first look in which nothing comes and goes unseen. Milliseconds. */
const WATCHED_MS = 10_000
/** The precision to which a host's clock is measured. */
const CLOCK_STEP_MS = 2000
/** The time by which a client's clock may be ahead. */
const CLOCKS_MS = 15_000

/**
 * The time when all had passed: when the last of the named checks ended, where the host tells it of each, or when the host last heard of any. An
 * earlier run may have passed before: it bounds from above only.
 */
function passedAt({ isNamed, counted }: Tally, { changedAt }: FoundChecks): LogTime | undefined {
  if (!isNamed) return changedAt && atLast(changedAt)
  const ends = counted.flatMap(({ endedAt }) => endedAt ?? [])
  return ends.length < counted.length ? undefined : { notAfter: Math.max(...ends.map(({ notAfter }) => notAfter)) }
}

/**
 * Tells whether the checks passed too late for the action's other name, which has no verdict `late`: what passes after the tolerance is not told from
 * what passed in it.
 */
function isTooLate(action: string, passed: LogTime | undefined, { sentAt, inTimeUntil }: RepositoryQuery): boolean {
  return action !== checksPassProfile.action && sentAt > inTimeUntil && !(passed && passed.notAfter <= inTimeUntil)
}
