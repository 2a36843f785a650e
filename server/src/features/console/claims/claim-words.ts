/** Writes a claim in one line of a list: claims that say different things must look different. */

import type { ActionProfile } from '@claimcheck/core/plugin'
import { claimSentence } from '@claimcheck/core/receipts'
import { visible } from '@claimcheck/core/words/plain-text'
import { written } from '../../../base/schema-properties.ts'
import type { Registry } from '../../../plugins/registry.ts'
import { clipped, withShortHash } from '../../../web/receipt-view/headline.ts'
import type { ListedClaim } from '../../claims/claims.ts'

export type ProfileOf = (action: string, version: string) => ActionProfile | undefined

export function profilesOf({ verifierFor }: Pick<Registry, 'verifierFor'>): ProfileOf {
  return (action, version) => (verifierFor(action, version) ?? verifierFor(action))?.verifier.profile
}

type Said = Pick<ListedClaim, 'action' | 'target' | 'params' | 'profileAction' | 'profileVersion' | 'erasure'>

const LONGEST_PARAMS = 121

/** Words a claim by the profile that judges it; where none is loaded, by its action, target and params as they are. */
export function claimWords(profileOf: ProfileOf, claim: Said): string {
  if (claim.erasure) return 'Erased'
  const profile = profileOf(claim.profileAction, claim.profileVersion)
  if (profile) return visible(claimSentence(profile, claim))
  const params = Object.entries(claim.params).map(([name, value]) => `${name} ${withShortHash(written(value))}`)
  const more = params.length === 0 ? '' : ` (${clipped(params.join(', '), LONGEST_PARAMS)})`
  return visible(`${claim.action}: ${claim.target}${more}`)
}
