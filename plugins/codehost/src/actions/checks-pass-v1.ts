/** `codehost.checks.pass`, version 1: for claims that were submitted under it and wait still. New claims are of the newest version. */
import { type ActionProfile, isLateLook, type Observation, type Static, Type } from '@claimcheck/core/plugin'
import type { Check, FoundChecks, RepositoryQuery, WantedCheck } from '../code-host.ts'
import { identifiersOf, isNamed } from '../reporters.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import { checksPassProfile, countFacts } from './checks-pass.ts'
import { ClaimedSha, Host, repositoryFacts } from './fields.ts'

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

const Facts = Type.Object({ ...repositoryFacts, ...countFacts }, { additionalProperties: false })
type Facts = Static<typeof Facts>

const { underWay: _none, shows: _shows, words, ...rest } = checksPassProfile
const { repository, commit_found, passed } = words.facts ?? {}

const profile: ActionProfile<typeof Params, typeof Facts> = {
  ...rest,
  version: '1',
  rulesVersion: 2,
  params: Params,
  facts: Facts,
  words: { ...words, facts: { repository: repository!, commit_found: commit_found!, passed: passed! } },
}

type Params = Static<typeof Params>

export const checksPassV1 = defineAction({
  profile,
  reader: ({ checks }) => checks,
  query: ({ sha, checks }, query) => ({ ...query, sha, ...(checks === undefined ? {} : { wanted: wantedOf(checks) }) }),
  observe: (found, { params }, query) => observed(found, params, query),
})

function wantedOf(checks: NonNullable<Params['checks']>): WantedCheck[] {
  return checks.map(({ name, by }) => ({ name, by: identifiersOf(by) }))
}

/** Passing is no state that stays: a check that passed may have been run again. So what is not green now is blamed only where no earlier run was. */
function observed(found: FoundChecks, params: Params, query: RepositoryQuery): Observation<Facts> {
  const { checks, mark, ageMs } = found
  const wanted = params.checks && wantedOf(params.checks)
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
  // Accounts that may write can delete the runs of a workflow, and their checks go with them.
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

/** When the last of them ended, where the host tells it of each. An earlier run may have passed before: it bounds from above only. */
function endedAt(checks: readonly Check[]): Pick<Observation, 'stays'> {
  const ends = checks.flatMap(({ endedAt }) => endedAt ?? [])
  if (ends.length < checks.length || ends.length === 0) return {}
  return { stays: [{ appeared: { notAfter: Math.max(...ends.map(({ notAfter }) => notAfter)) } }] }
}
