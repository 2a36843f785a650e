// Test run: end-to-end, slow, alone
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t, { type Test } from 'tap'
import { HostProcess } from '../crash/host-process.ts'
import { createDatabase, type Dialect } from '../support/database.ts'
import { IS_THOROUGH } from '../support/extent.ts'
import { SCRIPTED } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { SCHEMA } from '../support/storage.ts'
import { DIALECTS } from './fixture.ts'
import { ScriptedChain } from './scripted-chain.ts'

/** Before what a host is killed. */
const STATEMENTS = ['INSERT INTO anchors', 'UPDATE anchors', 'INSERT INTO leases']

async function start(t: Test, dialect: Dialect) {
  const folder = t.testdir()
  const chain = new ScriptedChain(join(folder, 'chain.json'))
  const anchoring = {
    use: resolve('build/test/plugins/anchoring.js'),
    trusted: true,
    with: { file: join(folder, 'chain.json'), interval_ms: 1 },
  }
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins: [SCRIPTED, anchoring] }))
  const database = await createDatabase(dialect)
  t.teardown(() => database.remove())
  const env = { PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: 'data', ...database.env }
  const host = new HostProcess(folder, env)
  t.teardown(() => host.kill())
  // Without the plugins, so that this process does not anchor.
  const config = loadConfig(env, folder)
  const { databaseUrl } = config
  const claimcheck = await openClaimcheck(config, { plugins: false })
  t.teardown(() => claimcheck.close())
  const { id } = await claimcheck.workspaces.create('acme')
  const { key } = await claimcheck.keys.create(id, 'test')

  async function submit(number: number): Promise<void> {
    const response = await fetch(`${host.url}/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_claim_id: `claim-${number}`,
        agent_id: 'agent',
        action: 'test.outcome.reach',
        target: 'somewhere',
        params: { see: 'present' },
        claimed_at: new Date(claimcheck.now()).toISOString(),
      }),
    })
    if (response.status !== 202) throw new Error(await response.text())
  }

  /** The killed host's lease runs out. */
  async function endLeases(): Promise<void> {
    await query(databaseUrl, 'UPDATE leases SET until = 0')
  }

  /** Until the whole log is anchored. */
  async function anchored(treeSize: number): Promise<void> {
    const { read } = claimcheck.storage
    for (const end = Date.now() + 60_000; (await read.log.anchoredState())?.anchoredSize !== treeSize; ) {
      if (Date.now() > end) throw new Error(`not anchored at ${treeSize}`)
      await setTimeout(50)
    }
  }
  return { host, chain, claimcheck, submit, endLeases, anchored }
}

const dialects = IS_THOROUGH ? DIALECTS : (['sqlite'] as const)
t.jobs = dialects.length
for (const dialect of dialects) {
  t.test(
    `on ${dialect}, a host that is killed in the middle of an anchor goes on with it when it is back`,
    async (t) => {
      const { host, chain, claimcheck, submit, endLeases, anchored } = await start(t, dialect)
      let treeSize = 0
      for (const before of STATEMENTS) {
        await host.start()
        await submit(++treeSize)
        await host.strike({ signal: 'SIGKILL', before })
        await host.ended()
        await endLeases()
      }
      await host.start()
      await submit(++treeSize)
      await anchored(treeSize)
      t.equal(new Set(chain.attested).size, chain.attested.length, 'no root twice')
      t.equal(new Set(chain.state.sent).size, chain.attested.length, 'no transaction but those')
      const { log, anchors } = claimcheck.storage.read
      const landed = await anchors.landed((await log.state())!.logId, Number.MAX_SAFE_INTEGER, 100)
      t.equal(landed.length, chain.attested.length)
      t.ok(landed.every(({ uid }) => chain.isFinal(uid)))
      t.strictSame((await diagnose(claimcheck.storage, { schema: SCHEMA })).problems, [])
      t.strictSame(host.failures, [])
    },
  )
}
