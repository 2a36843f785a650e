/** Calls `checkMany` with several claims: a result for each in its order, the same as alone, and errors for those that they concern. */
import { isDestinationError } from '../contract/destination-error.ts'
import { type Observation, showsClaimed } from '../evidence.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import type { CallResult } from './call.ts'
import { jsonOf, withHeaders } from './exchange.ts'
import type { Route, Strike, StruckRequest } from './fault-proxy.ts'
import { FAULTS } from './faults.ts'
import { errorCode, thrownText } from './host.ts'
import { isSame, isSameSight, observationProblem, sayTheSame, unheardProblem } from './observation.ts'
import type { CheckedCase } from './prepared.ts'
import type { Run } from './run.ts'

/** Cases with different claims that can be checked in one call. */
type Group = readonly CheckedCase[]

const MOST_ITEMS = 3
const CHECKED = ['many.each', 'many.order', 'many.same', 'many.errors', 'many.malformed']

export async function runMany(run: Run, checked: readonly CheckedCase[]): Promise<void> {
  const served = checked.filter(({ verifier }) => verifier.checkMany)
  if (served.length === 0 || !run.wants(...CHECKED)) return
  for (const { asked, outcome, row } of served) {
    await run.set(row.situation)
    const single = await run.check(run.lanes[0]!, {
      ...asked,
      isSingle: true,
      doing: { check: 'many.same', case: row.name },
    })
    const problem = isResult(single.observation ?? single.error, outcome)
      ? undefined
      : `check says ${outcomeText(single)} where checkMany says ${outcomeText(outcome)}`
    run.findings.tell('many.same', problem, { case: row.name })
  }
  const groups = groupsOf(served)
  if (groups.length === 0) {
    run.findings.untested('many.order, many.errors: bring cases with different claims in one situation')
  }
  for (const group of groups) await runGroup(run, group)
}

function groupsOf(served: readonly CheckedCase[]): Group[] {
  const groups: CheckedCase[][] = []
  for (const one of served) {
    const { verifier, asked, row, claim } = one
    const group = groups.find(
      ([first]) =>
        verifier.profile.action === first!.verifier.profile.action &&
        asked.connection === first!.asked.connection &&
        isSame(row.situation, first!.row.situation),
    )
    if (!group) groups.push([one])
    else if (!group.some((other) => isSame(other.claim, claim))) group.push(one)
  }
  return groups.filter(({ length }) => length > 1)
}

async function runGroup(run: Run, group: Group): Promise<void> {
  const { clock, findings } = run
  const place = { case: group.map(({ row }) => row.name).join(' + ') }
  clock.set(Math.max(...group.map(({ claim }) => claim.submittedAt)))
  await run.set(group[0]!.row.situation)
  const called = await callMany(run, group, 'many.order')
  for (const [name, problem] of resultProblems(called, group)) findings.tell(name, problem, place)
  const seen = Array.isArray(called.value) ? called.value.find((one) => !(one instanceof Error)) : undefined
  findings.tell('observation.answered', unheardProblem(seen, called), place)
  const backwards = group.toReversed()
  const order = resultProblems(await callMany(run, backwards, 'many.order'), backwards)
  for (const [name, problem] of order) if (problem !== undefined) findings.tell(name, problem, place)
  for (const route of called.routes) await strikeRoute(run, group, route, place)
}

function callMany(
  { lanes }: Run,
  group: Group,
  check: string,
  strike?: Strike,
): Promise<CallResult<readonly unknown[]>> {
  return lanes[0]!.checkMany({
    claims: group.map(({ claim }) => claim),
    connection: group[0]!.asked.connection,
    doing: { check, case: group.map(({ row }) => row.name).join(' + ') },
    strike,
  })
}

function resultProblems(
  called: CallResult<readonly unknown[]>,
  group: Group,
): [name: string, problem: string | undefined][] {
  const { value, error } = called
  if (!Array.isArray(value) || value.length !== group.length) {
    const got =
      'error' in called ? `throws ${thrownText(error)}` : `gives ${Array.isArray(value) ? value.length : 'no'} results`
    return [['many.each', `checkMany ${got} for ${group.length} claims`]]
  }
  const wrong = value.findIndex((result, index) => !isResult(result, group[index]!.outcome))
  if (wrong < 0) return ['many.each', 'many.order', 'many.same'].map((name) => [name, undefined])
  const isElsewhere = group.every(({ outcome }) => value.some((result) => isResult(result, outcome)))
  const problem = `checkMany says ${resultText(value[wrong])} of what alone is ${outcomeText(group[wrong]!.outcome)}`
  return isElsewhere ? [['many.order', `${problem}: its results are in another order`]] : [['many.same', problem]]
}

