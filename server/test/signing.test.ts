import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalize, DOMAINS, fromBase64url, keyIdOf, signedMessage, verifyEd25519 } from '@claimcheck/core'
import { createKeyFiles, createSigner } from '@claimcheck/server/signing/key-files'
import t from 'tap'

t.test('what the server signs holds by the strict rules of the checker', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const signer = createSigner(privateKey)
  const body = { some: ['thing', 1] }
  const signature = await signer.sign(DOMAINS.receipt, canonicalize(body))
  const bytes = fromBase64url(signature.value, 64)!
  t.strictSame([signature.alg, signature.key_id], ['Ed25519', keyIdOf(signer.publicKey)])
  t.ok(verifyEd25519(bytes, signedMessage(DOMAINS.receipt, canonicalize(body)), signer.publicKey))
  t.notOk(verifyEd25519(bytes, signedMessage(DOMAINS.treeHead, canonicalize(body)), signer.publicKey))
  t.notOk(JSON.stringify(signer).includes(String(privateKey.export({ format: 'jwk' }).d)))
  t.throws(() => createSigner(generateKeyPairSync('x25519').privateKey))
})

t.test('a key that was made is loaded again, from a file for its owner alone', async (t) => {
  const dataDir = join(t.testdir(), 'data')
  const vault = createKeyFiles({ dataDir })
  const { keyId } = await vault.create()
  t.equal((await createKeyFiles({ dataDir }).load(keyId)).keyId, keyId)
  const [name] = readdirSync(join(dataDir, 'signing-keys'))
  t.equal(statSync(join(dataDir, 'signing-keys', name!)).mode & 0o777, 0o600)
})

t.test('a key that is missing, corrupt, another one, or open to others is told', async (t) => {
  const dataDir = t.testdir()
  const vault = createKeyFiles({ dataDir })
  const { keyId } = await vault.create()
  const [name] = readdirSync(join(dataDir, 'signing-keys'))
  const path = join(dataDir, 'signing-keys', name!)
  const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  chmodSync(path, 0o644)
  await t.rejects(vault.load(keyId), { code: 'unusable_key_file' })
  chmodSync(path, 0o600)
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const x25519 = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  for (const content of ['', 'not a key', other, rsa, x25519]) {
    writeFileSync(path, content)
    await t.rejects(vault.load(keyId), { code: 'unusable_key_file' })
  }
  rmSync(path)
  await t.rejects(vault.load(keyId), { code: 'missing_key' })
  writeFileSync(join(dataDir, 'file'), '')
  await t.rejects(createKeyFiles({ dataDir: join(dataDir, 'file') }).create(), { code: 'unusable_key_file' })
})
