/** Looks whether checks through a connection of an `identified` type tell which destination they read. */
import { createCacheStore } from './check-cache.ts'
import { described } from './observation.ts'
import type { SeenCase } from './prepared.ts'
import { at, type Run } from './run.ts'

/** An identity that no destination has. */
const NOBODYS = 'the-identity-of-no-destination'

export async function runIdentity(run: Run, { asked, seen, outcome, row }: SeenCase): Promise<void> {
  if (!outcome.isIdentified) return
  const { check, findings, lanes, options, set } = run
  const { identity } = seen
  const tell = (name: string, problem: string | undefined) => findings.tell(name, problem, { case: row.name })
  tell('identity.told', identity === undefined ? 'tells no identity, so nothing that it sees can blame' : undefined)
  if (identity === undefined) return
  const store = createCacheStore()
  const asOf = async (known: string) => {
    const { observation } = await check(lanes[0]!, { ...at(asked, 'identity.another'), store, identity: known })
    return observation && (observation.identity ?? known) === known ? described(observation) : undefined
  }
  const repeated = await asOf(NOBODYS)
  tell('identity.another', repeated && 'tells the identity that the connection has, in place of the one that it read')
  if (options.another === undefined || !options.destination.set)
    return findings.untested('identity.another: bring `another`, a situation in which another destination answers')
  await set(options.another)
  const said = await asOf(identity)
  tell('identity.another', said && `says \`${said}\` of another destination than the connection's`)
  await set(row.situation)
}