async function strikeRoute(run: Run, group: Group, route: Route, place: { case: string }): Promise<void> {
  const { findings } = run
  const users = group.filter(({ outcome }) => outcome.routes.some(({ key }) => key === route.key))
  const where = { ...place, route: route.key }
  const on = (key: string) => key === route.key
  const struck = FAULTS.filter(({ name }) => name === 'fault.html-for-json' || name === 'fault.500')
  for (const { says, answer } of struck) {
    const called = await callMany(run, group, 'many.errors', { on, fault: answer })
    const isOfOne = users.length === 1
    const name = isOfOne ? 'many.errors' : 'many.malformed'
    findings.tell(name, strikeProblem(called, group, isOfOne ? users : group, route, says), where)
  }
  const items = itemsOf(jsonOf(route.answer))
  for (let index = 0; items.length > 1 && index < Math.min(items.length, MOST_ITEMS); index++) {
    const called = await callMany(run, group, 'many.malformed', { on, fault: spoil(index) })
    const says = `one malformed item in a list of ${items.length}`
    findings.tell('many.malformed', itemProblem(called, group, says), where)
  }
}

/** Finds what is wrong with the results of a struck call. @param concerned the claims that are read by what was struck */
function strikeProblem(
  called: CallResult<readonly unknown[]>,
  group: Group,
  concerned: Group,
  route: Route,
  says: string,
): string | undefined {
  const { value, error } = called
  const where = `where the destination gave ${says}`
  if ('error' in called) {
    if (!isDestinationError(error))
      return `checkMany throws ${thrownText(error)}, which is no DestinationError, ${where}`
    return concerned.length === group.length
      ? undefined
      : `checkMany throws \`${error.code}\` for all claims, ${where} to one of them`
  }
  if (!Array.isArray(value) || value.length !== group.length)
    return `checkMany gives no result for each claim, ${where}`
  const isRight = (result: unknown, one: CheckedCase) =>
    concerned.includes(one) ? isDestinationError(result) || mayStay(result, one, route) : isResult(result, one.outcome)
  const wrong = group.findIndex((one, index) => !isRight(value[index], one))
  if (wrong < 0) return undefined
  const stranger = concerned.includes(group[wrong]!) ? '' : ' of a claim that has nothing to do with it'
  return `checkMany says ${resultText(value[wrong])}${stranger}, ${where}`
}

/** Tells whether a result may stand although its route was struck: it says what is seen without the struck answer. */
function mayStay(result: unknown, { outcome, row, verifier }: CheckedCase, route: Route): boolean {
  const { observation } = outcome
  if (!observation || observationProblem(verifier.profile, result)) return false
  if (!sayTheSame(result as Observation, observation)) return false
  const isExtra = row.extraRoutes?.some((pattern) => pattern.test(route.key)) ?? false
  return isExtra || showsClaimed(observation) || (result as Observation).mark === 'may_have_been'
}

function itemProblem(called: CallResult<readonly unknown[]>, group: Group, says: string): string | undefined {
  const { value, error } = called
  const where = `where the destination gave ${says}`
  if ('error' in called)
    return isDestinationError(error) ? undefined : `checkMany throws ${thrownText(error)}, ${where}`
  const wrong = group.findIndex(({ outcome }, index) => {
    const result = value?.[index]
    return !isDestinationError(result) && !isResult(result, outcome)
  })
  return wrong < 0 ? undefined : `checkMany says ${resultText(value?.[wrong])}, ${where}`
}

function isResult(result: unknown, { observation, error }: CheckedCase['outcome']): boolean {
  if (observation === undefined) return isDestinationError(result) && result.code === errorCode(error)
  return !isDestinationError(result) && isSameSight(result as Observation, observation)
}

function outcomeText({ observation, error }: CheckedCase['outcome']): string {
  return resultText(observation ?? error)
}

function resultText(result: unknown): string {
  return result instanceof Error ? thrownText(result) : (JSON.stringify(result) ?? 'nothing')
}

/** The answer itself if it is a list, or else the first list that it has. */
function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? (Object.values(value).find((one) => Array.isArray(one)) ?? []) : []
}

function spoil(index: number) {
  return async ({ real, send }: StruckRequest) => {
    const answer = await real()
    const value = jsonOf(answer)
    const items = itemsOf(value) as JsonValue[]
    items[index] = { reason: 'maintenance', until: null }
    send(withHeaders({ ...answer, body: Buffer.from(JSON.stringify(value)) }, { etag: undefined }))
  }
}
