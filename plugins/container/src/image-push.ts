/** The verifier of `container.image.push`: it reads the tag, and reports what it is. */
import {
  credential,
  DestinationError,
  defineVerifier,
  type Observation,
  type PreviousRead,
  showsClaimed,
} from '@claimcheck/core/plugin'
import { connectionType, type Options } from './connection.ts'
import { addressOf, imageOf, isCache, typedAddress } from './image.ts'
import { lackingOf, mayBeThere, normalizePlatform } from './platform.ts'
import { type Facts, type Params, platformsFact, profile } from './profile.ts'
import {
  digestLike,
  isImage,
  type Manifest,
  MOST_BYTES,
  onlyImage,
  openRepository,
  type Repository,
  unexpected,
} from './repository.ts'

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
    const { tag, digest } = params
    const manifest = await repository.readTag(tag, (read) => foundDigest(read, digest) === digest)
    const look = { params, repository, previous }
    if (!manifest) return { ...(await absent(look)), ...age }
    const isClaimed = foundDigest(manifest, digest) === digest
    return { ...(isClaimed ? await present(manifest, look) : await another(manifest, look)), ...age }
  },
})

interface Look {
  readonly params: Params
  readonly repository: Repository
  readonly previous: readonly PreviousRead[]
}

type Seen = Observation<Facts>

/**
 * The digest by which a manifest is compared with the claim. An index with one image is built where an attestation goes with an image, and who pulls
 * the tag gets that image: its digest counts, too.
 */
function foundDigest(manifest: Manifest, digest: string): string {
  return onlyImage(manifest)?.digest === digest ? digest : digestLike(digest, manifest)
}

/** Reports that there is no such tag. One that was there a moment ago is taken away and set again, perhaps also as it was claimed. */
async function absent(look: Look): Promise<Seen> {
  await look.repository.requireUnlisted(look.params.tag)
  const wasThere = look.previous.some(({ observation }) => observation.kind === 'present')
  const mayHaveBeen = wasThere || (await isElsewhere(look))
  return { kind: 'absent', facts: {}, ...(mayHaveBeen && { mark: 'may_have_been' }) }
}

/** Reports that the tag is another digest. An attestation in the tag's index is there for the index, and nobody gives it a tag. */
async function another(manifest: Manifest, look: Look): Promise<Seen> {
  const { tag, digest } = look.params
  if (manifest.isOld) throw unexpected()
  const isAttestation = manifest.children?.some((child) => child.digest === digest && !isImage(child))
  const mayHaveBeen = !isAttestation && (await isElsewhere(look))
  const facts = { tag, found_digest: digestLike(digest, manifest) }
  return { kind: 'present', differs: ['digest'], facts, ...(mayHaveBeen && { mark: 'may_have_been' }) }
}

/**
 * Tells whether the repository has the claimed manifest, or had it at an earlier look, without the tag: it may have had the tag until another push took
 * it over, such as that of an index of this image and others, or until somebody deleted the tag.
 */
async function isElsewhere({ params, repository, previous }: Look): Promise<boolean> {
  const wasElsewhere = previous.some(({ observation }) => observation.mark === 'may_have_been')
  return wasElsewhere || (await repository.readManifest(params.digest)) !== undefined
}

/** Reports that the tag is the claimed digest, and its platforms. The digest fixes the content, so no later push gives it another platform. */
async function present(manifest: Manifest, { params, repository, previous }: Look): Promise<Seen> {
  const { tag, digest, platforms } = params
  const own = digestLike(digest, manifest)
  const facts = { tag, found_digest: digest, ...(own !== digest && { index_digest: own }) }
  const isUndated = previous.every(({ observation }) => showsClaimed(observation))
  const dated = { ...facts, ...(isUndated && { undated: true as const }) }
  if (!platforms) return { kind: 'present', differs: [], facts: dated }
  const found = await repository.platformsOf(manifest, platforms)
  const platforms_found = platformsFact(found)
  const lacking = lackingOf(platforms, found)
  if (mayBeThere(lacking, found)) throw unexpected()
  const platforms_missing = lacking.length
  const seen = { platforms_missing, ...(platforms_found !== undefined && { platforms_found }) }
  if (platforms_missing === 0) return { kind: 'present', differs: [], facts: { ...dated, ...seen } }
  if (manifest.isOld) throw unexpected()
  return { kind: 'present', differs: ['platforms'], facts: { ...facts, ...seen }, mark: 'final' }
}
