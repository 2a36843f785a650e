/** The published rules of every loaded profile, against which anyone compares the rules in the evidence of a receipt. */

import { ProfileList } from '@claimcheck/core/api'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { canonicalize } from '@claimcheck/core/receipts'
import { type Closing, FRESH_MS, formatInstant, type JsonObject, type JsonValue } from '@claimcheck/core/rules'
import { defined } from '../../base/pick.ts'
import { sha256Text } from '../../base/sha256.ts'
import type { App } from '../../http/instance.ts'
import { errors } from '../../http/route.ts'
import type { ProfileSettingsRow } from '../../storage/profile-settings.ts'

type PublishedProfile = ProfileList['profiles'][number]
type PublishedSettings = Required<ProfileList>['settings'][number]

/** The settings of a profile on which a verdict depends, in their published form. */
type Deciding = Omit<PublishedSettings, 'action' | 'version' | 'closing_ms' | 'grace_ms' | 'since'>

export function profileRoutes(app: App, published: () => Promise<ProfileList>): void {
  app.get('/v1/profiles', {
    schema: {
      operationId: 'listProfiles',
      tags: ['Receipts'],
      summary: 'List the rules by which claims are judged',
      description: 'In every version that is loaded, and in `settings` also those by which claims were judged earlier.',
      response: { 200: ProfileList, ...errors(429, 503) },
    },
    handler: async () => published(),
  })
}

/**
 * Makes the published list.
 * @param isForeign tells whether the words of a profile are those of strangers
 */
export function profileList(
  profiles: readonly ActionProfile[],
  closing: Closing,
  settings: readonly ProfileSettingsRow[] = [],
  isForeign: (profile: ActionProfile) => boolean = () => false,
): ProfileList {
  return {
    profiles: profiles.map((profile) => toWire(profile, closing, isForeign(profile))),
    settings: settings.map(toWireSettings),
  }
}

/** Picks the settings that decide in a profile, without the sentences and the forms of claims: any change of them needs a new version. */
export function decidingIn(profile: ActionProfile): Deciding {
  const { found } = profile.words
  return {
    rules_version: profile.rulesVersion,
    required: profile.required,
    tolerance_ms: profile.toleranceMs,
    max_deadline_ms: profile.maxDeadlineMs,
    age_ms: profile.ageMs ?? 0,
    removed_within_ms: profile.removedWithinMs ?? 0,
    fresh_ms: profile.freshMs ?? FRESH_MS,
    ...(profile.neverLate ? { never_late: true as const } : {}),
    ...(profile.shows ? { shows: profile.shows as JsonObject } : {}),
    ...(profile.compared ? { compared: profile.compared as JsonObject } : {}),
    ...(profile.past ? { past: [...profile.past] } : {}),
    words: defined({ found }),
  }
}

const digests = new WeakMap<ActionProfile, string>()

/** Computes the digest of a profile's deciding settings, which each of its claims keeps. */
export function profileDigest(profile: ActionProfile): string {
  const known = digests.get(profile)
  if (known !== undefined) return known
  const digest = sha256Text(canonicalize(decidingIn(profile) as JsonObject))
  digests.set(profile, digest)
  return digest
}

function toWire(profile: ActionProfile, { closingMs, graceMs }: Closing, isForeign: boolean): PublishedProfile {
  return {
    action: profile.action,
    version: profile.version,
    summary: profile.summary,
    deadline_ms: profile.deadlineMs,
    ...decidingIn(profile),
    closing_ms: closingMs,
    grace_ms: graceMs,
    words: profile.words as PublishedProfile['words'],
    ...(isForeign ? { plugin_says: true as const } : {}),
    titles: { params: titlesIn(profile.params), facts: titlesIn(profile.facts) },
  }
}

function toWireSettings({
  action,
  version,
  deciding,
  closingMs,
  graceMs,
  since,
}: ProfileSettingsRow): PublishedSettings {
  return {
    action,
    version,
    ...(deciding as unknown as Deciding),
    closing_ms: closingMs,
    grace_ms: graceMs,
    since: formatInstant(since),
  }
}

function titlesIn(schema: object): Record<string, string> {
  const { properties = {} } = schema as {
    readonly properties?: Readonly<Record<string, { readonly title?: JsonValue }>>
  }
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { title }]) => (typeof title === 'string' ? [[name, title]] : [])),
  )
}
