/** The log, signed by keys in a PKCS#11 token: SoftHSM's, through its real module. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DOMAINS, signedMessage, verifyEd25519 } from '@claimcheck/core'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { startServer } from '@claimcheck/server/host/start'
import { createTokenClient, environmentOfModule } from '@claimcheck/server/log/signing/pkcs11/client'
import { diagnose } from '@claimcheck/server/upkeep/doctor'
import t, { type Test } from 'tap'
import { runClaimcheck } from './support/command.ts'
import { createDatabase } from './support/database.ts'
import { Installation } from './support/installation.ts'
import { SkippingClock } from './support/skipping-clock.ts'
import { createToken, type SoftToken, WITHOUT_TOKENS } from './support/soft-token.ts'

const LOGGER = { info() {}, error() {} }
const only = { skip: WITHOUT_TOKENS }

function token(t: Test): SoftToken {
  const made = createToken()
  t.teardown(() => made.remove())
  return made
}

function clientOf(t: Test, { signer, pin }: SoftToken, over: object = {}, retryAfterMs = 0) {
  const client = createTokenClient(
    { ...signer.pkcs11, label: 'claimcheck', pin, ...over },
    { logger: LOGGER, retryAfterMs },
  )
  t.teardown(() => client.close())
  return client
}

t.test('a token makes keys, and signs with them what the checker accepts', only, async (t) => {
  const made = token(t)
  const client = clientOf(t, made)
  t.strictSame(await client.keys(), [])
  const { keyId, publicKey } = await client.generate()
  const other = await client.generate()
  const message = signedMessage(DOMAINS.receipt, Buffer.from(`{"some":"${'x'.repeat(2000)}"}`))
  const signatures = await Promise.all(Array.from({ length: 50 }, () => client.sign(keyId, message)))
  for (const signature of signatures) t.ok(verifyEd25519(signature, message, publicKey))
  t.notOk(verifyEd25519(signatures[0]!, message, other.publicKey))
  const listed = (await clientOf(t, made).keys()).map((key) => key.keyId)
  t.strictSame(listed.sort(), [keyId, other.keyId].sort(), 'also for another process')
  t.strictSame(await clientOf(t, made, { label: 'other' }).keys(), [], 'each log has its own label')
  await t.rejects(client.sign('ed25519:none', message), { code: 'unavailable', message: /no key/ })
})

t.test('what is wrong with a token is told, without the PIN, and a refused PIN is tried once', only, async (t) => {
  const made = token(t)
  const wrong: [over: object, message: RegExp][] = [
    [{ module: '/nowhere.so' }, /nowhere\.so/],
    [{ module: join(process.cwd(), 'package.json') }, /package\.json|invalid ELF/],
    [{ token: 'another' }, /no token another/],
  ]
  for (const [over, message] of wrong) {
    await t.rejects(clientOf(t, made, over).keys(), { name: 'SigningError', code: 'unavailable', message })
  }
  const client = clientOf(t, made, { pin: 'wrong-pin-1' })
  const first = await client.keys().catch((error: Error) => error)
  t.match(first, { code: 'unavailable', message: /CKR_PIN_INCORRECT.*SIGNER_PIN/ })
  t.notMatch(String(first), /wrong-pin/)
  t.equal(await client.keys().catch((error) => error), first, 'a token locks itself after a few')
  t.strictSame(await clientOf(t, made).keys(), [])
})

t.test('without the package that opens tokens, it says which to install', async (t) => {
  const { peerDependencies } = JSON.parse(readFileSync('server/package.json', 'utf8'))
  const wanted = `npm install pkcs11js@${peerDependencies.pkcs11js}`
  t.ok(readFileSync('server/docs/secret-keys.md', 'utf8').includes(wanted))
  t.match(JSON.parse(readFileSync('test/tools/token/package.json', 'utf8')).optionalDependencies, peerDependencies)
  // The files that ship, where nothing that they import is installed but core.
  const folder = mkdtempSync(join(tmpdir(), 'claimcheck-no-pkcs11js-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(join(folder, 'node_modules/@claimcheck'), { recursive: true })
  symlinkSync(resolve('core'), join(folder, 'node_modules/@claimcheck/core'))
  for (const file of ['process.js', 'token.js'])
    copyFileSync(join('server/dist/log/signing/pkcs11', file), join(folder, file))
  const child = fork(join(folder, 'process.js'), { execArgv: [], serialization: 'advanced' })
  t.teardown(() => child.kill())
  child.send({ settings: { module: '/some.so', token: 'a', label: 'b', pin: 'c' } })
  child.send([{ id: 1, call: 'keys' }])
  const [replies] = await once(child, 'message')
  t.match(replies, [{ id: 1, failure: { isFinal: false, message: `not there: ${wanted}` } }])
})

t.test('the module gets no secret of the service', async (t) => {
  const env = {
    SECRET_KEY: 'a',
    SECRET_KEY_ALSO: 'b',
    SIGNER_PIN: 'c',
    DATABASE_URL: 'd',
    SMTP_URL: 'e',
    METRICS_TOKEN: 'f',
  }
  t.strictSame(environmentOfModule({ ...env, SOFTHSM2_CONF: '/its/configuration' }), {
    SOFTHSM2_CONF: '/its/configuration',
  })
})

t.test('a process that ends is started again', only, async (t) => {
  const made = token(t)
  const client = clientOf(t, made)
  const { keyId } = await client.generate()
  made.takeAway()
  await t.rejects(client.sign(keyId, Buffer.from('x')), { code: 'unavailable' })
  await t.rejects(client.sign(keyId, Buffer.from('x')), { code: 'unavailable', message: /CKR_GENERAL_ERROR/ })
  made.bringBack()
  t.equal((await client.sign(keyId, Buffer.from('x'))).length, 64)
  client.close()
  t.equal((await client.sign(keyId, Buffer.from('x'))).length, 64)
})

async function start(
  t: Test,
  made: SoftToken,
  options: { dialect?: 'sqlite' | 'postgres'; clock?: SkippingClock } = {},
) {
  const { dialect = 'sqlite', clock } = options
  const installation = await Installation.start({
    database: await createDatabase(dialect),
    file: { signer: made.signer, rate_limits: { key: 0, receipts: 0, log: 0 } },
    env: { SIGNER_PIN: made.pin },
    // The module is configured by this process's environment.
    inProcess: true,
    ...(clock ? { now: clock.now } : {}),
  })
  t.teardown(() => installation.remove())
  return installation
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
  t.strictSame((await diagnose(storage, { secrets, signatures: true })).problems, [])
  t.match(await runClaimcheck(installation.folder, ['doctor', '--signatures'], env), { code: 0 })
  const url = `${installation.url}/v1/receipts/${body.receipt_id}`
  t.match(await runClaimcheck(installation.folder, ['verify', url]), { code: 0 })
  t.notOk(readdirSync(config.dataDir).includes('signing-keys'))
  t.equal((await clientOf(t, made).keys()).length, 2)
  t.same((await installation.request('/readyz')).body, { ok: true, problems: [] })
  await installation.stop()
  await installation.resume()
  t.match((await client.submit()).body, { state: 'decided' }, 'after a start, too')
})

t.test('a token that goes away makes claims wait, and loses none', only, async (t) => {
  const made = token(t)
  const clock = new SkippingClock()
  const installation = await start(t, made, { clock })
  const client = await installation.client('acme')
  t.match((await client.submit()).body, { state: 'decided' })
  made.takeAway()
  const waiting = await Promise.all(['present', 'present', 'absent'].map((see) => client.submit({ params: { see } })))
  for (const { status, body } of waiting) t.match([status, body.state], [202, 'queued'])
  const { status, body } = await installation.request('/readyz')
  t.match([status, body], [200, { ok: true, problems: [/^claims wait for a signature: the token claimcheck /] }])
  t.notMatch(JSON.stringify(body), made.pin)
  t.match((await installation.request('/metrics')).body, /^claimcheck_signer_away 1$/m)
  const { storage, secrets } = installation.claimcheck
  t.strictSame((await diagnose(storage, { secrets })).problems, [])
  const detail = await installation.claimcheck.claims.detail(client.workspaceId, waiting[0]!.body.claim_id)
  t.match(detail?.history, [{ observation: { kind: 'present' } }], 'what was read is kept')

  made.bringBack()
  const endSkipping = clock.skip(installation.claimcheck)
  t.teardown(endSkipping)
  for (const { body } of waiting.slice(0, 2)) t.match(await client.decided(body.claim_id), { verdict: 'verified' })
  t.match((await installation.request('/readyz')).body, { ok: true, problems: [] })
  t.match((await installation.request('/metrics')).body, /^claimcheck_signer_away 0$/m)
  t.strictSame((await diagnose(storage, { secrets, signatures: true })).problems, [])
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
  t.strictSame((await diagnose(storage, { secrets, signatures: true })).problems, [])
  t.equal((await clientOf(t, made).keys()).length, 5)
  t.equal((await storage.read.log.signingKeys()).length, 5)
})

t.test(
  'a log whose key is stored moves into the token with the next rotation, which takes a key that is there',
  only,
  async (t) => {
    const made = token(t)
    const installation = await Installation.start({ database: await createDatabase('sqlite'), inProcess: true })
    t.teardown(() => installation.remove())
    const client = await installation.client('acme')
    await client.submit()
    await installation.stop()
    const file = join(installation.folder, 'claimcheck.config.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), signer: made.signer }))
    const env = { ...installation.env, ...made.env }
    t.match(await runClaimcheck(installation.folder, ['doctor'], { ...env, SIGNER_PIN: '' }), {
      code: 1,
      stderr: /SIGNER_PIN: missing/,
    })
    const ready = await clientOf(t, made).generate()
    t.match(JSON.parse((await runClaimcheck(installation.folder, ['signing-key', 'rotate', '--json'], env)).stdout), {
      key_id: ready.keyId,
    })
    await t.rejects(
      installation.resume(),
      { code: 'missing_key' },
      'without the token it does not sign, and makes no other key',
    )

    const moved = await openClaimcheck(
      { ...installation.config, signer: { ...made.signer.pkcs11, label: 'claimcheck', pin: made.pin } },
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
    t.strictSame((await diagnose(moved.storage, { secrets: moved.secrets, signatures: true })).problems, [])
  },
)
