/** Signed tree heads. */

import { checkConsistency, checkTreeHead, logIdOf, signTreeHead, treeRoot } from '@claimcheck/core/log'
import { createNobleSigner, parseKeySet, toBase64url } from '@claimcheck/core/receipts'
import t from 'tap'

const signer = createNobleSigner(new Uint8Array(32).fill(1))
const ISSUED_AT = Date.UTC(2026, 8, 25, 14, 5)
const keys = parseKeySet(
  JSON.stringify({
    keys: [
      {
        key_id: signer.keyId,
        public_key: toBase64url(signer.publicKey),
        valid_from: '2026-01-01T00:00:00.000Z',
        revoked_at: null,
      },
    ],
  }),
)

t.test('a signed tree head has exactly the log, the size, the root and the time', async (t) => {
  const logId = logIdOf('a log')
  const head = await signTreeHead(signer, { logId, treeSize: 0, rootHash: treeRoot([]), issuedAt: ISSUED_AT })
  t.strictSame(head.body, {
    log_id: logId,
    tree_size: 0,
    root_hash: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU',
    issued_at: '2026-09-25T14:05:00.000Z',
  })
  t.strictSame(checkTreeHead(JSON.stringify(head), keys), {
    valid: true,
    checks: { shape: true, key: true, signature: true },
  })
})

t.test('the id of a log is the hash of its name', async (t) => {
  t.equal(logIdOf('abc'), 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
})

t.test('a tree head or consistency document that is nested too deeply is invalid', async (t) => {
  const deep = '['.repeat(1e5)
  t.equal(checkTreeHead(deep, keys).valid, false)
  t.equal(checkConsistency(deep).valid, false)
})
