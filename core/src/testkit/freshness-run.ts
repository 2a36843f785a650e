/** Changes the destination between two checks, and while one reads: the later check must see the change. */
import { createCacheStore } from './check-cache.ts'
import type { StruckRequest } from './fault-proxy.ts'
import type { Outcome } from './host.ts'
import { described, isSameSight, observationProblem } from './observation.ts'
import { afterOwn } from './pace.ts'
import type { SeenCase } from './prepared.ts'
import { at, type Run } from './run.ts'
import type { StruckSocket } from './socket-proxy.ts'

/** Time in which a check asks for the read that it would join. */
const JOINING_MS = 40

/**
 * Runs checks around changes of the destination, and leaves it in any situation.
 * @returns what a check saw before the situation, if there is a `before`
 */
export async function runFreshness(run: Run, seenCase: SeenCase): Promise<SeenCase['before']> {
  const { findings, options, lanes } = run
  const { asked, row, seen, verifier } = seenCase
  const place = { case: row.name }
  if (options.before === undefined || !options.destination.set) {
    findings.untested(
      'cache.serves-old, share.joins-old-read, fault.stale-replica: bring `before`, and a destination with `set`',
    )
    return undefined
  }
  await run.set(options.before)
  const store = createCacheStore()
  const first = await run.check(lanes[0]!, { ...at(asked, 'cache.serves-old'), store })
  const { observation } = first
  if (!observation || observationProblem(verifier.profile, observation)) return undefined
  if (isSameSight(observation, seen)) return undefined
  const problem = `says \`${described(observation)}\` of what later was \`${described(seen)}\``
  findings.tell('mark.final', observation.mark === 'final' ? problem : undefined, place)

  await run.set(row.situation)
  const later = await run.check(lanes[0]!, { ...at(asked, 'cache.serves-old'), store })
  findings.tell('cache.serves-old', changeProblem(later, seenCase, 'had changed since an earlier check'), place)
  const routes = run.wants('share.joins-old-read') ? [...first.routes.map(({ key }) => key), ...first.socketRoutes] : []
  for (const route of routes) {
    const beside = await besideOne(run, seenCase, route)
    const problem = changeProblem(beside, seenCase, 'changed while another check was reading')
    findings.tell('share.joins-old-read', problem, { ...place, route })
  }
  return { seen: observation, answers: new Map(first.routes.map(({ key, answer }) => [key, answer])) }
}

/** Makes a check while another one waits for an answer from before the change. @param route the route that the other one waits for */
async function besideOne(run: Run, { asked, row }: SeenCase, route: string): Promise<Outcome> {
  await run.set(run.options.before)
  const store = createCacheStore()
  const held = createGate()
  const released = createGate()
  let isFirst = true
  const wait = async () => {
    if (!isFirst) return
    isFirst = false
    held.open()
    await released.opened
  }
  const hold = async ({ real, send }: StruckRequest) => {
    const answer = await real()
    await wait()
    send(answer)
  }
  const holdSocket = async ({ pass }: StruckSocket) => {
    await wait()
    pass()
  }
  const on = (key: string) => key === route
  const joining = at(asked, 'share.joins-old-read', route)
  const lane = run.lanes[0]!
  const reading = run.check(lane, {
    ...joining,
    store,
    strike: { on, fault: hold },
    socketStrike: { on, fault: holdSocket },
  })
  await Promise.race([held.opened, reading])
  await run.set(row.situation)
  const beside = run.check(lane, { ...joining, store, joins: true })
  await Promise.race([beside, new Promise<void>((done) => void afterOwn(JOINING_MS, done))])
  released.open()
  await reading
  return beside
}

function changeProblem({ observation, error }: Outcome, { seen }: SeenCase, when: string): string | undefined {
  if (isSameSight(observation, seen)) return undefined
  const said = observation ? JSON.stringify(observation) : String(error)
  return `gives ${said} of a destination that ${when}, in place of ${JSON.stringify(seen)}`
}

function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
