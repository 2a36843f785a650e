/** Core, checked with test data that others published: receipts, Merkle proofs, signatures, canonical JSON. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { verifyConsistency, verifyInclusion } from '@claimcheck/core/log'
import { canonicalize, isReceipt, parseStrictJson, verifyEd25519 } from '@claimcheck/core/receipts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { CONFORMANCE_DIR, readPublished } from './conformance.ts'
import { readManifest, runVectors } from './vector-suite.ts'

t.test('every published receipt, change entry, tree head and consistency document has its result', async (t) => {
  const folder = join(CONFORMANCE_DIR, 'poaw')
  const manifest = readManifest(folder)
  t.equal(manifest.vectors.length, 35)
  t.equal(manifest.tree_head_vectors.length, 4)
  t.equal(manifest.consistency_vectors.length, 2)
  await runVectors(t, folder)
})

t.test('the published schema of receipts accepts an agent that is bound', async (t) => {
  const accepts = new Ajv2020({ strict: false }).compile(JSON.parse(readPublished('poaw', 'receipt.schema.json')))
  const receipt = JSON.parse(readPublished('poaw', '001-valid-verified.json'))
  const bound = {
    ...receipt,
    body: {
      ...receipt.body,
      agent: { ...receipt.body.agent, bound: true, pseudonym: `${'p'.repeat(42)}A`, domain: 'acme.com' },
    },
  }
  t.ok(accepts(bound), JSON.stringify(accepts.errors))
  t.ok(isReceipt(bound))
})

t.test('the published schema of receipts accepts one that names its plugin', async (t) => {
  const accepts = new Ajv2020({ strict: false }).compile(JSON.parse(readPublished('poaw', 'receipt.schema.json')))
  const receipt = JSON.parse(readPublished('poaw', '001-valid-verified.json'))
  const naming = (more: object) => {
    const { observation } = receipt.body
    const verifier = { ...observation.verifier, ...more }
    return { ...receipt, body: { ...receipt.body, observation: { ...observation, verifier } } }
  }
  const hash = `sha256:${'A'.repeat(43)}`
  const named = naming({ package: '@acme/plugin', package_version: '1.0.0', code_hash: hash })
  t.ok(accepts(named), JSON.stringify(accepts.errors))
  t.ok(isReceipt(named))
  const inHex = naming({ code_hash: `sha256:${'0'.repeat(64)}` })
  t.notOk(accepts(inHex), 'a digest in hex is refused')
  t.notOk(isReceipt(inHex))
})

t.test('RFC 6962 inclusion proofs are accepted or refused as published', async (t) => {
  for (const file of jsonFiles('rfc6962', 'inclusion')) {
    const { leafIdx, treeSize, root, leafHash, proof, wantErr, desc } = JSON.parse(
      readPublished('rfc6962', 'inclusion', file),
    )
    const accepted = verifyInclusion({
      leafIndex: leafIdx,
      treeSize,
      rootHash: bytes(root),
      leafHash: bytes(leafHash),
      path: (proof ?? []).map(bytes),
    })
    t.equal(accepted, !wantErr, `${file}: ${desc}`)
  }
})

t.test('RFC 6962 consistency proofs are accepted or refused as published', async (t) => {
  for (const file of jsonFiles('rfc6962', 'consistency')) {
    const { size1, size2, root1, root2, proof, wantErr, desc } = JSON.parse(
      readPublished('rfc6962', 'consistency', file),
    )
    const accepted = verifyConsistency({
      first: size1,
      second: size2,
      firstRoot: bytes(root1),
      secondRoot: bytes(root2),
      path: (proof ?? []).map(bytes),
    })
    t.equal(accepted, !wantErr, `${file}: ${desc}`)
  }
})

t.test('all Wycheproof Ed25519 signatures are accepted or refused as published', async (t) => {
  const { testGroups } = JSON.parse(readPublished('ed25519', 'wycheproof_ed25519_test.json'))
  let count = 0
  for (const { publicKey, tests } of testGroups) {
    for (const { tcId, comment, msg, sig, result } of tests) {
      const accepted = verifyEd25519(hex(sig), hex(msg), hex(publicKey.pk))
      t.equal(accepted, result === 'valid', `${tcId}: ${comment}`)
      count++
    }
  }
  t.equal(count, 151)
})

// Every CCTV signature satisfies the equation with the cofactor. Its flags say why some verifiers refuse it.
// A strict verifier refuses an A or R of small order (low_order_A, low_order_R), an encoding of A or R that is not canonical
// (non_canonical_A, non_canonical_R; reencoded_k comes only with these), and a signature that needs the cofactor (low_order_residue).
// An A or R with only a component of small order satisfies the equation without the cofactor, and RFC 8032 does not refuse it.
const HARMLESS = new Set(['low_order_component_A', 'low_order_component_R'])

t.test('a CCTV signature is accepted exactly when it has no flags but those of a low-order component', async (t) => {
  const vectors = JSON.parse(readPublished('ed25519', 'cctv_ed25519vectors.json'))
  t.equal(vectors.length, 914)
  for (const { number, key, sig, msg, flags } of vectors) {
    const expected = (flags ?? []).every((flag: string) => HARMLESS.has(flag))
    const accepted = verifyEd25519(hex(sig), Buffer.from(msg), hex(key))
    t.equal(accepted, expected, `${number}: ${flags}`)
  }
})

t.test('RFC 8785 inputs canonicalize to the published bytes', async (t) => {
  for (const file of jsonFiles('jcs', 'input')) {
    const text = canonicalize(parseStrictJson(readPublished('jcs', 'input', file)).value)
    t.equal(text, readPublished('jcs', 'output', file), file)
    const outputHex = readPublished('jcs', 'outhex', file.replace('.json', '.txt')).replace(/\s+/g, '')
    t.equal(Buffer.from(text).toString('hex'), outputHex, `${file}, as bytes`)
  }
})

function jsonFiles(...path: string[]): string[] {
  const files = readdirSync(join(CONFORMANCE_DIR, ...path), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.json')).sort()
}

function bytes(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64')
}

function hex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}
