/** The rules of profiles as a service publishes them, against which the rules in evidence are held. */
import type { ProfileList } from '../api/profile.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Rules } from '../profile.ts'
import type { PublishedProfile, PublishedRules } from './evidence-checker.ts'
import { rulesIn } from './published-profiles.ts'

type Profile = ProfileList['profiles'][number] | Required<ProfileList>['settings'][number]

/** @param profiles the answer of `GET /v1/profiles`; any other text has no rules */
export function publishedRules(profiles: string): PublishedRules {
  const find = rulesIn(profiles)
  return (action, version) => {
    const { profile, settings } = find(action, version)
    const [current, ...others] = [profile, ...settings].flatMap((one) =>
      one ? (rulesOf(one as unknown as Profile) ?? []) : [],
    )
    return current && { ...current, ...(others.length > 0 ? { others } : {}) }
  }
}

/** Undefined where they are no rules. */
function rulesOf(profile: Profile): PublishedProfile | undefined {
  const { required, rules_version, tolerance_ms, age_ms, removed_within_ms, fresh_ms, never_late } = profile
  const { closing_ms, grace_ms, max_deadline_ms, shows, words } = profile
  const lengths = [tolerance_ms, age_ms, removed_within_ms, fresh_ms, closing_ms, grace_ms, max_deadline_ms]
  const isWhole = [rules_version, ...lengths].every(Number.isSafeInteger)
  const roles = isJsonObject(required as JsonValue) ? Object.values(required) : [undefined]
  if (!isWhole || !roles.every((role) => role === 'target' || role === 'content')) return undefined
  return {
    rulesVersion: rules_version,
    required: required as Rules['required'],
    toleranceMs: tolerance_ms,
    ageMs: age_ms,
    removedWithinMs: removed_within_ms,
    freshMs: fresh_ms,
    ...(never_late === true ? { neverLate: true } : {}),
    maxDeadlineMs: max_deadline_ms,
    closing: { closingMs: closing_ms, graceMs: grace_ms },
    ...(isPlain(shows) ? { shows: shows as Required<PublishedProfile>['shows'] } : {}),
    ...(isPlain(words?.found) ? { found: words.found } : {}),
  }
}

function isPlain(value: unknown): value is JsonObject {
  return isJsonObject(value as JsonValue)
}
