/** What a claim says, in one line of a list: claims that say different things must look different. */
import { type ActionProfile, claimSentence } from '@claimcheck/core/plugin'
import { visible } from '@claimcheck/core/words/plain-text'
import type { Registry } from '../../../plugins/registry.ts'
import type { ListedClaim } from '../../claims/claims.ts'

export type ProfileOf = (action: string, version: string) => ActionProfile | undefined

export function profilesOf({ verifierFor }: Pick<Registry, 'verifierFor'>): ProfileOf {
  return (action, version) => (verifierFor(action, version) ?? verifierFor(action))?.verifier.profile
}

type Said = Pick<ListedClaim, 'action' | 'target' | 'params' | 'profileAction' | 'profileVersion' | 'erasure'>

const LONGEST_PARAMS = 120

/** By the profile that judges it; where none is loaded, the action, the target and the params as they are. */
export function claimWords(profileOf: ProfileOf, claim: Said): string {
  if (claim.erasure) return 'Erased'
  const profile = profileOf(claim.profileAction, claim.profileVersion)
  if (profile) return visible(claimSentence(profile, claim))
  const params = Object.entries(claim.params).map(([name, value]) => `${name} ${withoutTail(plain(value))}`)
  const more = params.length === 0 ? '' : ` (${clipped(params.join(', '))})`
  return visible(`${claim.action}: ${claim.target}${more}`)
}

const SHORT_HASH = 12

/** The length of a shortened hash, as in the sentences of profiles. */
function withoutTail(text: string): string {
  return /^[0-9a-f]{40,}$/i.test(text) ? text.slice(0, SHORT_HASH) : text
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function clipped(text: string): string {
  const characters = [...text]
  return characters.length > LONGEST_PARAMS ? `${characters.slice(0, LONGEST_PARAMS).join('')}…` : text
}
