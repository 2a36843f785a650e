/** Runs one case: its first check, then everything that must not change what the check sees, then its verdict. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Observation, showsClaimed } from '../evidence.ts'
import type { Verdict } from '../verdict.ts'
import { createCacheStore } from './check-cache.ts'
import { runFaults } from './fault-run.ts'
import { runFreshness } from './freshness-run.ts'
import { type CheckRequest, errorCode, type Outcome, thrownText } from './host.ts'
import { runIdentity } from './identity-run.ts'
import { described, isSame, isSameSight, observationProblem, PARTS, sayTheSame, unheardProblem } from './observation.ts'
import type { Case, Sight } from './options.ts'
import { type CheckedCase, type PreparedCase, prepareCase, type SeenCase, tellWords } from './prepared.ts'
import { at, type Run } from './run.ts'
import { runSecrets, SECRETS } from './secret-run.ts'
import { MOST_CHECKS, previousOf, verdictOf, wrongIn } from './verdict-run.ts'

const MANY = 50

/** Runs one case. @returns the case with what its check saw; undefined where none could be made */
export async function runCase(run: Run, row: Case): Promise<CheckedCase | undefined> {
  const { clock, findings, lanes, options } = run
  const place = { case: row.name }
  const lane = lanes[0]!
  const prepare = async () => prepareCase(run, row, await run.set(row.situation))
  const prepared = await prepare()
  if (!prepared) return undefined
  clock.set(prepared.claim.submittedAt)
  const connection = row.connection === undefined ? (options.connection ?? null) : row.connection
  const asked: CheckRequest = { claim: prepared.claim, connection, doing: { check: 'case.sees', case: row.name } }
  // The first of all checks sees the earlier situation: what a plugin remembers of it is old from then on.
  let earlier: Outcome | undefined
  if (options.before !== undefined && options.destination.set) {
    await run.set(options.before)
    earlier = await run.check(lane, asked)
    await run.set(row.situation)
  }
  const outcome = await run.check(lane, asked)
  const { observation } = outcome
  const missed = sightProblem(prepared.sees, outcome)
  findings.tell('case.sees', missed, place)
  if (missed !== undefined && earlier?.observation && isSameSight(earlier.observation, observation)) {
    findings.tell('cache.serves-old', 'sees what an earlier check saw, and not what is there now', place)
  }
  if ('observation' in outcome) tellObservation(run, prepared, outcome)
  findings.tell('observation.answered', unheardProblem(observation, outcome), place)

  const checked: CheckedCase = { ...prepared, asked, outcome }
  if (run.wants('same.observation')) await runSame(run, checked)
  if (observation && !observationProblem(prepared.verifier.profile, observation)) {
    const before = await runFreshness(run, { ...checked, seen: observation })
    const again = await prepare()
    const isRepeated = again !== undefined && isSame(again.claim, prepared.claim)
    const problem = 'the same situation gave another claim: `set` must repeat itself'
    findings.tell('case.claim', isRepeated ? undefined : problem, place)
    clock.set(prepared.claim.submittedAt)
    await runUnchanged(run, { ...checked, seen: observation, before })
  }
  if (run.wants('case.verdict', 'words.fill', 'observation.answered')) await runVerdict(run, prepared, asked)
  return checked
}

/** Makes the checks after which the situation must look as it did. */
async function runUnchanged(run: Run, seenCase: SeenCase): Promise<void> {
  await runFaults(run, seenCase)
  if (run.wants(...SECRETS)) await runSecrets(run, seenCase)
  if (run.wants('load.fifty')) await runFifty(run, seenCase)
  if (run.wants('absence.hides-permission')) await runUnprivileged(run, seenCase)
  if (run.wants('identity.told', 'identity.another')) await runIdentity(run, seenCase)
}

function sightProblem(sees: Sight, { observation, error }: Outcome): string | undefined {
  if ('error' in sees) {
    if (observation) return `says \`${described(observation)}\` in place of the error \`${sees.error}\``
    return errorCode(error) === sees.error ? undefined : `throws ${thrownText(error)} in place of \`${sees.error}\``
  }
  const expected = { differs: [], ...sees } as unknown as Observation
  if (!observation) return `throws ${thrownText(error)} in place of \`${described(expected)}\``
  const said = safelyDescribed(observation)
  if (said !== described(expected)) return `says \`${said}\` in place of \`${described(expected)}\``
  const facts = (observation.facts ?? {}) as Record<string, unknown>
  const wrong = Object.entries(sees.facts ?? {}).find(([name, value]) => !isSame(facts[name], value))
  if (wrong)
    return `gives the fact ${wrong[0]} as ${JSON.stringify(facts[wrong[0]])} in place of ${JSON.stringify(wrong[1])}`
  if (sees.stays !== undefined && !isSame(sees.stays, observation.stays)) {
    return `gives the stays ${JSON.stringify(observation.stays)} in place of ${JSON.stringify(sees.stays)}`
  }
  return undefined
}

function safelyDescribed(observation: Observation): string {
  try {
    return described(observation)
  } catch {
    return 'what is no observation'
  }
}

