/** The keys of the log: made, kept, sealed, rotated and revoked. Threat K6 of `security.md`. */
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  canonicalBytes,
  DOMAINS,
  fromBase64url,
  keyIdOf,
  signedMessage,
  toBase64url,
  verifyEd25519,
} from '@claimcheck/core/receipts'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { loadConfig } from '@claimcheck/server/features'
import { createKeyVault } from '@claimcheck/server/features/log/signing/key-vault'
import { createSigner } from '@claimcheck/server/features/log/signing/signer'
import { createSigningKeys } from '@claimcheck/server/features/log/signing/signing-keys'
import { loadSodium, working } from '@claimcheck/server/features/log/signing/sodium'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createDatabase, type Dialect } from '../../../../../test/support/database.ts'
import { openStorage } from '../../../../../test/support/storage.ts'
import { openLogGuard } from '../../../support/log-guard.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const now = () => NOON
const registry = { signingBackend: undefined }

/** A host's part of signing, on a database of its own or on another's. */
async function openHost(t: Test, dialect: Dialect, env?: Readonly<Record<string, string>>) {
  const database = await createDatabase(dialect)
  const config = loadConfig(env ?? database.env, t.testdir())
  const storage = await openStorage(config)
  t.teardown(async () => {
    await storage.close()
    await database.remove()
  })
  const secrets = openSecrets(config)
  const vault = createKeyVault({ storage, secrets, config, registry })
  const logGuard = openLogGuard(storage, config.dataDir)
  const signingKeys = createSigningKeys({ storage, vault, logGuard, now, config })
  return { database, config, storage, secrets, vault, signingKeys, registry }
}

type Host = Awaited<ReturnType<typeof openHost>>

/** As whoever makes a key does: the key and its row in one transaction. */
function createKey({ storage, vault }: Host): Promise<string> {
  return storage.write(async (tx) => {
    const { keyId, publicKey } = await vault.create(tx)
    await tx.log.insertSigningKey({ keyId, publicKey: toBase64url(publicKey), validFrom: NOON, revokedAt: null })
    return keyId
  })
}

t.test('what the server signs holds by the strict rules of the checker', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const signer = createSigner(privateKey)
  const body = { some: ['thing', 1] }
  const signature = await signer.sign(DOMAINS.receipt, canonicalBytes(body))
  const bytes = fromBase64url(signature.value, 64)!
  t.strictSame([signature.alg, signature.key_id], ['Ed25519', keyIdOf(signer.publicKey)])
  t.ok(verifyEd25519(bytes, signedMessage(DOMAINS.receipt, canonicalBytes(body)), signer.publicKey))
  t.notOk(verifyEd25519(bytes, signedMessage(DOMAINS.treeHead, canonicalBytes(body)), signer.publicKey))
  t.notOk(JSON.stringify(signer).includes(String(privateKey.export({ format: 'jwk' }).d)))
  t.throws(() => createSigner(generateKeyPairSync('x25519').privateKey))
})

const sodium = loadSodium()
const withoutSodium = sodium ? false : 'libsodium has no binary for this machine'

t.test('libsodium and OpenSSL sign the same', { skip: withoutSodium }, async (t) => {
  for (let keys = 0; keys < 50; keys++) {
    const { privateKey } = generateKeyPairSync('ed25519')
    const [one, other] = [createSigner(privateKey, sodium), createSigner(privateKey, null)]
    for (const text of ['', '{}', JSON.stringify({ text: 'ä€😀'.repeat(keys) })]) {
      const body = Buffer.from(text)
      t.strictSame(await one.sign(DOMAINS.receipt, body), await other.sign(DOMAINS.receipt, body))
    }
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  const wrong = { ...sodium!, crypto_sign_seed_keypair() {} }
  t.throws(() => createSigner(privateKey, wrong), /another public key/)
  t.equal(
    working(() => sodium!),
    sodium,
  )
  t.equal(
    working(() => wrong),
    null,
    'one that signs something else is not used',
  )
})

t.test('where libsodium does not load, OpenSSL signs', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const none = working(() => {
    throw new Error('no binary for this machine')
  })
  const { publicKey, sign } = createSigner(privateKey, none)
  const body = Buffer.from('{}')
  const { value } = await sign(DOMAINS.receipt, body)
  t.ok(verifyEd25519(fromBase64url(value, 64)!, signedMessage(DOMAINS.receipt, body), publicKey))
})

