// Test run: end-to-end, slow, both-databases
import { SQLITE_DRIVERS, type SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import t, { type Test } from 'tap'
import { createDatabase, TEST_DATABASE, whyMissing } from '../support/database.ts'
import { byExtent, IS_THOROUGH } from '../support/extent.ts'
import { audit } from './audit.ts'
import { presentClaim } from './claims.ts'
import { Fleet } from './fleet.ts'
import { Ledger } from './ledger.ts'

/** Of the longer way, where a host starts for each: so many statements lie between two. */
const UNDER_LOCK_STEP = byExtent({
  short: { sqlite: 6, postgres: 6 },
  usual: { sqlite: 3, postgres: 3 },
  thorough: { sqlite: 1, postgres: 1 },
})[TEST_DATABASE]

const NAME = 'a host may end before any statement of a submission, and the same submission goes on from there'

/**
 * Ends the host before the first statement of a submission, before one that is `step` later, and so on.
 * @param again submits what was struck: before the next strike, so that the host knows the log again; or not, so that it is struck itself
 * @returns the number of the last one
 */
async function strikeBeforeEach(t: Test, fleet: Fleet, ledger: Ledger, again: boolean, step = 1): Promise<number> {
  const host = fleet.hosts[0]!
  let known = ledger.plan(presentClaim(`claim-${again}`))
  const submit = () => ledger.submission(known, fleet.submit(host, known.claim))
  for (let statement = 1; ; statement += step) {
    if (again) known = ledger.plan(presentClaim(`claim-${statement}`))
    await host.strike({ signal: 'SIGKILL', before: statement })
    if (await submit()) return statement - step
    await host.ended()
    await fleet.startAll()
    if (again) t.ok(await submit(), `before statement ${statement}`)
  }
}

for (const [index, sqliteDriver] of (TEST_DATABASE === 'sqlite' ? SQLITE_DRIVERS : [undefined]).entries()) {
  const factor = IS_THOROUGH ? 1 : index + 1
  const skip = sqliteDriver !== undefined && (await whyMissing(sqliteDriver))
  t.test(`by ${sqliteDriver ?? 'pg'}, ${NAME}`, { skip }, async (t) => mayEndAnywhere(t, sqliteDriver, factor))
}

/** @param factor by which fewer statements are struck: each driver is given the same ones */
async function mayEndAnywhere(t: Test, sqliteDriver: SqliteDriverName | undefined, factor: number): Promise<void> {
  const fleet = await Fleet.create({ database: await createDatabase(), hosts: 1, sqliteDriver })
  t.teardown(() => fleet.remove())
  // What workers look for meanwhile would be counted as statements of the submission.
  fleet.hosts[0]!.hasWorkers = false
  await fleet.startAll()
  await fleet.createWorkspace()
  const host = fleet.hosts[0]!
  const ledger = new Ledger()
  const underLock = await strikeBeforeEach(t, fleet, ledger, false, factor * UNDER_LOCK_STEP)
  const asLeft = await strikeBeforeEach(t, fleet, ledger, true, factor)
  // Two, unless the host remembers the key.
  t.ok(asLeft >= 1, `${asLeft} statements where the log is as this host left it`)
  t.ok(underLock >= asLeft + 4, `${underLock} under its lock`)
  t.comment(`as far as statement ${underLock} and ${asLeft}`)
  await host.kill()
  host.hasWorkers = true
  await fleet.startAll()
  await audit(fleet, ledger)
  t.strictSame([...ledger.problems], [])
}
