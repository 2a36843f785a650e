/** Whether the verdict of a receipt follows from its evidence, as the options of `verify` ask for it. */
import {
  checkEvidence,
  type EvidenceFinding,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PublishedRules,
  type Receipt,
  type Rules,
} from '@claimcheck/core'
import type * as wire from '@claimcheck/core/api'
import { CommandError } from '../errors.ts'
import { isUrl, readSource } from './source.ts'

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
 * @param issuer any URL of the issuer's host, which publishes its rules
 * @throws CommandError `could_not_check` when named evidence cannot be read
 */
export async function evidenceCheck(
  { body }: Receipt,
  { evidence: named }: EvidenceOptions,
  source: string,
  issuer: string | undefined,
): Promise<CheckedEvidence | undefined> {
  const isNamed = named !== undefined
  if (body.observation.evidence_digest === undefined && !isNamed) return undefined
  const place = named ?? evidenceBeside(source)
  if (place === undefined) return { finding: { evidence: 'not_checked' }, isNamed }
  const read = isNamed ? { text: await readSource(place) } : await tryReading(place)
  if (read.text === undefined) return { finding: { evidence: 'not_checked' }, isNamed, problem: read.problem }
  const finding = checkEvidence(body as unknown as JsonObject, read.text, await publishedRules(issuer))
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

type Read = { readonly text: string } | { readonly text?: never; readonly problem: string }

async function tryReading(place: string): Promise<Read> {
  try {
    return { text: await readSource(place) }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { problem: error.message.replace(/\.$/, '') }
  }
}

/** None where they cannot be read: they only add to what the evidence shows. */
async function publishedRules(issuer: string | undefined): Promise<PublishedRules> {
  const read = issuer === undefined ? undefined : await tryReading(new URL('/v1/profiles', issuer).href)
  const profiles = profilesIn(read?.text)
  return (action, version) => {
    const profile = profiles.find((one) => one.action === action && one.version === version)
    return profile && rulesOf(profile)
  }
}

type Profile = wire.ProfileList['profiles'][number]

function profilesIn(text: string | undefined): readonly Profile[] {
  try {
    const list = JSON.parse(text ?? '') as JsonValue
    return isJsonObject(list) && Array.isArray(list.profiles)
      ? (list.profiles.filter(isJsonObject) as unknown as Profile[])
      : []
  } catch {
    return []
  }
}

/** Undefined where they are no rules. */
function rulesOf({ required, tolerance_ms, age_ms, removed_within_ms, rules_version }: Profile): Rules | undefined {
  const isWhole = [tolerance_ms, age_ms, removed_within_ms, rules_version].every(Number.isSafeInteger)
  const roles = isJsonObject(required as JsonValue) ? Object.values(required) : [undefined]
  if (!isWhole || !roles.every((role) => role === 'target' || role === 'content')) return undefined
  return {
    rulesVersion: rules_version as Rules['rulesVersion'],
    required: required as Rules['required'],
    toleranceMs: tolerance_ms,
    ageMs: age_ms,
    removedWithinMs: removed_within_ms,
  }
}
