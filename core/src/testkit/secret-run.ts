/** Lets the destination repeat the credential in everything that it says: none of it may come out of a check. */
import { echo, echoingFailure, echoingText } from './echoes.ts'
import type { CheckRequest } from './host.ts'
import type { SeenCase } from './prepared.ts'
import { at, inLanes, type Run } from './run.ts'
import { SHORTEST_SECRET } from './secrets.ts'
import { echoWritten } from './socket-faults.ts'

/** Names of the kit's checks that this stage makes. */
export const SECRETS = ['secrets.long-enough', 'secrets.in-facts', 'secrets.in-errors', 'secrets.in-logs']

const FAILURES = [400, 401, 403, 422, 429, 500]

export async function runSecrets(run: Run, { asked, outcome, row }: SeenCase): Promise<void> {
  const { findings, lanes } = run
  const { secrets, routes, socketRoutes } = outcome
  if (secrets.length === 0) return
  const place = { case: row.name }
  const isShort = secrets.some((secret) => secret.length < SHORTEST_SECRET)
  const problem = `a secret of the connection has less than ${SHORTEST_SECRET} characters: in a test, give it a longer one`
  findings.tell('secrets.long-enough', isShort ? problem : undefined, place)
  if (isShort) return
  const faults = [...FAILURES.map(echoingFailure), echoingText]
  const on = (key: string) => (asked: string) => asked === key
  const strikes: Pick<CheckRequest, 'strike' | 'socketStrike'>[] = [
    { strike: { fault: echo } },
    ...routes.flatMap(({ key }) => faults.map((fault) => ({ strike: { on: on(key), fault } }))),
    ...socketRoutes.map((key) => ({ socketStrike: { on: on(key), fault: echoWritten } })),
  ]
  await inLanes(lanes, strikes, async (lane, strike) => {
    await run.check(lane, { ...at(asked, 'secrets.in-errors'), ...strike })
  })
  for (const name of ['secrets.in-facts', 'secrets.in-errors', 'secrets.in-logs']) findings.tell(name, undefined, place)
}