for (const dialect of ['sqlite', 'postgres'] as const) {
  t.test(`on ${dialect}, a key that was made is loaded again, and is kept for its host alone`, async (t) => {
    const host = await openHost(t, dialect)
    const keyId = await createKey(host)
    t.equal((await createKeyVault(host).load(keyId)).keyId, keyId)
    const sealed = await host.storage.read.log.sealedKey(keyId)
    if (dialect === 'sqlite') {
      const folder = join(host.config.dataDir, 'signing-keys')
      const [name] = readdirSync(folder)
      t.equal(statSync(join(folder, name!)).mode & 0o777, 0o600)
      t.equal(sealed, undefined)
    } else {
      t.match(sealed, /^v2\./)
      t.throws(() => readdirSync(join(host.config.dataDir, 'signing-keys')), { code: 'ENOENT' })
    }
  })

  t.test(`on ${dialect}, a key that is not here is told`, async (t) => {
    const { vault } = await openHost(t, dialect)
    await t.rejects(vault.load(`ed25519:${'0'.repeat(64)}`), { name: 'SigningError', code: 'missing_key' })
  })
}

t.test('a key file that is corrupt, of another key, open to others, or lost is told', async (t) => {
  const host = await openHost(t, 'sqlite')
  const { vault, config } = host
  const keyId = await createKey(host)
  const folder = join(config.dataDir, 'signing-keys')
  const path = join(folder, readdirSync(folder)[0]!)
  chmodSync(path, 0o644)
  await t.rejects(vault.load(keyId), { code: 'unusable_key' })
  chmodSync(path, 0o600)
  const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const x25519 = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  for (const content of ['', 'not a key', other, rsa, x25519]) {
    writeFileSync(path, content)
    await t.rejects(vault.load(keyId), { code: 'unusable_key' })
  }
  rmSync(path)
  await t.rejects(vault.load(keyId), { code: 'missing_key' })
})

/** A host on files, whose secret key comes from outside unless `env` says otherwise. */
const [KEY, OTHER_KEY] = ['a1'.repeat(32), 'b2'.repeat(32)]

async function openFiles(t: Test, folder: string, env: Readonly<Record<string, string>>) {
  const config = loadConfig(env, folder)
  const storage = await openStorage(config)
  t.teardown(() => storage.close())
  const parts = { storage, config, secrets: openSecretsLazily(config), registry }
  const vault = createKeyVault(parts)
  return {
    ...parts,
    vault,
    signingKeys: createSigningKeys({ ...parts, vault, logGuard: openLogGuard(storage, config.dataDir), now }),
  }
}

/** As the container does it. */
function openSecretsLazily(config: Parameters<typeof openSecrets>[0]) {
  return new Proxy({} as ReturnType<typeof openSecrets>, {
    get: (_, name) => Reflect.get(openSecrets(config), name),
  })
}

const keyFile = (folder: string) => {
  const keys = join(folder, 'data/signing-keys')
  return join(keys, readdirSync(keys)[0]!)
}

