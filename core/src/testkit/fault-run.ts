/** Strikes every route of a case's check with every fault, in several lanes at a time. */
import type { Route } from './fault-proxy.ts'
import { clockAhead, type ExpectedError, FAULTS, staleAnswer } from './faults.ts'
import type { CheckRequest, Outcome } from './host.ts'
import { judgeClock, judgeFault, judgeStale } from './judge.ts'
import type { SeenCase } from './prepared.ts'
import { at, inLanes, type Run } from './run.ts'
import { SOCKET_FAULTS } from './socket-faults.ts'

interface FaultTask {
  /** The name of the kit's check that the task belongs to. */
  readonly name: string
  readonly route: string | undefined
  readonly asked: CheckRequest
  /** Judges what came of the fault. @returns what the plugin did wrong */
  judge(outcome: Outcome): string | undefined
}

/** Number of further tries of a check that seems to ignore its abort. */
const MOST_TRIES = 3

export async function runFaults({ check, wants, lanes, findings }: Run, seenCase: SeenCase): Promise<void> {
  const { row } = seenCase
  const ignoring: FaultTask[] = []
  const tasks = tasksOf(seenCase).filter(({ name, asked }) =>
    wants(name, 'same.requests', ...(asked.endAfterStrikeMs === undefined ? [] : ['abort.heeded'])),
  )
  await inLanes(lanes, tasks, async (lane, task) => {
    const { name, route, asked } = task
    const outcome = await check(lane, asked)
    if (outcome.wasStruck) {
      findings.tell('same.requests', undefined, { case: row.name })
      findings.tell(name, task.judge(outcome), { case: row.name, route })
    } else {
      findings.tell('same.requests', 'does not ask this again in the same situation', { case: row.name, route })
    }
    if (outcome.ignoredAbort) ignoring.push(task)
    else if (asked.endAfterStrikeMs !== undefined) findings.tell('abort.heeded', undefined, { case: row.name })
  })
  for (const { name, route, asked } of ignoring) {
    // Each check is tried again, alone: a busy machine is slow, too, and a plugin that ignores its signal always does.
    let ignoredAbort = true
    for (let tries = 0; ignoredAbort && tries < MOST_TRIES; tries++) {
      ignoredAbort = (await check(lanes[0]!, asked)).ignoredAbort
    }
    const problem = `goes on for 100 ms after its signal was aborted, where the destination gave ${name}`
    findings.tell('abort.heeded', ignoredAbort ? problem : undefined, { case: row.name, route })
  }
}

function tasksOf(seenCase: SeenCase): FaultTask[] {
  const { routes, socketRoutes } = seenCase.outcome
  return [
    ...routes.flatMap((route) =>
      FAULTS.filter(({ applies }) => applies?.(route) ?? true).map((fault) =>
        taskOf(fault, route, { strike: { on: (key) => key === route.key, fault: fault.answer } }, seenCase),
      ),
    ),
    ...socketRoutes.flatMap((route) =>
      SOCKET_FAULTS.map((fault) =>
        taskOf(fault, { key: route }, { socketStrike: { on: (key) => key === route, fault: fault.answer } }, seenCase),
      ),
    ),
    ...(routes.length > 0 ? [clockTask(seenCase), ...staleTasks(seenCase)] : []),
  ]
}

function taskOf(
  fault: ExpectedError,
  { key: route, isExchange = false }: Pick<Route, 'key' | 'isExchange'>,
  strike: Pick<CheckRequest, 'strike' | 'socketStrike'>,
  { asked, row, outcome, seen, verifier }: SeenCase,
): FaultTask {
  const { absentRoutes = [], extraRoutes = [] } = row
  const reads = outcome.routes.filter((one) => !one.isExchange).map(({ key }) => key)
  const context = {
    profile: verifier.profile,
    seen,
    isOnly: [...outcome.socketRoutes, ...reads].every((key) => key === route),
    tellsAbsence: fault.name === 'fault.404' && absentRoutes.some((pattern) => pattern.test(route)),
    isExtra: extraRoutes.some((pattern) => pattern.test(route)),
    isExchange,
  }
  return {
    name: fault.name,
    route,
    asked: { ...at(asked, fault.name, route), ...strike, endAfterStrikeMs: fault.endAfterMs },
    judge: (one) => judgeFault(fault, one, context),
  }
}

function clockTask({ asked, seen, verifier }: SeenCase): FaultTask {
  const name = 'fault.clock-off'
  return {
    name,
    route: undefined,
    asked: { ...at(asked, name), strike: { fault: clockAhead } },
    judge: (one) => judgeClock(one, { profile: verifier.profile, seen }),
  }
}

/** Tasks that answer from before the situation: on all routes at once, and on each of several. */
function staleTasks({ asked, outcome, seen, verifier, before }: SeenCase): FaultTask[] {
  if (!before) return []
  const fault = staleAnswer(before.answers)
  const name = 'fault.stale-replica'
  const routes = outcome.routes.length > 1 ? outcome.routes.map(({ key }) => key) : []
  return [undefined, ...routes].map((route) => ({
    name,
    route,
    asked: { ...at(asked, name, route), strike: { fault, on: (key) => route === undefined || key === route } },
    judge: (one) => judgeStale(one, { profile: verifier.profile, seen }, before.seen),
  }))
}
