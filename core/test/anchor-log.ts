/** A log of any size with one real receipt in it, and its documents. */
import { readFileSync } from 'node:fs'
import {
  entryText,
  fromBase64url,
  type ProofAnchor,
  parseKeySet,
  type Receipt,
  toBase64url,
} from '@claimcheck/core/receipts'
import { hasher, naiveTree } from './naive-tree.ts'

const read = (file: string) => JSON.parse(readFileSync(`test/vectors/${file}`, 'utf8'))
const { body, signature, proof }: Receipt = read('valid-included-middle-leaf.json')

export const LEAF_INDEX = 3
export const LOG_ID = fromBase64url(proof!.log_id)!

const tree = naiveTree(new Map([[LEAF_INDEX, hasher.leaf(Buffer.from(entryText({ body, signature })))]]))

export const rootAt = tree.root

export function proofAt(treeSize: number) {
  return {
    log_id: toBase64url(LOG_ID),
    leaf_index: LEAF_INDEX,
    tree_size: treeSize,
    root_hash: toBase64url(rootAt(treeSize)),
    inclusion: tree.path(LEAF_INDEX, treeSize).map(toBase64url),
  }
}

export function receiptAt(treeSize: number, anchor: ProofAnchor): string {
  return JSON.stringify({ body, signature, proof: { ...proofAt(treeSize), anchor } })
}

export function consistencyDocument(first: number, second: number): string {
  return JSON.stringify({
    log_id: toBase64url(LOG_ID),
    first,
    first_root: toBase64url(rootAt(first)),
    second,
    second_root: toBase64url(rootAt(second)),
    proof: tree.proof(first, second).map(toBase64url),
  })
}

export function keyDocument(attesters: readonly string[], schemas: readonly string[]): string {
  return JSON.stringify({ ...read('keys.json'), anchor_addresses: attesters, anchor_schemas: schemas })
}

export function keySet(attesters: readonly string[], schemas: readonly string[]) {
  return parseKeySet(keyDocument(attesters, schemas))
}
