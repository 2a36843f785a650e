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
  type JsonObject,
  keyIdOf,
  logIdOf,
  type Receipt,
  type SignedTreeHead,
  signedMessage,
  type Tile,
  treeHeadBody,
} from '@claimcheck/core'
import type { ClaimRow } from '../storage/claims.ts'
import type { ReceiptRow, SigningKeyRow, TreeHeadRow } from '../storage/log.ts'
import type { Reads, Storage } from '../storage/storage.ts'
import { SHA256_TREE } from './stored-log.ts'

export interface Diagnosis {
  readonly ok: boolean
  /** A sentence each, naming the row. */
  readonly problems: readonly string[]
  readonly leaves: number
}

type Complain = (problem: string) => void
type Progress = (leaves: number, treeSize: number) => void
type CheckSignature = (
  domain: Domain,
  signed: { body: JsonObject; signature: Receipt['signature'] },
  issuedAt: Instant,
) => boolean

const HEADS_PER_READ = 500
/** Where so much is wrong, more of it tells nothing more. */
const MOST_PROBLEMS = 1000

export async function diagnose(storage: Storage, onProgress: Progress = () => {}): Promise<Diagnosis> {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (problems.length < MOST_PROBLEMS) problems.push(problem)
  }
  const { log, claims } = storage.read
  const state = await log.state()
  if (!state) return { ok: true, problems, leaves: 0 }

  if (state.logId !== logIdOf(state.name)) complain('log: log_id is not the hash of the name')
  const checkSignature = signatureCheck(await log.signingKeys(), complain)
  let edge = EMPTY_EDGE
  let rootHash = SHA256_TREE.empty
  let tiles = 0
  for await (const head of headsOf(log)) {
    const name = `tree head ${head.treeSize}`
    const receipts = await log.receipts(edge.treeSize, head.treeSize)
    if (receipts.length !== head.treeSize - edge.treeSize) {
      complain(
        `${name}: ${head.treeSize - edge.treeSize - receipts.length} receipts are missing between leaf ${edge.treeSize} and it`,
      )
      return { ok: false, problems, leaves: edge.treeSize }
    }
    await checkReceipts(receipts, claims, checkSignature, complain)
    const appended = appendLeaves(edge, receipts.map(leafHashOf), SHA256_TREE)
    await checkTiles(log, appended.tiles, complain)
    tiles += appended.tiles.length
    if (receipts.length > 0) ({ edge, rootHash } = appended)
    checkHead(head, { logId: state.logId, rootHash }, checkSignature, complain)
    onProgress(edge.treeSize, state.treeSize)
  }

  if (state.treeSize !== edge.treeSize)
    complain(`log: tree_size is ${state.treeSize}, the newest head has ${edge.treeSize}`)
  const counts = await log.counts()
  if (counts.receipts !== edge.treeSize)
    complain(`receipts: there are ${counts.receipts}, the newest head has ${edge.treeSize}`)
  if (counts.tiles !== tiles) complain(`tiles: there are ${counts.tiles}, the log has ${tiles}`)
  for (const problem of await claims.contradictions(MOST_PROBLEMS)) complain(problem)
  return { ok: problems.length === 0, problems, leaves: edge.treeSize }
}

async function* headsOf(log: Reads['log']): AsyncGenerator<TreeHeadRow> {
  let after: TreeHeadRow | undefined
  for (;;) {
    const heads = await log.headsAfter(after, HEADS_PER_READ)
    if (heads.length === 0) return
    yield* heads
    after = heads.at(-1)
  }
}

async function checkReceipts(
  rows: readonly ReceiptRow[],
  claims: Reads['claims'],
  checkSignature: CheckSignature,
  complain: Complain,
): Promise<void> {
  const byId = new Map((await claims.byIds(rows.map((row) => row.claimId))).map((claim) => [claim.claimId, claim]))
  for (const row of rows) {
    const name = `receipt ${row.receiptId} (leaf ${row.leafIndex})`
    if (!bytesEqual(leafHashOf(row), row.leafHash)) complain(`${name}: leaf_hash is not the hash of the entry`)
    const receipt = parse<Receipt>(row.entry)
    if (!receipt || canonicalize(receipt) !== row.entry) {
      complain(`${name}: the entry is not canonical JSON`)
      continue
    }
    const { body } = receipt
    const { claim_digest, ...claim } = body.claim
    if (digestOf(claim) !== claim_digest) complain(`${name}: claim_digest is not the digest of the claim`)
    if (body.receipt_id !== row.receiptId) complain(`${name}: the entry is another receipt, ${body.receipt_id}`)
    if (body.issued_at !== formatInstant(row.issuedAt)) complain(`${name}: issued_at is not the entry's`)
    if (!checkSignature(DOMAINS.receipt, receipt, row.issuedAt)) complain(`${name}: the signature does not hold`)
    const stored = byId.get(row.claimId)
    if (!stored || !isReceiptOf(body, stored))
      complain(`${name}: claim ${row.claimId} says something else, or is missing`)
  }
}

function isReceiptOf({ claim, verdict, receipt_id, observation }: Receipt['body'], stored: ClaimRow): boolean {
  return (
    stored.state === 'decided' &&
    stored.receiptId === receipt_id &&
    stored.claimDigest === claim.claim_digest &&
    stored.verdict === verdict.value &&
    stored.reasonCode === (verdict.reason_code ?? null) &&
    stored.attempts === observation.attempts
  )
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
  const signed = parse<SignedTreeHead>(row.signed)
  const body = treeHeadBody({ ...log, treeSize: row.treeSize, issuedAt: row.issuedAt })
  if (!signed || canonicalize(signed.body) !== canonicalize(body)) {
    complain(`${name}: what was signed is not this head`)
  } else if (!checkSignature(DOMAINS.treeHead, signed, row.issuedAt)) {
    complain(`${name}: the signature does not hold`)
  }
}

// node:crypto, which is some fifteen times as fast as the checker's own; the keys here are ours.
function signatureCheck(rows: readonly SigningKeyRow[], complain: Complain): CheckSignature {
  const keys = new Map<string, { readonly row: SigningKeyRow; readonly key: KeyObject }>()
  for (const row of rows) {
    const raw = fromBase64url(row.publicKey, 32)
    if (!raw || keyIdOf(raw) !== row.keyId)
      complain(`signing key ${row.keyId}: the id is not the hash of the public key`)
    else
      keys.set(row.keyId, {
        row,
        key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: row.publicKey }, format: 'jwk' }),
      })
  }
  return (domain, { body, signature }, issuedAt) => {
    const known = keys.get(signature?.key_id)
    const value = fromBase64url(signature?.value ?? '', 64)
    if (!known || !value) return false
    const { validFrom, revokedAt } = known.row
    const inWindow = validFrom <= issuedAt && (revokedAt === null || issuedAt < revokedAt)
    return inWindow && verify(null, signedMessage(domain, body), known.key, value)
  }
}

function leafHashOf({ entry }: ReceiptRow): Uint8Array {
  return SHA256_TREE.leaf(Buffer.from(entry))
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