t.test('with a secret key from outside, key files are sealed: old ones at the next start, new at once', async (t) => {
  const folder = t.testdir()
  await (await openFiles(t, folder, {})).signingKeys.ensureLog()
  const path = keyFile(folder)
  t.match(readFileSync(path, 'utf8'), /BEGIN PRIVATE KEY/)

  const host = await openFiles(t, folder, { SECRET_KEY: KEY })
  await host.signingKeys.ensureLog()
  t.match(readFileSync(path, 'utf8'), /^v2\.[0-9a-f]{8}\.[A-Za-z0-9_-]+\n$/)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(readdirSync(join(folder, 'data/signing-keys')).length, 1, 'no draft is left, and no plain copy')
  const { keyId } = (await host.storage.read.log.state())!
  t.equal((await (await openFiles(t, folder, { SECRET_KEY: KEY })).signingKeys.latest()).keyId, keyId)

  const rotated = await host.signingKeys.rotate()
  const names = readdirSync(join(folder, 'data/signing-keys'))
  t.equal(names.length, 2)
  for (const name of names) t.match(readFileSync(join(folder, 'data/signing-keys', name), 'utf8'), /^v2\./)
  t.equal((await host.vault.load(rotated.keyId)).keyId, rotated.keyId)
})

t.test('a start with a wrong key, or with none, says what to do, and makes no key and no file', async (t) => {
  const folder = t.testdir()
  const host = await openFiles(t, folder, { SECRET_KEY: KEY })
  await host.signingKeys.ensureLog()
  const before = readFileSync(keyFile(folder), 'utf8')
  const keyId = openSecrets(host.config).keyIds()[0]!
  for (const [env, message] of [
    [{ SECRET_KEY: OTHER_KEY }, new RegExp(`${keyId}.*SECRET_KEY`)],
    [{}, /set SECRET_KEY to the key of this installation/],
  ] as const) {
    const { signingKeys, storage } = await openFiles(t, folder, env)
    const refusal = { name: 'SigningError', code: 'unusable_key', message }
    await t.rejects(signingKeys.ensureLog(), refusal)
    await t.rejects(signingKeys.rotate(), refusal)
    t.equal((await storage.read.log.signingKeys()).length, 1)
  }
  t.equal(readFileSync(keyFile(folder), 'utf8'), before)
  t.notOk(existsSync(join(folder, 'data/secret.key')), 'a new secret key would open nothing')

  await (await openFiles(t, folder, { SECRET_KEY: OTHER_KEY, SECRET_KEY_ALSO: KEY })).signingKeys.ensureLog()
  writeFileSync(join(folder, 'data/secret.key'), KEY, { mode: 0o600 })
  await (await openFiles(t, folder, {})).signingKeys.ensureLog()
})

t.test('a file that is no key is not sealed, and a sealed one opens in no other place', async (t) => {
  const folder = t.testdir()
  const host = await openFiles(t, folder, { SECRET_KEY: KEY })
  await host.signingKeys.ensureLog()
  const path = keyFile(folder)
  const other = join(folder, 'data/signing-keys', `${'x'.repeat(43)}.pem`)
  writeFileSync(other, 'not a key', { mode: 0o600 })
  await host.vault.secure()
  t.equal(readFileSync(other, 'utf8'), 'not a key')
  writeFileSync(other, readFileSync(path))
  await t.rejects(host.vault.load(`ed25519:${'x'.repeat(43)}`), { code: 'unusable_key' })
})

t.test('a folder that takes no key is told, and nothing is signed', async (t) => {
  const { vault, storage, config, signingKeys } = await openHost(t, 'sqlite')
  writeFileSync(join(config.dataDir, 'signing-keys'), '')
  await t.rejects(signingKeys.ensureLog(), { code: 'unusable_key' })
  t.equal(await storage.read.log.state(), undefined)
  t.strictSame(await storage.read.log.signingKeys(), [])
  await t.rejects(vault.load('ed25519:0'), { code: 'unusable_key' })
})

