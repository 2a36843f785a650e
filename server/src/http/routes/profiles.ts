/** The published rules of every loaded profile, against which anyone holds the rules in the evidence of a receipt. */
import type { ActionProfile } from '@claimcheck/core'
import { ProfileList } from '@claimcheck/core/api'
import type { App } from '../instance.ts'
import { errors } from '../route.ts'

export function profileRoutes(app: App, profiles: readonly ActionProfile[]): void {
  const list = { profiles: profiles.map(toWire) }
  app.get('/v1/profiles', {
    schema: {
      operationId: 'listProfiles',
      tags: ['Receipts'],
      summary: 'The rules by which claims are judged, in every version that is loaded',
      response: { 200: ProfileList, ...errors(429, 503) },
    },
    handler: async () => list,
  })
}

function toWire(profile: ActionProfile): ProfileList['profiles'][number] {
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
  }
}
