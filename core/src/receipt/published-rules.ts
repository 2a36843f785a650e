/** Reads the rules of profiles that a service publishes, to compare the rules in evidence with them. */
import type { ProfileList } from '../api/profile.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { Comparison, Rules, Shown } from '../profile.ts'
import { COMPARATORS } from '../rules/comparators.ts'
import type { PublishedProfile, PublishedRules } from './evidence-checker.ts'
import { rulesIn } from './published-profiles.ts'
import { array, closedObject, either, integer, oneOf, type Shape } from './shape.ts'

type Profile = ProfileList['profiles'][number] | Required<ProfileList>['settings'][number]

/** Creates the finder of published rules. @param profiles the answer of `GET /v1/profiles`; any other text has no rules */
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

/** The rules of a published profile; undefined if it has none of valid form. */
function rulesOf(profile: Profile): PublishedProfile | undefined {
  const { required, rules_version, tolerance_ms, age_ms, removed_within_ms, fresh_ms, never_late } = profile
  const { closing_ms, grace_ms, max_deadline_ms, shows, compared, past, words } = profile
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
    shows: membersOf<Shown>(shows, isShown),
    ...(isJsonObject(compared as JsonValue)
      ? { compared: membersOf<Comparison | 'none'>(compared, isComparison) }
      : {}),
    past: Array.isArray(past) ? past.filter((name) => typeof name === 'string') : [],
    found: membersOf<string>(isJsonObject(words as JsonValue) ? words.found : undefined, isText),
  }
}

/** Selects the members of a form, because a service may publish more, which is not understood. */
function membersOf<T>(value: unknown, shape: Shape): Readonly<Record<string, T>> {
  if (!isJsonObject(value as JsonValue)) return {}
  const members = Object.entries(value as JsonObject).filter(([, member]) => shape(member))
  return Object.fromEntries(members) as Readonly<Record<string, T>>
}

const isText: Shape = (value) => typeof value === 'string'
const whole = integer(Number.MIN_SAFE_INTEGER)
const isPlain: Shape = (value) => isText(value) || whole(value) || typeof value === 'boolean'
const isShown: Shape = either(isPlain, array(isPlain), closedObject({ atLeast: whole }), closedObject({ not: isPlain }))
const told = { tells: oneOf('same', 'other'), default: isPlain }
const isComparison: Shape = either(
  oneOf('none'),
  closedObject({ fact: isText, as: oneOf(...COMPARATORS.filter((one) => one !== 'none')) }, told),
  closedObject({ facts: array(isText), are: isPlain }, told),
)
