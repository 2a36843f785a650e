/** Runs one case: what its check sees, then everything that must not change that. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Observation } from '../evidence.ts'
import type { Verdict } from '../verdict.ts'
import { createCacheStore } from './check-cache.ts'
import { runFaults } from './fault-run.ts'
import { runFreshness } from './freshness-run.ts'
import { type CheckAsked, errorCode, type Outcome, thrownText } from './host.ts'
import {
  described,
  isSame,
  isSameSight,
  observationProblem,
  PARTS,
  sayTheSame,
  showsClaimed,
  unheardProblem,
} from './observation.ts'
import type { Case, Sight } from './options.ts'
import { type CheckedCase, type PreparedCase, prepareCase, type SeenCase, tellWords } from './prepared.ts'
import { at, type Run } from './run.ts'
import { runSecrets, SECRETS } from './secret-run.ts'
import { MOST_CHECKS, previousOf, verdictOf, wrongIn } from './verdict-run.ts'

const MANY = 50

/** @returns what its check saw, where there was one */
export async function runCase(run: Run, row: Case): Promise<CheckedCase | undefined> {
  const { clock, findings, lanes, options } = run
  const place = { case: row.name }
  const [lane] = lanes
  const prepare = async () =>
    prepareCase(row, await run.set(row.situation), {
      verifierFor: lane!.verifierFor,
      startedAt: run.startedAt,
      findings,
    })
  const prepared = await prepare()
  if (!prepared) return undefined
  clock.set(prepared.submittedAt)
  const connection = row.connection === undefined ? (options.connection ?? null) : row.connection
  const asked: CheckAsked = { claim: prepared.claim, connection, doing: { check: 'case.sees', case: row.name } }
  const earlier = await checkBefore(run, asked)
  if (earlier) await run.set(row.situation)
  const outcome = await run.check(lane!, asked)
  const missed = sightProblem(prepared.sees, outcome)
  findings.tell('case.sees', missed, place)
  if (missed !== undefined && earlier?.observation && isSameSight(earlier.observation, outcome.observation)) {
    findings.tell('cache.serves-old', 'sees what an earlier check saw, and not what is there now', place)
  }
  const { observation } = outcome
  if ('observation' in outcome) tellObservation(run, prepared, outcome, observation)
  findings.tell('observation.answered', unheardProblem(outcome.observation, outcome), place)

  if (run.wants('same.observation')) await runSame(run, { prepared, asked, outcome })
  if (observation && !observationProblem(prepared.verifier.profile, observation)) {
    const seenCase: SeenCase = { ...prepared, asked, outcome, seen: observation }
    const before = await runFreshness(run, seenCase)
    const again = await prepare()
    const isRepeated = again !== undefined && isSame(again.claim, prepared.claim)
    findings.tell(
      'case.claim',
      isRepeated ? undefined : 'the same situation gave another claim: `set` must repeat itself',
      place,
    )
    clock.set(prepared.submittedAt)
    const whole = before ? { ...seenCase, before } : seenCase
    await runFaults(run, whole)
    if (run.wants(...SECRETS)) await runSecrets(run, whole)
    if (run.wants('load.fifty')) await runFifty(run, whole)
    if (run.wants('absence.hides-permission')) await runUnprivileged(run, whole)
  }
  if (run.wants('case.verdict', 'words.fill', 'observation.answered')) await runVerdict(run, prepared, asked)
  return { ...prepared, asked, outcome }
}

