import t from 'tap'
import { createDatabase } from '../support/database.ts'
import { audit } from './audit.ts'
import { presentClaim } from './claims.ts'
import { Fleet } from './fleet.ts'
import { Ledger } from './ledger.ts'

t.test('a host may end before any statement of a submission, and the same submission goes on from there', async (t) => {
  const fleet = await Fleet.create({ database: await createDatabase(), hosts: 1 })
  t.teardown(() => fleet.remove())
  await fleet.startAll()
  await fleet.createWorkspace()
  const host = fleet.hosts[0]!
  const ledger = new Ledger()
  let statement = 1
  for (; ; statement++) {
    const known = ledger.plan(presentClaim(`claim-${statement}`))
    const submit = () => ledger.submission(known, fleet.submit(host, known.claim))
    await host.strike({ signal: 'SIGKILL', before: statement })
    if (await submit()) break
    await host.ended()
    await fleet.startAll()
    t.ok(await submit(), `before statement ${statement}`)
  }
  t.ok(statement > 5)
  await host.kill()
  await fleet.startAll()
  await audit(fleet, ledger)
  t.strictSame([...ledger.problems], [])
})