t.test('a sealed key opens for every host that has the SECRET_KEY, and for no other', async (t) => {
  const first = await openHost(t, 'postgres')
  await first.signingKeys.ensureLog()
  const { keyId } = (await first.storage.read.log.state())!
  const second = await openHost(t, 'postgres', first.database.env)
  await second.signingKeys.ensureLog()
  t.equal((await second.signingKeys.latest()).keyId, keyId)

  const stranger = await openHost(t, 'postgres', { ...first.database.env, SECRET_KEY: '5'.repeat(64) })
  const refusal = { name: 'SigningError', code: 'unusable_key', message: /^(?!.*(PRIVATE KEY|5555))/s }
  await t.rejects(stranger.signingKeys.ensureLog(), refusal)
  await t.rejects(stranger.signingKeys.rotate(), refusal)
  t.equal((await first.storage.read.log.signingKeys()).length, 1)
})

t.test('a sealed key does not open in the place of another, nor changed', async (t) => {
  const host = await openHost(t, 'postgres')
  const { vault, storage, secrets, config } = host
  const [keyId, other] = [await createKey(host), await createKey(host)]
  const sealed = (await storage.read.log.sealedKey(keyId))!
  const wrong: [string, string][] = [
    ['of another key', (await storage.read.log.sealedKey(other))!],
    ['changed', `${sealed.slice(0, -4)}AAAA`],
    ['another key, sealed for this place', secrets.seal(await vault.read(other), `signing-key:${keyId}`)],
    ['no key, sealed for this place', secrets.seal('not a key', `signing-key:${keyId}`)],
  ]
  const client = new pg.Client(config.databaseUrl)
  await client.connect()
  t.teardown(() => client.end())
  for (const [name, text] of wrong) {
    await client.query('UPDATE sealed_signing_keys SET sealed = $2 WHERE key_id = $1', [keyId, text])
    await t.rejects(vault.load(keyId), { code: 'unusable_key' }, name)
  }
})

t.test('a sealed key is kept with the transaction that lists it, or not at all', async (t) => {
  const { storage, vault } = await openHost(t, 'postgres')
  let keyId = ''
  const failing = storage.write(async (tx) => {
    keyId = (await vault.create(tx)).keyId
    throw new Error('crashed')
  })
  await t.rejects(failing, { message: 'crashed' })
  await t.rejects(vault.load(keyId), { code: 'missing_key' })
  await t.rejects(
    storage.write((tx) => vault.create(tx)),
    { code: '23503' },
    'and never without being listed',
  )
})

t.test('hosts that start together make one log with one key, and all of them can sign with it', async (t) => {
  const first = await openHost(t, 'postgres')
  const hosts = [first, ...(await Promise.all([1, 2, 3].map(() => openHost(t, 'postgres', first.database.env))))]
  await Promise.all(hosts.map(({ signingKeys }) => signingKeys.ensureLog()))
  const keyIds = await Promise.all(hosts.map(async ({ signingKeys }) => (await signingKeys.latest()).keyId))
  t.equal(new Set(keyIds).size, 1)
  t.equal((await first.storage.read.log.signingKeys()).length, 1)

  const { keyId } = await first.signingKeys.rotate()
  t.equal((await hosts[1]!.signingKeys.signer(keyId)).keyId, keyId, 'a key that another host has made, too')
})

t.test('a key that outlives its database, as in a token, begins another log than before', async (t) => {
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey)
  const kept = async () => signer
  const vault = { create: kept, load: kept, async secure() {}, problem: async () => undefined, async close() {} }
  const folder = t.testdir()
  async function begin(name: string, at: number) {
    const storage = await openStorage({ databaseUrl: `sqlite:${join(folder, name)}` })
    t.teardown(() => storage.close())
    const logGuard = openLogGuard(storage, folder)
    const config = { issuerName: undefined, publicUrl: undefined }
    await createSigningKeys({ storage, vault, logGuard, now: () => at, config }).ensureLog()
    return (await storage.read.log.state())!
  }
  const [lost, next] = [await begin('lost.db', NOON), await begin('next.db', NOON + 1000)]
  t.equal(lost.keyId, next.keyId)
  t.not(lost.logId, next.logId, 'their trees contradict each other')
})
