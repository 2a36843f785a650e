/** Ed25519 signatures, compared with OpenSSL, and those that a strict verifier refuses. */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import {
  canonicalBytes,
  createNobleSigner,
  DOMAINS,
  fromBase64url,
  keyIdOf,
  signedMessage,
  verifyEd25519,
  verifySignature,
} from '@claimcheck/core/receipts'
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import t from 'tap'

const { Point } = ed25519
const L = Point.Fn.ORDER

const SECRET = new Uint8Array(32).fill(7)
const PUBLIC = ed25519.getPublicKey(SECRET)
const MESSAGE = Buffer.from('a receipt')
const SIGNATURE = ed25519.sign(MESSAGE, SECRET)

t.test('RFC 8032 7.1: test 1 is accepted', async (t) => {
  const key = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex')
  const signature = Buffer.from(
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    'hex',
  )
  t.ok(verifyEd25519(signature, new Uint8Array(), key))
})

t.test('a signature made by OpenSSL is accepted, and OpenSSL accepts ours', async (t) => {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), SECRET])
  const secretKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  t.ok(verifyEd25519(sign(null, MESSAGE, secretKey), MESSAGE, PUBLIC))
  t.ok(verify(null, MESSAGE, createPublicKey(secretKey), SIGNATURE))
})

t.test('a signature with any bit flipped is refused', async (t) => {
  for (let bit = 0; bit < 512; bit += 7) {
    const flipped = Uint8Array.from(SIGNATURE)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    t.notOk(verifyEd25519(flipped, MESSAGE, PUBLIC), `bit ${bit}`)
  }
})

t.test('S + L, another encoding of a valid signature, is refused', async (t) => {
  t.notOk(verifyEd25519(withScalar(SIGNATURE, scalarOf(SIGNATURE) + L), MESSAGE, PUBLIC))
})

t.test('a signature that holds only after multiplying by the cofactor is refused', async (t) => {
  // R carries a component of order 8 that S does not account for.
  const torsion = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')
  const r = 12345n
  const encodedR = Point.BASE.multiply(r).add(torsion).toBytes()
  const { scalar } = ed25519.utils.getExtendedPublicKey(SECRET)
  const k = Point.Fn.create(littleEndian(sha512(Buffer.concat([encodedR, PUBLIC, MESSAGE]))))
  const signature = withScalar(Buffer.concat([encodedR, new Uint8Array(32)]), Point.Fn.create(r + k * scalar))
  t.ok(ed25519.verify(signature, MESSAGE, PUBLIC, { zip215: false }), 'the library accepts it')
  t.notOk(verifyEd25519(signature, MESSAGE, PUBLIC))
})

t.test('keys and points of small order are refused, even if the equation holds', async (t) => {
  const identity = Point.ZERO.toBytes()
  const signature = Buffer.concat([identity, new Uint8Array(32)])
  t.notOk(verifyEd25519(signature, MESSAGE, identity))
  t.notOk(verifyEd25519(signature, MESSAGE, PUBLIC))
})

t.test('points that are not encoded canonically are refused', async (t) => {
  // y = p + 1 is another encoding of the identity's y = 1. The second has a sign bit, although x is 0.
  const beyondP = Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex')
  const negativeZero = Buffer.from(`01${'00'.repeat(30)}80`, 'hex')
  for (const point of [beyondP, negativeZero]) {
    t.notOk(verifyEd25519(Buffer.concat([point, new Uint8Array(32)]), MESSAGE, PUBLIC))
    t.notOk(verifyEd25519(SIGNATURE, MESSAGE, point))
  }
})

t.test('keys and signatures of another length are refused', async (t) => {
  t.notOk(verifyEd25519(SIGNATURE.subarray(0, 63), MESSAGE, PUBLIC))
  t.notOk(verifyEd25519(Buffer.concat([SIGNATURE, Buffer.of(0)]), MESSAGE, PUBLIC))
  t.notOk(verifyEd25519(SIGNATURE, MESSAGE, PUBLIC.subarray(0, 31)))
})

t.test('a signer signs domain, line feed and canonical body, and that holds in no other domain', async (t) => {
  const signer = createNobleSigner(SECRET)
  const signature = await signer.sign(DOMAINS.receipt, canonicalBytes({ b: 1, a: 'é' }))
  t.match(signature, { alg: 'Ed25519', key_id: keyIdOf(PUBLIC) })
  t.equal(
    Buffer.from(signedMessage(DOMAINS.receipt, canonicalBytes({ b: 1, a: 'é' }))).toString(),
    'POAW-RECEIPT-V0\n{"a":"é","b":1}',
  )
  t.equal(fromBase64url(signature.value)?.length, 64)
  for (const domain of Object.values(DOMAINS)) {
    const accepted = verifySignature(PUBLIC, domain, { a: 'é', b: 1 }, signature.value)
    t.equal(accepted, domain === DOMAINS.receipt, domain)
  }
})

function scalarOf(signature: Uint8Array): bigint {
  return littleEndian(signature.subarray(32))
}

function withScalar(signature: Uint8Array, scalar: bigint): Uint8Array {
  const copy = Uint8Array.from(signature)
  for (let index = 0; index < 32; index++) copy[32 + index] = Number((scalar >> BigInt(8 * index)) & 0xffn)
  return copy
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
