/** Whether the verdict of a receipt follows from its evidence, as the options of `verify` ask for it. */
import {
  checkEvidence,
  type EvidenceFinding,
  type JsonObject,
  type PublishedRules,
  type Receipt,
} from '@claimcheck/core'
import { CommandError } from '../errors.ts'
import { isUrl, readSource, tryReading } from './source.ts'

export interface EvidenceOptions {
  readonly evidence?: string
}

export interface CheckedEvidence {
  readonly finding: EvidenceFinding
  /** The evidence was named with `--evidence`, so that it decides the exit code. */
  readonly isNamed: boolean
  /** Why there is no evidence to check. */
  readonly problem?: string
}

/**
 * Undefined for a receipt that signs no evidence, where none was named.
 * @param rules that the issuer publishes
 * @throws CommandError `could_not_check` when named evidence cannot be read
 */
export async function evidenceCheck(
  { body }: Receipt,
  { evidence: named }: EvidenceOptions,
  source: string,
  rules: PublishedRules,
): Promise<CheckedEvidence | undefined> {
  const isNamed = named !== undefined
  if (body.observation.evidence_digest === undefined && !isNamed) return undefined
  const place = named ?? evidenceBeside(source)
  if (place === undefined) return { finding: { evidence: 'not_checked' }, isNamed }
  const read = isNamed ? { text: await readSource(place) } : await tryReading(place)
  if (read.text === undefined) return { finding: { evidence: 'not_checked' }, isNamed, problem: read.problem }
  const finding = checkEvidence(body as unknown as JsonObject, read.text, rules)
  if (finding.evidence !== 'not_checked') return { finding, isNamed }
  const problem = `${place} is of rules that this version of claimcheck does not know`
  if (isNamed) throw new CommandError('could_not_check', `${problem}.`)
  return { finding, isNamed, problem }
}

/** Undefined where the source is not the address at which a Claimcheck publishes a receipt. */
function evidenceBeside(source: string): string | undefined {
  if (!isUrl(source)) return undefined
  const { origin, pathname } = new URL(source)
  const path = pathname.replace(/\/+$/, '')
  return /\/v1\/receipts\/[^/]+$/.test(path) ? `${origin}${path}/evidence` : undefined
}