/** The first of all checks of a case sees the earlier situation: what a plugin keeps of it is old from then on. */
async function checkBefore({ check, lanes, options, set }: Run, asked: CheckAsked): Promise<Outcome | undefined> {
  if (options.before === undefined || !options.destination.set) return undefined
  await set(options.before)
  return check(lanes[0]!, asked)
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

function tellObservation(
  { clock, findings }: Run,
  { verifier, claim, row }: PreparedCase,
  outcome: Outcome,
  observation: Observation | undefined,
): void {
  const place = { case: row.name }
  const wrong = wrongIn(outcome, { profile: verifier.profile, claim }, clock.now(), clock.now())
  for (const name of PARTS.map((part) => `observation.${part}`)) {
    findings.tell(name, wrong?.name === name ? wrong.problem : undefined, place)
  }
  // What a connection that is no HTTP says of the place, only the plugin knows.
  const isTold = outcome.secrets.length > 0 && outcome.socketRoutes.length === 0
  if (observation?.kind !== 'absent' || !isTold) return
  const { absentRoutes = [] } = row
  const sawParent = outcome.routes.some(
    ({ key, answer, isExchange }) =>
      !isExchange && answer.status >= 200 && answer.status < 300 && !absentRoutes.some((route) => route.test(key)),
  )
  findings.tell(
    'absence.parent-read',
    sawParent
      ? undefined
      : 'says absent without an answer that shows that these credentials may see the place: a 404 can hide it',
    place,
  )
}

/** The same answers, a moment later, and with what the first check remembered. */
async function runSame(
  { check, clock, findings, lanes }: Run,
  { prepared, asked, outcome }: { prepared: PreparedCase; asked: CheckAsked; outcome: Outcome },
): Promise<void> {
  const place = { case: prepared.row.name }
  clock.set(clock.now() + 1500)
  await sleep(5)
  const again = await check(lanes[0]!, at(asked, 'same.observation'))
  const isEqual =
    isSameSight(outcome.observation, again.observation) && errorCode(outcome.error) === errorCode(again.error)
  findings.tell(
    'same.observation',
    isEqual
      ? undefined
      : `the same answers gave ${JSON.stringify(outcome.observation)}, and then ${JSON.stringify(again.observation)}`,
    place,
  )
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
  const unheard = outcomes.find((outcome) => unheardProblem(outcome.observation, outcome) !== undefined)
  if (unheard) findings.tell('observation.answered', unheardProblem(unheard.observation, unheard), { case: row.name })
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
  findings.tell(
    'absence.hides-permission',
    isRight
      ? undefined
      : `says \`${observation ? safelyDescribed(observation) : thrownText(error)}\` of what the credentials may not see`,
    { case: row.name },
  )
}

function verdictProblem(verdict: Verdict | undefined, expected: string): string | undefined {
  if (!verdict) {
    return `the kit stopped after ${MOST_CHECKS} checks, which decide nothing yet: give the case's claim a nearer deadline, or its profile a shorter tolerance`
  }
  const { value, reasonCode } = verdict
  const made = reasonCode === undefined ? value : `${value} (${reasonCode})`
  return value === expected ? undefined : `the rules make it ${made} in place of ${expected}`
}

async function runVerdict(run: Run, prepared: PreparedCase, asked: CheckAsked): Promise<void> {
  const { check, clock, findings, lanes, set } = run
  const { row, verifier, claim, submittedAt } = prepared
  const changes = (row.changes ?? []).toSorted((one, other) => one.afterMs - other.afterMs)
  const store = createCacheStore()
  let reached = 0
  let facts = {}
  const verdict = await verdictOf({
    profile: verifier.profile,
    claim,
    submittedAt,
    clock,
    async reach() {
      for (; reached < changes.length && clock.now() >= claim.claimedAt + changes[reached]!.afterMs; reached++) {
        await set(changes[reached]!.situation)
      }
    },
    async check(records) {
      const outcome = await check(lanes[0]!, { ...at(asked, 'case.verdict'), store, previous: previousOf(records) })
      findings.tell('observation.answered', unheardProblem(outcome.observation, outcome), { case: row.name })
      facts = outcome.observation?.facts ?? facts
      return outcome
    },
  })
  const problem = verdictProblem(verdict, row.verdict)
  findings.tell('case.verdict', problem, { case: row.name })
  if (problem === undefined) tellWords(prepared, facts, findings)
}
