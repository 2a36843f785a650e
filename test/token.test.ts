// Test run: end-to-end, slow, alone
/** The log, signed by keys in a PKCS#11 token: SoftHSM's, through its real module. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import signerPkcs11 from '@claimcheck/plugin-signer-pkcs11'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { startServer } from '@claimcheck/server/host/start'
import t, { type Test } from 'tap'
import { createToken, type SoftToken, WITHOUT_TOKENS } from '../plugins/signer-pkcs11/test/soft-token.ts'
import { runClaimcheck } from './support/command.ts'
import { createDatabase, DIALECTS } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { SkippingClock } from './support/skipping-clock.ts'
import { SCHEMA } from './support/storage.ts'

const LOGGER = { debug() {}, info() {}, warn() {} }
const only = { skip: WITHOUT_TOKENS }

function token(t: Test): SoftToken {
  const made = createToken()
  t.teardown(() => made.remove())
  return made
}

/** A second user of the token. */
async function backendOf(t: Test, { options }: SoftToken) {
  const { signingBackend, close } = await signerPkcs11.setup({ logger: LOGGER }, options)
  t.teardown(() => close!())
  return signingBackend!
}

async function start(
  t: Test,
  made: SoftToken,
  options: { dialect?: 'sqlite' | 'postgres'; clock?: SkippingClock } = {},
) {
  const { dialect = 'sqlite', clock } = options
  return await Installation.during(t, {
    database: await createDatabase(dialect),
    file: { signer: made.signer },
    // The plugin and its module read this process's environment.
    inProcess: true,
    ...(clock ? { now: clock.now } : {}),
  })
}

t.test('claims are decided, receipts and heads hold, and no private key is stored', only, async (t) => {
  const made = token(t)
  const installation = await start(t, made)
  const client = await installation.client('acme')
  for (let times = 0; times < 3; times++) t.match((await client.submit()).body, { state: 'decided' })
  const env = { ...installation.env, ...made.env }
  const rotated = JSON.parse(
    (await runClaimcheck(installation.folder, ['signing-key', 'rotate', '--json'], env)).stdout,
  )
  const { body } = await client.submit()
  const { body: receipt } = await installation.request(`/v1/receipts/${body.receipt_id}`)
  t.equal(receipt.signature.key_id, rotated.key_id)
  const { storage, secrets, config } = installation.claimcheck
  t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets, signatures: true })).problems, [])
  t.match(await runClaimcheck(installation.folder, ['doctor', '--signatures'], env), { code: 0 })
  const url = `${installation.url}/v1/receipts/${body.receipt_id}`
  t.match(await runClaimcheck(installation.folder, ['verify', url]), { code: 0 })
  t.notOk(readdirSync(config.dataDir).includes('signing-keys'))
  t.equal((await (await backendOf(t, made)).keys()).length, 2)
  t.match((await installation.request('/readyz')).body, { ok: true, problems: [] })
  await installation.stop()
  await installation.resume()
  t.match((await client.submit()).body, { state: 'decided' }, 'after a start, too')
})

for (const dialect of DIALECTS)
  t.test(`${dialect}: a token that goes away makes claims wait, and loses none`, only, async (t) => {
    const made = token(t)
    const clock = new SkippingClock()
    const installation = await start(t, made, { dialect, clock })
    const client = await installation.client('acme')
    t.match((await client.submit()).body, { state: 'decided' })
    made.takeAway()
    const waiting = await Promise.all(['present', 'present', 'absent'].map((see) => client.submit({ params: { see } })))
    for (const { status, body } of waiting) t.match([status, body.state], [202, 'queued'])
    const { status, body } = await installation.request('/readyz')
    t.match([status, body], [200, { ok: true, problems: [/^claims wait for a signature: the token claimcheck /] }])
    t.notMatch(JSON.stringify(body), made.pin)
    t.match((await installation.request('/metrics')).body, /^claimcheck_signer_away 1$/m)
    const env = { ...installation.env, ...made.env }
    t.match(await runClaimcheck(installation.folder, ['doctor'], env), {
      code: 1,
      stdout: /^the token claimcheck does not sign: /m,
    })
    const { storage, secrets } = installation.claimcheck
    t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets })).problems, [])
    const detail = await installation.claimcheck.claims.detail(client.workspaceId, waiting[0]!.body.claim_id)
    t.match(detail?.history, [{ observation: { kind: 'present' } }], 'what was read is kept')

    made.bringBack()
    const endSkipping = clock.skip(installation.claimcheck)
    t.teardown(endSkipping)
    // What a second read shows may have changed meanwhile.
    for (const { body } of waiting.slice(0, 2))
      t.match(await client.decided(body.claim_id), { verdict: 'verified', attempts: 1 }, 'the read before decides')
    t.match((await installation.request('/readyz')).body, { ok: true, problems: [] })
    t.match((await installation.request('/metrics')).body, /^claimcheck_signer_away 0$/m)
    t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets, signatures: true })).problems, [])
  })

t.test('hosts that share a token sign one log, whichever of them changes the key', only, async (t) => {
  const made = token(t)
  const installation = await start(t, made, { dialect: 'postgres' })
  const other = await installation.addHost()
  const client = await installation.client('acme')
  for (let times = 0; times < 2; times++) {
    for (const host of [installation.host, other]) {
      await host.claimcheck.signingKeys.rotate()
      const answers = await Promise.all([client.submit(), client.at(other).submit()])
      for (const { body } of answers) t.match(body, { state: 'decided' })
    }
  }
  const { storage, secrets } = installation.claimcheck
  t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets, signatures: true })).problems, [])
  t.equal((await (await backendOf(t, made)).keys()).length, 5)
  t.equal((await storage.read.log.signingKeys()).length, 5)
})

t.test(
  'a log whose key is stored moves into the token with the next rotation, which takes a key that is there',
  only,
  async (t) => {
    const made = token(t)
    const installation = await Installation.during(t, { database: await createDatabase('sqlite'), inProcess: true })
    const client = await installation.client('acme')
    await client.submit()
    await installation.stop()
    const file = join(installation.folder, 'claimcheck.config.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), signer: made.signer }))
    const env = { ...installation.env, ...made.env }
    t.match(await runClaimcheck(installation.folder, ['doctor'], { ...env, SIGNER_PIN: '' }), {
      code: 1,
      stderr: /signer-pkcs11: SIGNER_PIN is missing: set/,
    })
    const ready = await (await backendOf(t, made)).generate()
    t.match(JSON.parse((await runClaimcheck(installation.folder, ['signing-key', 'rotate', '--json'], env)).stdout), {
      key_id: ready.keyId,
    })
    await t.rejects(
      installation.resume(),
      { code: 'missing_key' },
      'without the token it does not sign, and makes no other key',
    )

    const moved = await openClaimcheck(
      { ...installation.config, signer: { ...made.signer, trusted: true } },
      { plugins: true },
    )
    t.teardown(() => moved.close())
    const server = await startServer(moved)
    t.teardown(() => server.stop())
    const claim = { client_claim_id: 'moved', agent_id: 'a', action: 'test.outcome.reach', target: 'x' }
    const answer = await fetch(`${server.url}/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...claim, params: { see: 'present' }, claimed_at: new Date().toISOString() }),
    })
    t.match(await answer.json(), { state: 'decided' })
    t.match(await moved.storage.read.log.state(), { keyId: ready.keyId, treeSize: 2 })
    t.strictSame(
      (await diagnose(moved.storage, { schema: SCHEMA, secrets: moved.secrets, signatures: true })).problems,
      [],
    )
  },
)
