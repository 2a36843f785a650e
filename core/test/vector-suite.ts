/** Runs the checker with a folder of test vectors. The published ones and our own have the same form. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkConsistency,
  checkEvidence,
  checkReceipt,
  checkTreeHead,
  type EvidenceFinding,
  parseKeySet,
  publishedRules,
} from '@claimcheck/core/checker'
import type { Test } from 'tap'

export interface ListedVector {
  readonly file: string
  readonly rule?: string
  readonly description: string
  readonly pipeline?: string
  readonly expected: { readonly valid: boolean; readonly checks?: Readonly<Record<string, unknown>> }
}

/** A receipt, which is valid, and the file that is given as its evidence. */
export interface ListedEvidence {
  readonly file: string
  readonly evidence: string
  readonly rule: string
  readonly description: string
  readonly expected: EvidenceFinding
}

export interface Manifest {
  readonly keyset: string
  readonly vectors: readonly ListedVector[]
  readonly tree_head_vectors: readonly ListedVector[]
  readonly consistency_vectors: readonly ListedVector[]
  /** As `GET /v1/profiles` answers. */
  readonly profiles?: string
  readonly evidence_vectors?: readonly ListedEvidence[]
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
}

export async function runVectors(t: Test, folder: string): Promise<void> {
  const manifest = readManifest(folder)
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const keys = parseKeySet(read(manifest.keyset))

  for (const { file, pipeline, expected, description } of manifest.vectors) {
    const options = pipeline === undefined ? { keys } : { keys, pipeline: read(pipeline) }
    t.strictSame(await checkReceipt(read(file), options), expected, `${file}: ${description}`)
  }
  for (const { file, expected, description } of manifest.tree_head_vectors) {
    t.strictSame(checkTreeHead(read(file), keys), expected, `${file}: ${description}`)
  }
  for (const { file, expected, description } of manifest.consistency_vectors) {
    t.strictSame(checkConsistency(read(file)), expected, `${file}: ${description}`)
  }
  const published = manifest.profiles === undefined ? undefined : publishedRules(read(manifest.profiles))
  for (const { file, evidence, expected, description } of manifest.evidence_vectors ?? []) {
    t.match(await checkReceipt(read(file), { keys }), { valid: true }, `${file}: evidence makes no receipt invalid`)
    const { body } = JSON.parse(read(file))
    t.strictSame(checkEvidence(body, read(evidence), published), expected, `${evidence}: ${description}`)
  }
}
