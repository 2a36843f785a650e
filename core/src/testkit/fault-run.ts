/** Strikes every route of a case's check with every fault, in several lanes at a time. */

import type { Route } from './fault-proxy.ts'
import { clockAhead, type ExpectedError, FAULTS, staleAnswer } from './faults.ts'
import type { CheckAsked, Lane, Outcome } from './host.ts'
import { judgeClock, judgeFault, judgeStale } from './judge.ts'
import type { SeenCase } from './prepared.ts'
import { at, inLanes, type Run } from './run.ts'
import { SOCKET_FAULTS } from './socket-faults.ts'

interface Task {
  readonly name: string
  readonly route: string | undefined
  readonly asked: CheckAsked
  judge(outcome: Outcome): string | undefined
}

/** Of an abort that seems to be ignored. */
const MOST_TRIES = 3

export async function runFaults(run: Run, seenCase: SeenCase): Promise<void> {
  const { lanes, findings } = run
  const { row } = seenCase
  const ignoring: Task[] = []
  const tasks = tasksOf(seenCase).filter(({ name, asked }) =>
    run.wants(name, 'same.requests', ...(asked.endAfterStrikeMs === undefined ? [] : ['abort.heeded'])),
  )
  await inLanes(lanes, tasks, async (lane, task) => {
    const outcome = await strike(run, lane, task, row.name)
    if (outcome.ignoredAbort) ignoring.push(task)
    else if (task.asked.endAfterStrikeMs !== undefined) findings.tell('abort.heeded', undefined, { case: row.name })
  })
  for (const task of ignoring) {
    // Again, alone: a busy machine is slow, too, and a plugin that ignores its signal always does.
    let ignoredAbort = true
    for (let tries = 0; ignoredAbort && tries < MOST_TRIES; tries++) {
      ignoredAbort = (await run.check(lanes[0]!, task.asked)).ignoredAbort
    }
    const problem = `goes on for 100 ms after its signal was aborted, where the destination gave ${task.name}`
    findings.tell('abort.heeded', ignoredAbort ? problem : undefined, { case: row.name, route: task.route })
  }
}

async function strike({ check, findings }: Run, lane: Lane, task: Task, name: string): Promise<Outcome> {
  const outcome = await check(lane, task.asked)
  const place = { case: name, route: task.route }
  if (!outcome.wasStruck) {
    findings.tell('same.requests', 'does not ask this again in the same situation', place)
    return outcome
  }
  findings.tell('same.requests', undefined, { case: name })
  findings.tell(task.name, task.judge(outcome), place)
  return outcome
}

function tasksOf(seenCase: SeenCase): Task[] {
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
  strike: Pick<CheckAsked, 'strike' | 'socketStrike'>,
  { asked, row, outcome, seen, verifier }: SeenCase,
): Task {
  const { absentRoutes = [], extraRoutes = [] } = row
  const reads = outcome.routes.filter((one) => !one.isExchange).map(({ key }) => key)
  const judged = {
    profile: verifier.profile,
    seen,
    isOnly: [...outcome.socketRoutes, ...reads].every((key) => key === route),
    tellsAbsence: absentRoutes.some((pattern) => pattern.test(route)),
    isExtra: extraRoutes.some((pattern) => pattern.test(route)),
    isExchange,
  }
  return {
    name: fault.name,
    route,
    asked: {
      ...at(asked, fault.name, route),
      ...strike,
      ...(fault.endAfterMs === undefined ? {} : { endAfterStrikeMs: fault.endAfterMs }),
    },
    judge: (one) => judgeFault(fault, one, judged),
  }
}

function clockTask({ asked, seen, verifier }: SeenCase): Task {
  const name = 'fault.clock-off'
  return {
    name,
    route: undefined,
    asked: { ...at(asked, name), strike: { fault: clockAhead } },
    judge: (one) => judgeClock(one, { profile: verifier.profile, seen }),
  }
}

function staleTasks({ asked, outcome, seen, verifier, before }: SeenCase): Task[] {
  if (!before) return []
  const fault = staleAnswer(before.answers)
  const name = 'fault.stale-replica'
  const routes: readonly (Route | undefined)[] =
    outcome.routes.length > 1 ? [undefined, ...outcome.routes] : [undefined]
  return routes.map((route) => ({
    name,
    route: route?.key,
    asked: {
      ...at(asked, name, route?.key),
      strike: { fault, ...(route ? { on: (key: string) => key === route.key } : {}) },
    },
    judge: (one) => judgeStale(one, { profile: verifier.profile, seen }, before.seen),
  }))
}
