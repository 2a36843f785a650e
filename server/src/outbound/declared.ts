/** What of a plugin's manifest allows a check to read where it reads. */
import * as core from '@claimcheck/core/hosting'
import type { Manifest } from '@claimcheck/core/plugin'
import { LRUCache } from 'lru-cache'

export type { Grant } from '@claimcheck/core/hosting'

/** What a plugin may reach, by its manifest. It never changes. */
export interface Reach extends Pick<Manifest, 'hosts' | 'methods' | 'sockets'> {
  /** It starts programs, which send requests of their own with the credentials that it reveals to them. */
  readonly mayReveal: boolean
}

type Asked = Parameters<typeof core.grantOf>[1]

/** By what was asked: most claims are read where others were. */
type Grants = LRUCache<string, { readonly grant: core.Grant | undefined }>

const grants = new WeakMap<Reach, Grants>()
const MOST_CACHED = 1000
/** Of an origin: a client may choose it. */
const LONGEST_CACHED = 200

function grantsOf(reach: Reach): Grants {
  const known = grants.get(reach)
  if (known) return known
  const created: Grants = new LRUCache({ max: MOST_CACHED })
  grants.set(reach, created)
  return created
}

/** As core's. */
export function grantOf(reach: Reach, asked: Asked): core.Grant | undefined {
  const { origin, throughConnection, hasSecrets } = asked
  if (origin.length > LONGEST_CACHED) return core.grantOf(reach, asked)
  const known = grantsOf(reach)
  const name = `${throughConnection} ${hasSecrets} ${origin}`
  const found = known.get(name)
  if (found) return found.grant
  const grant = core.grantOf(reach, asked)
  known.set(name, { grant })
  return grant
}
