/**
 * Re-derives everything from what is stored: leaves from receipts, tiles and roots from leaves, signatures from keys; and holds
 * the claims against their receipts.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  appendLeaves,
  bytesEqual,
  canonicalize,
  DOMAINS,
  type Domain,
  digestOf,
  EMPTY_EDGE,
  formatInstant,
  fromBase64url,
  type Instant,
  isReceipt,
  isTreeHead,
  type JsonObject,
  type JsonValue,
  keyIdOf,
  logIdOf,
  type Receipt,
  type Signature,
  signedMessage,
  type Tile,
  treeHeadBody,
} from '@claimcheck/core'
import type { LogTotals, ReceiptRow, SigningKeyRow, TreeHeadRow } from '../storage/log.ts'
import type { Reads, Storage } from '../storage/storage.ts'
import { type Complain, checkDecidedClaims, checkQueuedClaims } from './claim-diagnosis.ts'
import { SHA256_TREE } from './stored-log.ts'

export interface Diagnosis {
  readonly ok: boolean
  /** A sentence each, naming the row. */
  readonly problems: readonly string[]
  readonly leaves: number
}

type Progress = (leaves: number, treeSize: number) => void
type CheckSignature = (
  domain: Domain,
  signed: { readonly body: JsonObject; readonly signature: Signature },
  issuedAt: Instant,
) => boolean

const HEADS_PER_READ = 500
/** Where so much is wrong, more of it tells nothing more. */
const MOST_PROBLEMS = 1000

/** A server may go on appending meanwhile: what is new is gone through, too. */
export async function diagnose(storage: Storage, onProgress: Progress = () => {}): Promise<Diagnosis> {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (problems.length < MOST_PROBLEMS) problems.push(problem)
  }
  const { log, claims } = storage.read
  const state = await log.state()
  const logId = state?.logId ?? ''
  if (state && logId !== logIdOf(state.name)) complain('log: log_id is not the hash of the name')

  let edge = EMPTY_EDGE
  let rootHash = SHA256_TREE.empty
  let tiles = 0
  let newest: TreeHeadRow | undefined
  for (;;) {
    // Read before the heads: when none follow, these are the totals of what was gone through.
    const totals = await log.totals()
    const heads = await log.headsAfter(newest, HEADS_PER_READ)
    // Read after them: the keys that signed them are there.
    const keys = await log.signingKeys()
    if (heads.length === 0) {
      checkTotals(totals, { leaves: edge.treeSize, tiles }, complain)
      checkKeys(keys, complain)
      break
    }
    const checkSignature = signatureCheck(keys)
    for (const head of heads) {
      if (!newest && keys[0]?.validFrom !== head.issuedAt)
        complain('log: its first key and its first head differ in time')
      const receipts = await log.receipts(edge.treeSize, head.treeSize)
      const missing = head.treeSize - edge.treeSize - receipts.length
      if (missing > 0) {
        complain(`tree head ${head.treeSize}: ${missing} receipts are missing between leaf ${edge.treeSize} and it`)
        return { ok: false, problems, leaves: edge.treeSize }
      }
      const sound = receipts.flatMap((row) => {
        const body = checkReceipt(row, checkSignature, complain)
        return body ? [{ row, body }] : []
      })
      await checkDecidedClaims(claims, sound, complain)
      const appended = appendLeaves(edge, receipts.map(leafHashOf), SHA256_TREE)
      await checkTiles(log, appended.tiles, complain)
      tiles += appended.tiles.length
      if (receipts.length > 0) ({ edge, rootHash } = appended)
      checkHead(head, { logId, rootHash }, checkSignature, complain)
      onProgress(edge.treeSize, Math.max(edge.treeSize, totals.treeSize ?? 0))
      newest = head
    }
  }

  await checkQueuedClaims(claims, complain)
  for (const problem of await claims.contradictions(MOST_PROBLEMS)) complain(problem)
  return { ok: problems.length === 0, problems, leaves: edge.treeSize }
}

function checkTotals(
  { treeSize, receipts, tiles, hasSigningKey }: LogTotals,
  derived: { readonly leaves: number; readonly tiles: number },
  complain: Complain,
): void {
  const { leaves } = derived
  if (treeSize === null && receipts + tiles > 0) complain('log: the row is missing')
  if (treeSize !== null && treeSize !== leaves) complain(`log: tree_size is ${treeSize}, the newest head has ${leaves}`)
  if (treeSize !== null && !hasSigningKey) complain('log: key_id is no key that may sign')
  if (receipts !== leaves) complain(`receipts: there are ${receipts}, the newest head has ${leaves}`)
  if (tiles !== derived.tiles) complain(`tiles: there are ${tiles}, the log has ${derived.tiles}`)
}

