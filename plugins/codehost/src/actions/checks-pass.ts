/**
 * The action `codehost.checks.pass`: the checks of a commit passed. A name alone proves little: whoever may write can post a green status
 * under any name. So a claim names each check and who reports it; of a claim that names none, only what the host ran itself counts.
 */
import { type ActionProfile, isLateLook, type Observation, type Static, Type } from '@claimcheck/core/plugin'
import type { Check, FoundChecks, RepositoryQuery } from '../code-host.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import { ClaimedSha, Host, MINUTE_MS, RepositoryPath, repositoryFacts } from './fields.ts'

const HOUR_MS = 60 * MINUTE_MS

const ClaimedCheck = Type.Object(
  {
    name: Type.String({ title: 'Name', minLength: 1, maxLength: 255, description: 'As the host shows it.' }),
    by: Type.String({
      title: 'Reported by',
      minLength: 1,
      maxLength: 255,
      description:
        'Who reports it: an app (`github-actions`), the file of a workflow (`.github/workflows/ci.yml`), or an account.',
    }),
  },
  { additionalProperties: false },
)

const Params = Type.Object(
  {
    sha: Type.String({ title: 'Commit', ...ClaimedSha, description: 'The full id of the commit.' }),
    checks: Type.Optional(
      Type.Array(ClaimedCheck, {
        title: 'Checks',
        minItems: 1,
        maxItems: 50,
        description:
          'The checks that passed. When left out: all that the host shows, of which it must have run at least one itself.',
        examples: [[{ name: 'build', by: 'github-actions' }]],
      }),
    ),
    host: Host,
  },
  { additionalProperties: false },
)

const count = (title: string, description: string) => Type.Optional(Type.Integer({ title, minimum: 0, description }))

const Facts = Type.Object(
  {
    ...repositoryFacts,
    commit_found: Type.Boolean({ title: 'Commit found', description: 'The repository has the commit.' }),
    passed: count('Passed', 'How many of the checks that count have passed.'),
    failed: count('Failed', 'How many of them have failed.'),
    pending: count('Pending', 'How many of them have not ended.'),
    skipped: count('Skipped', 'How many of them were skipped, or ended without a result. They have not passed.'),
    missing: count('Missing', 'How many of the claimed checks the host does not show.'),
  },
  { additionalProperties: false },
)
type Facts = Static<typeof Facts>

export const checksPassProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.checks.pass',
  version: '1',
  rulesVersion: 2,
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

type Params = Static<typeof Params>

export const checksPass = defineAction({
  profile: checksPassProfile,
  reader: ({ checks }) => checks,
  query: ({ sha, checks }, query) => ({ ...query, sha, ...(checks === undefined ? {} : { wanted: checks }) }),
  observe: (found, { params }, query) => observed(found, params, query),
})

/** Passing is no state that stays: a check that passed may have been run again. So what is not green now is blamed only where no earlier run was. */
function observed(found: FoundChecks, { checks: wanted }: Params, query: RepositoryQuery): Observation<Facts> {
  const { checks, mark, ageMs } = found
  const aged = ageMs === undefined ? {} : { ageMs }
  if (checks === undefined) {
    const facts = { ...repositoryFactsOf(found), commit_found: false }
    return { kind: 'absent', facts, ...aged, ...(mark === undefined ? {} : { mark }) }
  }
  const groups = wanted?.map((one) => checks.filter((check) => isNamed(check, one))) ?? [checks]
  const counted = [...new Set(groups.flat())]
  const having = (outcome: Check['outcome']) => counted.filter((check) => check.outcome === outcome)
  const missing = wanted ? groups.filter((group) => group.length === 0).length : 0
  const facts: Facts = {
    ...repositoryFactsOf(found),
    commit_found: true,
    passed: having('passed').length,
    failed: having('failed').length,
    pending: having('pending').length,
    skipped: having('skipped').length,
    missing,
  }
  // Of all that the host shows, what it skips does not count against the rest. A skipped check that the claim names has not passed.
  const isGreen = (check: Check) => check.outcome === 'passed' || (!wanted && check.outcome === 'skipped')
  const red = counted.filter((check) => !isGreen(check))
  if (!wanted && red.length === 0 && !counted.some((check) => check.isRunByHost && check.outcome === 'passed')) {
    // All that is green may have been posted by the agent itself. There may be nothing yet, too.
    return {
      kind: 'absent',
      facts,
      ...aged,
      ...(counted.length > 0 || isLateLook(query) ? { mark: 'may_have_been' as const } : {}),
    }
  }
  if (missing === 0 && red.length === 0) return { kind: 'present', differs: [], facts, ...aged, ...endedAt(counted) }
  // Whoever may write can delete the runs of a workflow, and their checks go with them.
  const mayHaveGone = missing > 0 && (isLateLook(query) || hadMore(query, missing))
  // All of them passed at one time only if each of them did. Where the claim names none, one that failed may be newer than the claim.
  const mayHavePassed =
    red.length > 0 &&
    (red.every(({ passedBefore }) => passedBefore ?? isLateLook(query)) || (!wanted && isLateLook(query)))
  const marked = mayHavePassed || mayHaveGone ? { mark: 'may_have_been' as const } : {}
  const hasEnded = missing === 0 && having('pending').length === 0
  return hasEnded
    ? { kind: 'present', differs: [wanted ? 'checks' : 'sha'], facts, ...aged, ...marked }
    : { kind: 'absent', facts, ...aged, ...marked }
}

/** An earlier read shows some of the checks that are missing now. */
function hadMore({ previous }: RepositoryQuery, missing: number): boolean {
  return previous.some(({ observation: { facts } }) => typeof facts.missing === 'number' && facts.missing < missing)
}

function isNamed({ name, by }: Check, wanted: { readonly name: string; readonly by: string }): boolean {
  return name === wanted.name && by.some((one) => one.toLowerCase() === wanted.by.toLowerCase())
}

/** When the last of them ended, where the host tells it of each. An earlier run may have passed before: it bounds from above only. */
function endedAt(checks: readonly Check[]): Pick<Observation, 'stays'> {
  const ends = checks.flatMap(({ endedAt }) => endedAt ?? [])
  if (ends.length < checks.length || ends.length === 0) return {}
  return { stays: [{ appeared: { notAfter: Math.max(...ends.map(({ notAfter }) => notAfter)) } }] }
}
