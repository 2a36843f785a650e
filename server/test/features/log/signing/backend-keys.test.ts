/** Keys in a signing backend that errs. A real token is tested by `test/token.test.ts`. */
import { generateKeyPairSync } from 'node:crypto'
import type { SigningBackend } from '@claimcheck/core/plugin'
import { canonicalBytes, DOMAINS } from '@claimcheck/core/receipts'
import { createBackendKeys } from '@claimcheck/server/features/log/signing/backend-keys'
import { type KeyStore, SigningError } from '@claimcheck/server/features/log/signing/key-store'
import { createSigner } from '@claimcheck/server/features/log/signing/signer'
import type { KeyVault } from '@claimcheck/server/features/log/signing/signing-keys'
import t from 'tap'

const key = createSigner(generateKeyPairSync('ed25519').privateKey)
const other = createSigner(generateKeyPairSync('ed25519').privateKey)
const BODY = canonicalBytes({ some: 'thing' })

/** A store without a key. */
const stored = {
  load: async () => {
    throw new SigningError('missing_key', 'not stored')
  },
} as unknown as KeyVault & KeyStore

function keysOf(over: Partial<SigningBackend>) {
  const backend: SigningBackend = {
    name: 'the vault',
    keys: async () => [key],
    generate: async () => key,
    sign: async () => new Uint8Array(64),
    ...over,
  }
  return createBackendKeys(backend, stored)
}

t.test('a signature that does not hold is not used', async (t) => {
  const signer = await keysOf({}).load(key.keyId)
  const refusal = {
    name: 'SigningError',
    code: 'unavailable',
    message: 'the vault made a signature that does not hold',
  }
  await t.rejects(signer.sign(DOMAINS.receipt, BODY), refusal)
})

const wrongAnswers: [what: string, sign: () => unknown][] = [
  ['a signature of another length', async () => new Uint8Array(3)],
  ['what is no signature', async () => undefined],
  [
    'an error before there is a promise',
    () => {
      throw new Error('not set up')
    },
  ],
]

for (const [what, sign] of wrongAnswers) {
  t.test(`${what} makes claims wait`, async (t) => {
    const signer = await keysOf({ sign: sign as SigningBackend['sign'] }).load(key.keyId)
    await t.rejects(signer.sign(DOMAINS.receipt, BODY), { name: 'SigningError', code: 'unavailable' })
  })
}

t.test('a key whose id is that of another key is refused', async (t) => {
  const keys = keysOf({ keys: async () => [{ keyId: key.keyId, publicKey: other.publicKey }] })
  await t.rejects(keys.load(key.keyId), { code: 'unusable_key', message: /has another id/ })
})

t.test('a key that is nowhere is named, with the backend', async (t) => {
  await t.rejects(keysOf({}).load(other.keyId), {
    code: 'missing_key',
    message: `the private key of ${other.keyId}, which signs the log, is neither in the vault nor stored: use the one that has it`,
  })
})

t.test('what the backend says of a failure is what the operator reads', async (t) => {
  const away = async () => {
    throw new Error('the vault is sealed: unseal it')
  }
  await t.rejects(keysOf({ keys: away }).load(key.keyId), {
    code: 'unavailable',
    message: 'the vault is sealed: unseal it',
  })
  const keys = keysOf({ sign: away })
  t.equal(await keys.problem(), undefined, 'nothing signs yet')
  await keys.load(key.keyId)
  t.equal(await keys.problem(), 'the vault is sealed: unseal it')
  const hanging = keysOf({ sign: () => new Promise(() => {}) })
  const signer = await hanging.load(key.keyId)
  const signing = t.rejects(signer.sign(DOMAINS.receipt, BODY), { message: 'the vault does not answer' })
  t.equal(await hanging.problem(), 'the vault does not answer')
  await signing
})
