/** Strikes every route of a case's check with every fault, in several lanes at a time. */
import type { SeenCase } from './case-run.ts'
import type { Route } from './fault-proxy.ts'
import { clockAhead, FAULTS, type Fault, staleAnswer } from './faults.ts'
import type { CheckAsked, Lane, Outcome } from './host.ts'
import { judgeClock, judgeFault, judgeStale } from './judge.ts'
import { inLanes, type Run } from './run.ts'

interface Task {
  readonly name: string
  readonly route: Route | undefined
  readonly asked: CheckAsked
  judge(outcome: Outcome): string | undefined
}

export async function runFaults(run: Run, seenCase: SeenCase): Promise<void> {
  const { lanes, findings } = run
  const { row } = seenCase
  const ignoring: Task[] = []
  await inLanes(lanes, tasksOf(seenCase), async (lane, task) => {
    const outcome = await strike(run, lane, task, row.name)
    if (outcome.ignoredAbort) ignoring.push(task)
    else if (task.asked.endAfterStrikeMs !== undefined) findings.tell('abort.heeded', undefined, { case: row.name })
  })
  for (const task of ignoring) {
    // Once more, alone: a busy machine is slow, too.
    const { ignoredAbort } = await run.check(lanes[0]!, task.asked)
    const problem = `goes on for 100 ms after its signal was aborted, where the destination gave ${task.name}`
    findings.tell('abort.heeded', ignoredAbort ? problem : undefined, { case: row.name, route: task.route?.key })
  }
}

async function strike({ check, findings }: Run, lane: Lane, task: Task, name: string): Promise<Outcome> {
  const outcome = await check(lane, task.asked)
  const place = { case: name, route: task.route?.key }
  if (!outcome.wasStruck) {
    findings.tell('same.requests', 'does not ask this again in the same situation', place)
    return outcome
  }
  findings.tell('same.requests', undefined, { case: name })
  findings.tell(task.name, task.judge(outcome), place)
  return outcome
}

function tasksOf(seenCase: SeenCase): Task[] {
  const { asked, outcome, verifier, seen, before } = seenCase
  const { profile } = verifier
  const { routes } = outcome
  const stale = before && staleAnswer(before.answers)
  const on =
    ({ key }: Route) =>
    (asked: string) =>
      asked === key
  const whole = [
    { name: 'fault.clock-off', fault: clockAhead, judge: (one: Outcome) => judgeClock(one, { profile, seen }) },
  ]
  return [
    ...routes.flatMap((route) =>
      FAULTS.filter(({ applies }) => applies?.(route) ?? true).map((fault) => taskOf(fault, route, seenCase)),
    ),
    ...whole.map(
      ({ name, fault, judge }): Task => ({ name, route: undefined, asked: { ...asked, strike: { fault } }, judge }),
    ),
    ...(stale
      ? [undefined, ...(routes.length > 1 ? routes : [])].map(
          (route): Task => ({
            name: 'fault.stale-replica',
            route,
            asked: { ...asked, strike: { fault: stale, ...(route ? { on: on(route) } : {}) } },
            judge: (one) => judgeStale(one, { profile, seen }, before.seen),
          }),
        )
      : []),
  ]
}

function taskOf(fault: Fault, route: Route, { asked, row, outcome, seen, verifier }: SeenCase): Task {
  const { absentRoutes = [], extraRoutes = [] } = row
  const judged = {
    profile: verifier.profile,
    seen,
    route,
    isOnly: outcome.routes.length === 1,
    tellsAbsence: absentRoutes.some((pattern) => pattern.test(route.key)),
    isExtra: extraRoutes.some((pattern) => pattern.test(route.key)),
  }
  return {
    name: fault.name,
    route,
    asked: {
      ...asked,
      strike: { on: (key) => key === route.key, fault: fault.answer },
      ...(fault.endAfterMs === undefined ? {} : { endAfterStrikeMs: fault.endAfterMs }),
    },
    judge: (one) => judgeFault(fault, one, judged),
  }
}
