/** The verifier of `container.image.push`: it reads the tag, and reports what it is. */
import { credential, DestinationError, defineVerifier, type Observation } from '@claimcheck/core/plugin'
import { connectionType, type Options } from './connection.ts'
import { addressOf, imageOf, isCache, typedAddress } from './image.ts'
import { normalizePlatform } from './platform.ts'
import { type Facts, type Params, platformsFact, profile } from './profile.ts'
import { digestLike, type Manifest, MOST_BYTES, onlyImage, openRepository, unexpected } from './repository.ts'

/** Time by which registries with several machines lag. Milliseconds. */
const LAG_MS = 10_000

export const imagePush = defineVerifier({
  profile,
  providers: [connectionType.provider],
  limits: { requests: 64, bodyBytes: MOST_BYTES, timeMs: 30_000 },
  normalize({ target, params: { platforms, ...params } }) {
    const { host, name } = imageOf(target)
    const all = platforms && [...new Set(platforms.map(normalizePlatform))].sort()
    return {
      target: `${host}/${name}`,
      params: { ...params, digest: params.digest.toLowerCase(), ...(all && { platforms: all }) },
    }
  },
  anonymousSource({ target }) {
    return { provider: connectionType.provider, baseUrl: addressOf(imageOf(target).host) }
  },
  async check({ target, params, claimedAt }, { connection, previous, now, ...context }): Promise<Observation<Facts>> {
    const image = imageOf(target)
    // A cache shows what another registry has, and fetches it as it is asked: it says nothing of a push.
    if (isCache(image)) throw new DestinationError('unsupported_target')
    // The look just after the submission gets no lag, because it alone shows that the tag was not so yet.
    const age = now() >= claimedAt + profile.toleranceMs ? { ageMs: LAG_MS } : {}
    const url = connection ? typedAddress((connection.options as Options).base_url) : addressOf(image.host)
    const repository = openRepository({ url, name: image.name, auth: credential('registry') }, { ...context, now })
    const manifest = await repository.readManifest(params.tag)
    if (!manifest) {
      await repository.requireUnlisted(params.tag)
      // A tag that was there a moment ago is taken away and set again by somebody, perhaps also as it was claimed.
      const isFleeting = previous.some(({ observation }) => observation.kind === 'present')
      return { kind: 'absent', facts: {}, ...age, ...(isFleeting && { mark: 'may_have_been' }) }
    }
    const { digest, platforms } = params
    const facts = digestFacts(manifest, params)
    if (facts.found_digest !== digest) {
      if (manifest.isOld) throw unexpected()
      // A manifest that is there beside the tag's may have had the tag, before another push took it over. A child of the index explains itself.
      const isChild = manifest.children?.some((child) => child.digest === digest)
      const mayHaveBeen = !isChild && (await repository.readManifest(digest)) !== undefined
      return { kind: 'present', differs: ['digest'], facts, ...age, ...(mayHaveBeen && { mark: 'may_have_been' }) }
    }
    const found = platforms && (await repository.platformsOf(manifest, platforms))
    const all = { ...facts, ...platformFacts(platforms, found) }
    if (all.platforms_missing) {
      if (manifest.isOld) throw unexpected()
      // The digest fixes the content, so no later push gives it a platform.
      return { kind: 'present', differs: ['platforms'], facts: all, ...age, mark: 'final' }
    }
    const isUndated = previous.every(
      ({ observation }) => observation.kind === 'present' && observation.differs.length === 0,
    )
    return { kind: 'present', differs: [], facts: { ...all, ...(isUndated && { undated: true }) }, ...age }
  },
})

/** Compares the platforms of a manifest with those that are claimed; without any, there are no such facts. */
function platformFacts(
  claimed: readonly string[] = [],
  found: readonly string[] | undefined,
): Pick<Facts, 'platforms_missing' | 'platforms_found'> {
  if (!found) return {}
  const missing = claimed.filter((one) => !found.includes(one))
  const platforms_found = platformsFact(found)
  return { platforms_missing: missing.length, ...(platforms_found && { platforms_found }) }
}

/**
 * Compares a manifest with the claimed digest. An index with one image is built where an attestation goes with an image, and who pulls the tag
 * gets that image: its digest counts, and the facts name both.
 */
function digestFacts(manifest: Manifest, { tag, digest }: Params): Facts {
  const own = digestLike(digest, manifest.bytes)
  return own !== digest && onlyImage(manifest)?.digest === digest
    ? { tag, found_digest: digest, index_digest: own }
    : { tag, found_digest: own }
}
