/** Reads targets, `kubernetes:CLUSTER/NAMESPACE/KIND/NAME` and `vercel:SCOPE/PROJECT`, and refuses claims whose params are of another platform. */
import { type Claim, DestinationError } from '@claimcheck/core/plugin'
import type { Params } from './profile.ts'

/** The platform and the segments of a target. */
export function placeOf(target: string): { readonly platform: string; readonly segments: readonly string[] } {
  const [platform = '', path = ''] = target.split(/:(.*)/s)
  return { platform, segments: path.split('/') }
}

/** Writes digests, commits and domains in lower case. */
export function normalize({ target, params }: { target: string; params: Params }) {
  const { image_digest, commit, domain } = params
  return {
    target,
    params: {
      ...params,
      ...(image_digest !== undefined && { image_digest: image_digest.toLowerCase() }),
      ...(commit !== undefined && { commit: commit.toLowerCase() }),
      ...(domain !== undefined && { domain: domain.toLowerCase() }),
    },
  }
}

const OWN_PARAMS: Readonly<Record<string, readonly string[]>> = {
  kubernetes: ['image_digest', 'container'],
  vercel: ['deployment', 'commit', 'domain'],
}

/** Refuses a claim with a param of another platform, or without one that says what is live. @throws DestinationError `unsupported_target` */
export function requireOwnParams({ target, params }: Pick<Claim<Params>, 'target' | 'params'>): void {
  const { platform } = placeOf(target)
  const own = OWN_PARAMS[platform] ?? []
  const alien = Object.keys(params).find((name) => !own.includes(name))
  if (alien !== undefined) throw new DestinationError('unsupported_target', { param: alien })
  const isNamed = params.image_digest ?? params.deployment ?? params.commit
  if (isNamed !== undefined) return
  throw new DestinationError('unsupported_target', { param: platform === 'vercel' ? 'deployment' : 'image_digest' })
}
