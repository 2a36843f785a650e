/** A row of the trap table: what happens at a registry, what is claimed of it, and the verdict that is right. */
import type { TrapRow } from '../../../../test/traps/verifier-table.ts'
import { image, index } from './images.ts'
import type { RegistryScript } from './oci-registry.ts'
import { DAY, Repository } from './repository.ts'

export interface Scene extends Omit<RegistryScript, 'kind'> {
  readonly kind?: RegistryScript['kind']
  /** The image; the repository at `registry.example.com`, when left out. */
  readonly target?: string
  /** The options of the connection, which may name the issuer as `ISSUER`; none, when left out. */
  readonly connection?: Readonly<Record<string, string>>
  readonly params: { readonly tag: string; readonly digest: string; readonly platforms?: readonly string[] }
  /** When the agent says that it did it; 20 s after the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  /** When the host looks first, where that is later. */
  readonly idleMs?: number
  /** What the facts of the deciding check must have; `undefined`: must not. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export type Row = TrapRow<Scene>

export const NAME = 'acme/api'
export const TAG = '1.4.0'

/** What the agent builds. */
export const BUILT = image('release 1.4.0')
export const ARM = image('release 1.4.0 for arm64', 'linux/arm64/v8')
export const ARM_7 = image('release 1.4.0 for arm', 'linux/arm/v7')
export const DOCKER_BUILT = image('release 1.4.0', 'linux/amd64', true)
/** What the tag was before, or what somebody else builds. */
export const OTHER = image('release 1.3.9')
export const MULTI = index([BUILT, ARM, ARM_7], true)
/** The index that BuildKit makes of one image, because of its attestation. */
export const ATTESTED = index([BUILT], true)

/** A repository that has lived: it has tags of earlier releases, and nothing of the claimed one. */
export function lived(name = NAME): Repository {
  const repository = new Repository(name)
  for (const patch of [7, 8, 9]) repository.push(-patch * DAY, image(`release 1.3.${patch}`), `1.3.${patch}`)
  return repository.retag(-7 * DAY, 'latest', OTHER.digest)
}