function tellObservation({ clock, findings }: Run, { verifier, claim, row }: PreparedCase, outcome: Outcome): void {
  const place = { case: row.name }
  const wrong = wrongIn(outcome, { profile: verifier.profile, claim }, clock.now(), clock.now())
  for (const name of PARTS.map((part) => `observation.${part}`)) {
    findings.tell(name, wrong?.name === name ? wrong.problem : undefined, place)
  }
  // Only the plugin knows what a connection that is not HTTP says of the place.
  const isTold = outcome.secrets.length > 0 && outcome.socketRoutes.length === 0
  if (outcome.observation?.kind !== 'absent' || !isTold) return
  const { absentRoutes = [] } = row
  const sawParent = outcome.routes.some(
    ({ key, answer, isExchange }) =>
      !isExchange && answer.status >= 200 && answer.status < 300 && !absentRoutes.some((route) => route.test(key)),
  )
  const problem = 'says absent without an answer that shows that these credentials may see the place: a 404 can hide it'
  findings.tell('absence.parent-read', sawParent ? undefined : problem, place)
}

/** Checks again: the same answers, a moment later, with a cache that the first check has filled. */
async function runSame({ check, clock, findings, lanes }: Run, { row, asked, outcome }: CheckedCase): Promise<void> {
  clock.set(clock.now() + 1500)
  await sleep(5)
  const again = await check(lanes[0]!, at(asked, 'same.observation'))
  const isEqual =
    isSameSight(outcome.observation, again.observation) && errorCode(outcome.error) === errorCode(again.error)
  const problem = `the same answers gave ${JSON.stringify(outcome.observation)}, and then ${JSON.stringify(again.observation)}`
  findings.tell('same.observation', isEqual ? undefined : problem, { case: row.name })
}

async function runFifty(
  { check, findings, lanes, memory }: Run,
  { asked, seen, row, verifier }: SeenCase,
): Promise<void> {
  const lane = lanes[0]!
  memory.clear()
  const store = createCacheStore()
  const fifty = { ...at(asked, 'load.fifty'), store }
  const first = check(lane, fifty)
  const others = Array.from({ length: MANY - 1 }, () => check(lane, { ...fifty, joins: true }))
  const outcomes = await Promise.all([first, ...others])
  const unheard = outcomes.map((outcome) => unheardProblem(outcome.observation, outcome)).find(Boolean)
  if (unheard !== undefined) findings.tell('observation.answered', unheard, { case: row.name })
  const wrong = outcomes.find(
    ({ observation }) =>
      !observation || observationProblem(verifier.profile, observation) || !isSameSight(observation, seen),
  )
  const said = wrong && (wrong.observation ? JSON.stringify(wrong.observation) : thrownText(wrong.error))
  findings.tell('load.fifty', wrong && `one of ${MANY} checks at once gives ${said}`, { case: row.name })
}

async function runUnprivileged(
  { check, findings, lanes, options }: Run,
  { asked, seen, row, verifier }: SeenCase,
): Promise<void> {
  const { unprivileged } = options
  if (unprivileged === undefined)
    return findings.untested('absence.hides-permission: bring `unprivileged`, credentials that may see less')
  if (!showsClaimed(seen) || asked.connection === null) return
  const { observation, error } = await check(lanes[0]!, {
    ...at(asked, 'absence.hides-permission'),
    connection: unprivileged,
  })
  const isRight = observation
    ? !observationProblem(verifier.profile, observation) && sayTheSame(observation, seen)
    : errorCode(error) !== undefined
  const said = observation ? safelyDescribed(observation) : thrownText(error)
  const problem = `says \`${said}\` of what the credentials may not see`
  findings.tell('absence.hides-permission', isRight ? undefined : problem, { case: row.name })
}

function verdictProblem(verdict: Verdict | undefined, expected: string): string | undefined {
  if (!verdict) {
    return `the kit stopped after ${MOST_CHECKS} checks, which decide nothing yet: give the case's claim a nearer deadline, or its profile a shorter tolerance`
  }
  const { value, reasonCode } = verdict
  const made = reasonCode === undefined ? value : `${value} (${reasonCode})`
  return value === expected ? undefined : `the rules make it ${made} in place of ${expected}`
}

async function runVerdict(run: Run, prepared: PreparedCase, asked: CheckRequest): Promise<void> {
  const { check, clock, findings, lanes, set } = run
  const { row, verifier, claim } = prepared
  const changes = (row.changes ?? []).toSorted((one, other) => one.afterMs - other.afterMs)
  const store = createCacheStore()
  let reached = 0
  let facts = {}
  const verdict = await verdictOf({
    profile: verifier.profile,
    claim,
    clock,
    async reach() {
      for (; reached < changes.length && clock.now() >= claim.claimedAt + changes[reached]!.afterMs; reached++) {
        await set(changes[reached]!.situation)
      }
    },
    async check(records, identity) {
      const previous = previousOf(records)
      const outcome = await check(lanes[0]!, { ...at(asked, 'case.verdict'), store, previous, identity })
      findings.tell('observation.answered', unheardProblem(outcome.observation, outcome), { case: row.name })
      facts = outcome.observation?.facts ?? facts
      return outcome
    },
  })
  const problem = verdictProblem(verdict, row.verdict)
  findings.tell('case.verdict', problem, { case: row.name })
  if (problem === undefined) tellWords(prepared, facts, findings)
}
