// Test run: end-to-end, slow
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { runClaimcheck } from './support/command.ts'
import { connect } from './support/connect.ts'
import { createDatabase } from './support/database.ts'
import { Installation } from './support/installation.ts'

const LOCKED = { use: resolve('build/test/plugins/locked.js'), trusted: true }
const [OLD, NEXT] = ['a1'.repeat(32), 'b2'.repeat(32)]

async function start(t: Test, keys: Readonly<Record<string, string>>) {
  const database = await createDatabase('sqlite')
  const installation = await Installation.during(t, { database: { ...database, env: keys }, plugins: [LOCKED] })
  const client = await installation.client('acme')
  await connect(installation.claimcheck, client.workspaceId, 'cave', { token: 'open sesame' })
  const run = (args: readonly string[], env = keys) => runClaimcheck(installation.folder, args, env)
  const json = async (args: readonly string[], env = keys) => JSON.parse((await run([...args, '--json'], env)).stdout)
  const verify = async () => {
    const { body } = await client.submit({ action: 'test.cave.open', target: 'x', params: {} })
    return (await client.decided(body.claim_id)).verdict
  }
  return { installation, run, json, verify }
}

t.test(
  'the key that an installation made is changed beside the server, and the old one is removed when asked',
  async (t) => {
    const { installation, run, json, verify } = await start(t, {})
    const path = join(installation.config.dataDir, 'secret.key')
    const before = await json(['secret-key', 'status'])
    const [{ id: oldId, values }] = before.keys
    t.match(before, { keys: [{ id: /^[0-9a-f]{8}$/, role: 'current', values: 2 }] })

    const rotated = await run(['secret-key', 'rotate'])
    t.match(rotated, { code: 0, stderr: '' })
    t.match(rotated.stdout, /^Made the key [0-9a-f]{8}\.\nSealed 2 values under the key [0-9a-f]{8}\.\n/)
    t.match(rotated.stdout, new RegExp(`Nothing is sealed under ${oldId} any more\\. claimcheck secret-key forget`))
    t.match(
      (await run(['secret-key', 'status'])).stdout,
      /^KEY +ROLE +VALUES\n[0-9a-f]{8} +seals and opens +2\n[0-9a-f]{8} +opens +0\n/,
    )
    t.equal(await verify(), 'verified', 'the server reads on')
    t.equal(statSync(path).mode & 0o777, 0o600)

    // Sooner, it waits for the rest of half a minute.
    const changedAt = new Date(Date.now() - 29_000)
    utimesSync(path, changedAt, changedAt)
    const forgotten = await run(['secret-key', 'forget', '--json'])
    t.match(forgotten.stderr, /^Waiting [12] s: a server may still store what it sealed before the rotation\.$/m)
    t.strictSame(JSON.parse(forgotten.stdout), { forgotten: [oldId] })
    t.match((await run(['secret-key', 'forget'])).stdout, /^Nothing is removed/)
    t.equal(readFileSync(path, 'utf8').trim().split('\n').length, 1)
    t.match(await json(['doctor']), { ok: true })
    const [after] = (await json(['secret-key', 'status'])).keys
    t.match(after, { role: 'current', values })
    t.not(after.id, oldId)
    await installation.stop()
    await installation.resume()
    t.equal(await verify(), 'verified')
    t.notMatch((await run(['secret-key', 'status'])).stdout, /[0-9a-f]{64}/)
  },
)

t.test('a key of the environment is changed in steps, each of which says the next', async (t) => {
  const { installation, run, json } = await start(t, { SECRET_KEY: OLD })
  const keys = join(installation.config.dataDir, 'signing-keys')
  const sealed = () => readFileSync(join(keys, readdirSync(keys)[0]!), 'utf8')
  const before = sealed()
  t.match(before, /^v2\./)
  t.match(await run(['secret-key', 'rotate']), { code: 0, stdout: /^Nothing was left to seal/ })
  t.match(await run(['secret-key', 'forget']), { code: 1, stderr: /SECRET_KEY_ALSO/ })

  const changed = { SECRET_KEY: NEXT, SECRET_KEY_ALSO: OLD }
  const status = await run(['secret-key', 'status'], changed)
  t.match(status.stdout, /3 values are not sealed under the current key: run claimcheck secret-key rotate/)
  const rotated = await run(['secret-key', 'rotate'], changed)
  t.match(rotated, {
    code: 0,
    stdout: /^Sealed 3 values under the key [0-9a-f]{8}\.\n.*take it out of SECRET_KEY_ALSO/s,
  })
  t.match(sealed(), /^v2\./)
  t.not(sealed(), before, 'the key file is sealed again, too')
  t.match(await json(['doctor'], { SECRET_KEY: NEXT }), { ok: true })

  const wrong = await json(['doctor'], { SECRET_KEY: OLD })
  t.equal(wrong.ok, false)
  for (const place of [/sealed_secrets: token/, /source_key/, /signing key .*\.pem/]) {
    t.ok(
      wrong.problems.some((problem: string) => place.test(problem)),
      `${place}`,
    )
  }
  const [{ id: oldId }, { id: nextId, role }] = (await json(['secret-key', 'status'], { SECRET_KEY: OLD })).keys
  t.match(role, 'unknown')
  t.match(
    (await run(['secret-key', 'status'], { SECRET_KEY: OLD })).stdout,
    new RegExp(`3 values are sealed under the key ${nextId}`),
  )
  await installation.stop()
  const refused = await runClaimcheck(installation.folder, ['serve'], { PORT: '0', SECRET_KEY: OLD })
  t.match(refused, { code: 1, stderr: new RegExp(`${nextId}.*SECRET_KEY`) })
  t.notMatch(refused.stderr, /a1a1|b2b2|PRIVATE/)
  t.not(oldId, nextId)
})
