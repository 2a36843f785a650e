/** The published rules of every loaded profile, against which anyone holds the rules in the evidence of a receipt. */

import { ProfileList } from '@claimcheck/core/api'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { type Closing, FRESH_MS, type JsonValue } from '@claimcheck/core/rules'
import type { App } from '../../http/instance.ts'
import { errors } from '../../http/route.ts'

export function profileRoutes(app: App, list: ProfileList): void {
  app.get('/v1/profiles', {
    schema: {
      operationId: 'listProfiles',
      tags: ['Receipts'],
      summary: 'List the rules by which claims are judged',
      description: 'In every version that is loaded.',
      response: { 200: ProfileList, ...errors(429, 503) },
    },
    handler: async () => list,
  })
}

export function profileList(profiles: readonly ActionProfile[], closing: Closing): ProfileList {
  return { profiles: profiles.map((profile) => toWire(profile, closing)) }
}

function toWire(profile: ActionProfile, { closingMs, graceMs }: Closing): ProfileList['profiles'][number] {
  return {
    action: profile.action,
    version: profile.version,
    rules_version: profile.rulesVersion,
    summary: profile.summary,
    required: profile.required,
    tolerance_ms: profile.toleranceMs,
    deadline_ms: profile.deadlineMs,
    max_deadline_ms: profile.maxDeadlineMs,
    age_ms: profile.ageMs ?? 0,
    removed_within_ms: profile.removedWithinMs ?? 0,
    fresh_ms: profile.freshMs ?? FRESH_MS,
    ...(profile.neverLate ? { never_late: true as const } : {}),
    closing_ms: closingMs,
    grace_ms: graceMs,
    ...(profile.shows ? { shows: profile.shows } : {}),
    words: profile.words as ProfileList['profiles'][number]['words'],
    titles: { params: titlesIn(profile.params), facts: titlesIn(profile.facts) },
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
