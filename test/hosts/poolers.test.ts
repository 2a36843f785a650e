// Test run: end-to-end, slow
/** Two hosts share one database through a pooler, and what they store is what they would store without one. */
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t from 'tap'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'
import { PGBOUNCER, type PoolMode, startPgBouncer } from '../support/pgbouncer.ts'
import { SCHEMA } from '../support/storage.ts'

const MODES: readonly PoolMode[] = ['session', 'transaction']
const CLAIMS = 40

for (const mode of MODES) {
  const skip = PGBOUNCER === undefined && 'pgbouncer is not installed'
  t.test(`behind PgBouncer in ${mode} mode`, { skip }, async (t) => {
    const direct = await createDatabase('postgres')
    // Each host may take eight sessions. In transaction mode both hosts share four.
    const pooler = await startPgBouncer(direct.env.DATABASE_URL!, mode, mode === 'session' ? 20 : 4)
    const env = { ...direct.env, DATABASE_URL: pooler.urlOf(direct.env.DATABASE_URL!) }
    const installation = await Installation.start({ database: { ...direct, env } })
    t.teardown(async () => {
      await installation.stop()
      await pooler.remove()
      await installation.remove()
    })
    await installation.addHost()
    const client = await installation.client('acme')
    const other = await installation.client('umbrella')
    const answers = await Promise.all(
      Array.from({ length: CLAIMS }, (_, number) => (number % 2 === 0 ? client : other).submit()),
    )
    t.ok(answers.every(({ status }) => status === 202))
    for (const [number, { body }] of answers.entries())
      t.match(await (number % 2 === 0 ? client : other).decided(body.claim_id), { verdict: 'verified' })
    const { problems, leaves } = await diagnose(installation.claimcheck.storage, { schema: SCHEMA })
    t.strictSame({ problems, leaves }, { problems: [], leaves: CLAIMS })
  })
}
