/** What of a plugin's manifest allows a check to read where it reads. */

import type { Grant, Manifest } from '@claimcheck/core'
import * as core from '@claimcheck/core'
import { LRUCache } from 'lru-cache'

export type { Grant } from '@claimcheck/core'

/** What a plugin may reach, by its manifest. It never changes. */
export interface Reach extends Pick<Manifest, 'hosts' | 'methods' | 'sockets'> {
  /** It starts programs, which send requests of their own with the credentials that it reveals to them. */
  readonly mayReveal: boolean
}

type Asked = Parameters<typeof core.grantOf>[1]

/** Of a manifest, by what was asked: most claims are read where others were. */
const grants = new WeakMap<Reach, LRUCache<string, { readonly grant: Grant | undefined }>>()
const MOST_CACHED = 1000
/** Of an origin: a client may choose it. */
const LONGEST_CACHED = 200

/** As core's. */
export function grantOf(reach: Reach, asked: Asked): Grant | undefined {
  const { origin, throughConnection, hasSecrets } = asked
  if (origin.length > LONGEST_CACHED) return core.grantOf(reach, asked)
  const name = `${throughConnection} ${hasSecrets} ${origin}`
  const ofReach = grants.get(reach) ?? new LRUCache({ max: MOST_CACHED })
  const known = ofReach.get(name) ?? { grant: core.grantOf(reach, asked) }
  ofReach.set(name, known)
  grants.set(reach, ofReach)
  return known.grant
}