/** The body, when the entry is a receipt at all. */
function checkReceipt(
  row: ReceiptRow,
  checkSignature: CheckSignature,
  complain: Complain,
): Receipt['body'] | undefined {
  const name = `receipt ${row.receiptId} (leaf ${row.leafIndex})`
  if (!bytesEqual(leafHashOf(row), row.leafHash)) complain(`${name}: leaf_hash is not the hash of the entry`)
  const receipt = parse(row.entry)
  if (receipt === undefined || !isReceipt(receipt) || canonicalize(receipt) !== row.entry) {
    complain(`${name}: the entry is no receipt in canonical JSON`)
    return undefined
  }
  const { body } = receipt
  const { claim_digest, ...claim } = body.claim
  if (digestOf(claim) !== claim_digest) complain(`${name}: claim_digest is not the digest of the claim`)
  if (body.receipt_id !== row.receiptId) complain(`${name}: the entry is another receipt, ${body.receipt_id}`)
  if (body.issued_at !== formatInstant(row.issuedAt)) complain(`${name}: issued_at is not the entry's`)
  if (!checkSignature(DOMAINS.receipt, receipt, row.issuedAt)) complain(`${name}: the signature does not hold`)
  return body
}

async function checkTiles(log: Reads['log'], tiles: readonly Tile[], complain: Complain): Promise<void> {
  for (const { level, index, width, hashes } of tiles) {
    const stored = await log.tile(level, index, width)
    if (stored?.width !== width || !bytesEqual(stored.hashes, hashes)) {
      complain(`tile ${level}/${index} of width ${width}: missing, or not made of the log's hashes`)
    }
  }
}

function checkHead(
  row: TreeHeadRow,
  log: { readonly logId: string; readonly rootHash: Uint8Array },
  checkSignature: CheckSignature,
  complain: Complain,
): void {
  const name = `tree head ${row.treeSize}`
  if (!bytesEqual(row.rootHash, log.rootHash)) complain(`${name}: root_hash is not the root of the leaves`)
  const signed = parse(row.signed)
  const body = treeHeadBody({ ...log, treeSize: row.treeSize, issuedAt: row.issuedAt })
  if (signed === undefined || !isTreeHead(signed) || canonicalize(signed.body) !== canonicalize(body)) {
    complain(`${name}: what was signed is not this head`)
  } else if (!checkSignature(DOMAINS.treeHead, signed, row.issuedAt)) {
    complain(`${name}: the signature does not hold`)
  }
}

/** Each key's window begins where the one's before ends. */
function checkKeys(rows: readonly SigningKeyRow[], complain: Complain): void {
  for (const [index, { keyId, publicKey, validFrom }] of rows.entries()) {
    const raw = fromBase64url(publicKey, 32)
    if (!raw || keyIdOf(raw) !== keyId) complain(`signing key ${keyId}: the id is not the hash of the public key`)
    const before = rows[index - 1]
    if (before && before.revokedAt !== validFrom)
      complain(`signing key ${keyId}: valid_from is not the end of the last`)
  }
}

// node:crypto, which is some fifteen times as fast as the checker's own; the keys here are ours.
function signatureCheck(rows: readonly SigningKeyRow[]): CheckSignature {
  const keys = new Map<string, { readonly row: SigningKeyRow; readonly key: KeyObject }>()
  for (const row of rows) {
    const raw = fromBase64url(row.publicKey, 32)
    if (!raw || keyIdOf(raw) !== row.keyId) continue
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: row.publicKey }, format: 'jwk' })
    keys.set(row.keyId, { row, key })
  }
  return (domain, { body, signature }, issuedAt) => {
    const known = keys.get(signature.key_id)
    const value = fromBase64url(signature.value, 64)
    if (!known || !value) return false
    const { validFrom, revokedAt } = known.row
    const inWindow = validFrom <= issuedAt && (revokedAt === null || issuedAt < revokedAt)
    return inWindow && verify(null, signedMessage(domain, canonicalize(body)), known.key, value)
  }
}

function leafHashOf({ entry }: ReceiptRow): Uint8Array {
  return SHA256_TREE.leaf(Buffer.from(entry))
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
