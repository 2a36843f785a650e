/** Claims that are false, or of which nothing can tell, with what a careless reader of a registry would make of them. */

import { type Kind, row } from '../../../../test/traps/verifier-table.ts'
import { artifact, image, imageAndIndex, index, signedSchema1 } from './images.ts'
import { type Answer, type Asked, error, type KindName } from './oci-registry.ts'
import { DAY, HOUR, MINUTE, Repository, SECOND } from './repository.ts'
import { ARM, ATTESTED, BUILT, lived, MULTI, NAME, OTHER, type Row, type Scene, TAG } from './row.ts'

const FAILED: Kind = ['never', 'failed']
const OTHER_CONTENT: Kind = ['other', 'mismatch']
const LATE: Kind = ['late', 'late']
const NEVER_TOLD: Kind = ['never', 'unverifiable']
const IN_TIME_UNTOLD: Kind = ['in time', 'unverifiable']
const UNKNOWABLE: Kind = ['unknowable', 'unverifiable']

const trap = row<Scene>

const CLAIM = { tag: TAG, digest: BUILT.digest }
const AT_ONCE = { claimedMs: 2 * SECOND }

const pushed = (what = BUILT, at = 0) => lived().push(at, what, TAG)

const HOSTS: Readonly<Record<KindName, string>> = {
  'docker-registry': 'registry.example.com',
  'Docker Hub': 'docker.io',
  GHCR: 'ghcr.io',
  GitLab: 'registry.gitlab.com',
  Quay: 'quay.io',
  Harbor: 'harbor.example.com',
  ECR: '123456789012.dkr.ecr.eu-central-1.amazonaws.com',
}

/** A public repository at a registry of a kind; at ECR nobody reads without credentials. */
function at(kind: KindName, readers?: readonly string[]): Omit<Scene, 'params' | 'repository'> {
  const own = { kind, target: `${HOSTS[kind]}/${NAME}`, ...(readers && { readers }) }
  if (kind !== 'ECR') return own
  const [username, password] = ['AWS', 'twelve-hours']
  const connection = { base_url: `https://${HOSTS[kind]}`, username, password }
  return { ...own, accounts: { [username]: password }, connection }
}

/** Credentials that the registry takes, and that may not see the repository. */
function weaker(kind: KindName): Omit<Scene, 'params' | 'repository'> {
  const [username, password] = ['somebody', 'read-only-secret']
  const base_url = kind === 'Docker Hub' ? 'https://registry-1.docker.io' : `https://${HOSTS[kind]}`
  return { ...at(kind, ['acme']), accounts: { [username]: password }, connection: { base_url, username, password } }
}

/** Has so many tags before the claimed one, in the order of lists. */
function withTags(repository: Repository, count: number): Repository {
  for (let build = 0; build < count; build++) {
    repository.retag(-DAY, `0.0.${String(build).padStart(5, '0')}`, OTHER.digest)
  }
  return repository
}

const only =
  (place: string, answer: Answer) =>
  (asked: Asked): Answer | undefined =>
    asked.place === place ? answer : undefined

const LOGIN_PAGE: Answer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html><form>Sign in</form>' }
const TOO_MANY = error(429, 'TOOMANYREQUESTS', 'You have reached your unauthenticated pull rate limit.')
const BOTH = imageAndIndex(OTHER, index([BUILT]))
const SIGNED = signedSchema1(TAG)
const ARTIFACT = artifact('bill of materials')

export const FALSE: readonly Row[] = [
  // GHCR answers as Docker Hub, and the rows after these are at Quay and at GitLab.
  ...(['docker-registry', 'Docker Hub', 'Harbor', 'ECR'] as const).map((kind) =>
    trap(FAILED, `never pushed: ${kind}`, 'the repository is read, and has no such tag', () => ({
      ...at(kind),
      repository: lived(),
      params: CLAIM,
      ...AT_ONCE,
    })),
  ),
  trap(FAILED, 'never pushed to a repository of 60 tags at Quay', 'all pages are read', () => ({
    ...at('Quay'),
    repository: withTags(lived(), 60),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(FAILED, 'never pushed to a repository without tags', 'GitLab lists none as null', () => ({
    ...at('GitLab'),
    repository: new Repository(NAME),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(FAILED, 'pushed after the deadline', 'it was not there by the deadline', () => ({
    repository: pushed(BUILT, 35 * MINUTE),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(NEVER_TOLD, 'never pushed, to a name that is not there', 'the registry says the same of a hidden one', () => ({
    repository: lived('acme/web'),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(NEVER_TOLD, 'never pushed, and the issuer of tokens fails', 'for five minutes nothing was read', () => ({
    ...at('GHCR'),
    repository: lived(),
    tokenSeconds: 60,
    instead: ({ place, at }) => {
      const isDown = 3 * MINUTE < at && at < 8 * MINUTE
      return isDown && place === 'token' ? { status: 503, body: 'upstream connect error' } : undefined
    },
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(
    ['never', 'unverifiable', 'failed'],
    'pushed to another tag',
    'the manifest is there, so the tag may have been there, too, until somebody deleted it',
    () => ({ repository: lived().push(0, BUILT, '1.4.0-rc.1'), params: CLAIM, ...AT_ONCE }),
  ),
  trap(IN_TIME_UNTOLD, 'deleted within seconds', 'the manifest is there without the tag', () => ({
    repository: pushed().untag(SECOND, TAG),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(OTHER_CONTENT, 'other content under the tag', 'the registry has no such digest', () => ({
    repository: pushed(image('another build')),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(OTHER_CONTENT, 'a tag that was not moved', 'it is the image of last week', () => ({
    repository: lived(),
    params: { ...CLAIM, tag: 'latest' },
    ...AT_ONCE,
  })),
  trap(
    ['other', 'unverifiable', 'mismatch'],
    "a child's digest for an index of several",
    'somebody may have put the index over the image that the claim names',
    () => ({ repository: pushed(MULTI), params: CLAIM, ...AT_ONCE }),
  ),
  trap(IN_TIME_UNTOLD, 'an image that CI replaces by an index of it, within seconds', 'it was the tag before', () => ({
    repository: pushed().push(1500, MULTI, TAG),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(['other', 'mismatch', 'unverifiable'], "an attestation's digest", 'it is no image', () => ({
    repository: pushed(ATTESTED),
    params: { tag: TAG, digest: ATTESTED.children[1]!.digest },
    ...AT_ONCE,
  })),
  trap(OTHER_CONTENT, 'a platform is missing', 'the digest fixes the content, so nothing later can add it', () => ({
    repository: pushed(MULTI),
    params: { tag: TAG, digest: MULTI.digest, platforms: ['linux/amd64', 'linux/ppc64le'] },
  })),
  trap(OTHER_CONTENT, 'a platform that is there only as an attestation', 'unknown/unknown is no platform', () => ({
    ...at('GHCR'),
    repository: pushed(ATTESTED),
    params: { tag: TAG, digest: ATTESTED.digest, platforms: ['linux/amd64', 'unknown/unknown'] },
  })),
  trap(OTHER_CONTENT, 'another variant of a platform', 'arm/v7 does not run on arm/v6', () => ({
    repository: pushed(MULTI),
    params: { tag: TAG, digest: MULTI.digest, platforms: ['linux/arm/v6'] },
  })),
  trap(OTHER_CONTENT, 'another platform of a single image', 'its configuration tells', () => ({
    repository: pushed(),
    params: { ...CLAIM, platforms: ['linux/arm64'] },
  })),
  trap(
    ['in time', 'verified'],
    'an image months old, claimed as new',
    'it says what the tag is, and not since when',
    () => ({
      repository: pushed(BUILT, -120 * DAY),
      params: CLAIM,
      ...AT_ONCE,
      facts: { undated: true },
    }),
  ),
  trap(
    ['in time', 'verified', 'unverifiable'],
    'a pull-through cache that fetches at our read',
    'the tag is so at the cache, and nothing in its answers tells it from a registry',
    () => {
      const cache = new Repository(NAME)
      return {
        repository: cache,
        instead: ({ at, place, reference }) => {
          if (place === 'manifests' && reference === TAG && cache.tagged(TAG, at) === undefined)
            cache.push(at, BUILT, TAG)
          return undefined
        },
        params: CLAIM,
        ...AT_ONCE,
        facts: { undated: true },
      }
    },
  ),
  trap(
    ['late', 'unverifiable', 'late'],
    'a pull-through cache whose copy of the tag is old for twenty minutes',
    'it has the claimed digest when asked for it',
    () => {
      const cache = lived()
        .push(-DAY, OTHER, TAG)
        .retag(20 * MINUTE, TAG, BUILT.digest)
      return { repository: cache.push(0, BUILT), params: CLAIM, ...AT_ONCE }
    },
  ),
  trap(IN_TIME_UNTOLD, 'moved on by somebody within seconds', 'the claimed one is there without a tag', () => ({
    repository: pushed().push(SECOND, image('hotfix'), TAG),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(IN_TIME_UNTOLD, 'moved on after a minute', 'the claimed one is there without a tag', () => ({
    repository: pushed().push(MINUTE, image('hotfix'), TAG),
    params: CLAIM,
    claimedMs: 75 * SECOND,
  })),
  trap(IN_TIME_UNTOLD, 'moved on after a minute at Quay', 'the claim is no fresh one', () => ({
    ...at('Quay'),
    repository: pushed().push(MINUTE, image('hotfix'), TAG),
    params: CLAIM,
    claimedMs: 0,
    submittedMs: 75 * SECOND,
  })),
  trap(
    ['in time', 'unverifiable', 'mismatch'],
    'moved on within a second at Quay',
    'Quay finds no manifest without a tag, so nothing is left: the one exception that the rules of blame make',
    () => ({ ...at('Quay'), repository: pushed().push(SECOND, image('hotfix'), TAG), params: CLAIM, ...AT_ONCE }),
  ),
  trap(IN_TIME_UNTOLD, 'deleted before the claim at Quay', 'Quay says that the tag was deleted', () => ({
    ...at('Quay'),
    repository: pushed().untag(SECOND, TAG),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(
    ['late', 'late', 'unverifiable'],
    'deleted by somebody, and restored after the tolerance',
    'the reads tell',
    () => ({
      repository: pushed(BUILT, -DAY)
        .untag(0, TAG)
        .retag(12 * MINUTE, TAG, BUILT.digest),
      params: CLAIM,
      claimedMs: SECOND,
    }),
  ),
  trap(IN_TIME_UNTOLD, 'deleted by its digest, while the list still has the tag', 'so does docker-registry', () => ({
    repository: pushed().drop(SECOND, BUILT.digest),
    params: CLAIM,
    ...AT_ONCE,
  })),
  ...(['docker-registry', 'Docker Hub', 'GHCR'] as const).map((kind) =>
    trap(IN_TIME_UNTOLD, `hidden from anybody: ${kind}`, 'who may not see it reads that there is none', () => ({
      ...at(kind, ['acme']),
      repository: pushed(),
      params: CLAIM,
      ...AT_ONCE,
    })),
  ),
  ...(['docker-registry', 'GHCR', 'GitLab', 'Harbor'] as const).map((kind) =>
    trap(
      IN_TIME_UNTOLD,
      `hidden from the connection: ${kind}`,
      'its credentials are accepted, and see nothing',
      () => ({
        ...weaker(kind),
        repository: pushed(),
        params: CLAIM,
        ...AT_ONCE,
      }),
    ),
  ),
  trap(IN_TIME_UNTOLD, 'a policy of Harbor that forbids the pull', 'the list has the tag', () => ({
    ...at('Harbor'),
    repository: pushed(),
    instead: only(
      'manifests',
      error(412, 'PROJECTPOLICYVIOLATION', 'current image with 3 vulnerabilities cannot be pulled'),
    ),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(
    ['in time', 'unverifiable', 'verified'],
    'a media type that is not asked for',
    'the registry answers 404 to a request that does not accept it, and lists the tag',
    () => ({ repository: pushed(ARTIFACT), params: { tag: TAG, digest: ARTIFACT.digest }, ...AT_ONCE }),
  ),
  trap(
    ['in time', 'unverifiable', 'verified'],
    'the same, with the tag on the last of two pages',
    'a reader of the first page takes it for absent',
    () => ({
      ...at('Quay'),
      repository: withTags(pushed(ARTIFACT), 60),
      params: { tag: TAG, digest: ARTIFACT.digest },
      ...AT_ONCE,
    }),
  ),
  trap(
    ['in time', 'unverifiable', 'verified'],
    'the same, with a list that a cache keeps for an hour',
    'an old list does not tell that a tag is missing',
    () => ({
      repository: pushed(ARTIFACT),
      instead: only('tags', { status: 200, headers: { age: '2700' }, body: { name: NAME, tags: ['1.3.9', 'latest'] } }),
      params: { tag: TAG, digest: ARTIFACT.digest },
      ...AT_ONCE,
    }),
  ),
  trap(IN_TIME_UNTOLD, 'a cache that keeps an absence for an hour', 'its Age says so', () => ({
    repository: pushed(),
    instead: ({ place, at }) => {
      const age = { age: String(Math.round((at + 20 * MINUTE) / SECOND)) }
      if (place === 'tags') return { status: 200, headers: age, body: { name: NAME, tags: ['1.3.9', 'latest'] } }
      const { status, body } = error(404, 'MANIFEST_UNKNOWN', 'manifest unknown')
      return place === 'manifests' ? { status, headers: age, body } : undefined
    },
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(IN_TIME_UNTOLD, 'a cache that keeps the tag as it was', 'its Age says so', () => ({
    repository: pushed(),
    instead: ({ place, at, reference }) => {
      const headers = { 'content-type': OTHER.mediaType, age: String(Math.round((at + 20 * MINUTE) / SECOND)) }
      if (place !== 'manifests') return undefined
      if (reference === TAG) return { status: 200, headers, body: OTHER.bytes }
      const { status, body } = error(404, 'MANIFEST_UNKNOWN', 'manifest unknown')
      return { status, headers: { age: headers.age }, body }
    },
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(NEVER_TOLD, 'a login page with 200', 'it is no answer of a registry', () => ({
    repository: lived(),
    instead: () => LOGIN_PAGE,
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(IN_TIME_UNTOLD, 'a login page with 200 in place of lists, and 404 of manifests', 'it is no list', () => ({
    repository: lived(),
    instead: only('tags', LOGIN_PAGE),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(NEVER_TOLD, 'a page of 404 that is no error of a registry', 'a proxy knows nothing of tags', () => ({
    repository: lived(),
    instead: only('manifests', {
      status: 404,
      headers: { 'content-type': 'text/html' },
      body: '<h1>404 Not Found</h1>',
    }),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(
    ['other', 'mismatch', 'unverifiable'],
    'a registry that says the claimed digest of other content',
    'the digest is that of the bytes',
    () => ({
      repository: pushed(image('another build')),
      changes: ({ place, reference }, { headers, ...answer }) =>
        place === 'manifests' && reference === TAG
          ? { ...answer, headers: { ...headers, 'docker-content-digest': BUILT.digest, etag: `"${BUILT.digest}"` } }
          : { ...answer, ...(headers && { headers }) },
      params: CLAIM,
      ...AT_ONCE,
    }),
  ),
  trap(
    ['in time', 'verified', 'unverifiable'],
    'a registry that says another digest of the claimed content',
    'the digest is that of the bytes',
    () => ({
      repository: pushed(),
      changes: ({ place }, { headers, ...answer }) =>
        place === 'manifests' ? { ...answer, headers: { ...headers, 'docker-content-digest': OTHER.digest } } : answer,
      params: CLAIM,
      ...AT_ONCE,
    }),
  ),
  trap(
    ['other', 'mismatch', 'unverifiable'],
    'a registry that gives other content for the claimed digest',
    'what it gives is not the claimed content',
    () => ({
      repository: pushed(OTHER),
      instead: ({ place, reference }) =>
        place === 'manifests' && reference === BUILT.digest
          ? { status: 200, headers: { 'content-type': OTHER.mediaType }, body: OTHER.bytes }
          : undefined,
      params: CLAIM,
      ...AT_ONCE,
    }),
  ),
  trap(UNKNOWABLE, 'an image that is an index, too, with a platform', 'readers take it for one or the other', () => ({
    repository: pushed(BOTH),
    params: { tag: TAG, digest: BOTH.digest, platforms: ['linux/amd64'] },
    ...AT_ONCE,
  })),
  trap(
    ['other', 'unverifiable', 'mismatch'],
    'the child of an image that is an index, too',
    'it is another one',
    () => ({
      repository: pushed(BOTH),
      params: CLAIM,
      ...AT_ONCE,
    }),
  ),
  trap(['in time', 'unverifiable', 'verified'], 'an image of schema 1', 'its digest leaves the signatures out', () => ({
    repository: pushed(SIGNED),
    params: { tag: TAG, digest: SIGNED.digest },
    ...AT_ONCE,
  })),
  trap(IN_TIME_UNTOLD, 'Docker Hub beyond its limit for an hour', 'nothing was read', () => ({
    ...at('Docker Hub'),
    repository: pushed(),
    instead: ({ at, place }) => (at < HOUR && place === 'manifests' ? TOO_MANY : undefined),
    params: CLAIM,
    ...AT_ONCE,
  })),
  trap(
    IN_TIME_UNTOLD,
    'Docker Hub beyond its limit, with the status of a missing tag',
    'the code says the limit',
    () => ({
      ...at('Docker Hub'),
      repository: pushed(),
      instead: only('manifests', { ...TOO_MANY, status: 404 }),
      params: CLAIM,
      ...AT_ONCE,
    }),
  ),
  trap(
    IN_TIME_UNTOLD,
    'the platform of a single image at GHCR, which has its blobs elsewhere',
    'no check follows to another origin',
    () => ({ ...at('GHCR'), repository: pushed(), params: { ...CLAIM, platforms: ['linux/amd64'] }, ...AT_ONCE }),
  ),
  trap(LATE, 'pushed two minutes after the tolerance', 'the reads before did not show it', () => ({
    repository: pushed(BUILT, 12 * MINUTE),
    params: CLAIM,
    claimedMs: SECOND,
  })),
  trap(LATE, 'moved two minutes after the tolerance', 'the reads before showed another', () => ({
    repository: pushed(OTHER, -DAY).push(12 * MINUTE, BUILT, TAG),
    params: CLAIM,
    claimedMs: SECOND,
  })),
  trap(IN_TIME_UNTOLD, 'submitted a quarter of an hour after the act', 'nothing tells since when it is so', () => ({
    repository: pushed(),
    params: CLAIM,
    claimedMs: 0,
    submittedMs: 15 * MINUTE,
  })),
  trap(['late', 'unverifiable'], 'pushed after the tolerance, and submitted later', 'nothing tells since when', () => ({
    repository: pushed(BUILT, 12 * MINUTE),
    params: CLAIM,
    claimedMs: 0,
    submittedMs: 13 * MINUTE,
  })),
  trap(NEVER_TOLD, 'never pushed, and first read after three minutes', 'nobody saw the first minutes', () => ({
    repository: lived(),
    params: CLAIM,
    ...AT_ONCE,
    idleMs: 3 * MINUTE,
  })),
  trap(IN_TIME_UNTOLD, 'moved on while the registry was down', 'nobody read in that time', () => ({
    ...at('Quay'),
    repository: lived()
      .push(-DAY, OTHER, TAG)
      .push(3 * MINUTE, BUILT, TAG)
      .push(5 * MINUTE, image('hotfix'), TAG),
    instead: ({ at }) => (2 * MINUTE < at && at < 6 * MINUTE ? { status: 502, body: 'Bad Gateway' } : undefined),
    params: CLAIM,
    claimedMs: 0,
  })),
  trap(
    IN_TIME_UNTOLD,
    'moved to the claimed digest and back between two looks',
    'a look while it was down is none',
    () => ({
      repository: lived()
        .push(-DAY, OTHER, TAG)
        .push(3 * MINUTE, BUILT, TAG)
        .retag(3 * MINUTE + SECOND, TAG, OTHER.digest),
      params: CLAIM,
      claimedMs: 0,
    }),
  ),
  trap(
    ['late', 'unverifiable', 'late'],
    'an image of CI that gets the tag after the tolerance',
    'it was there before',
    () => ({
      repository: lived()
        .push(-HOUR, BUILT, 'main')
        .retag(12 * MINUTE, TAG, BUILT.digest),
      params: CLAIM,
      ...AT_ONCE,
    }),
  ),
  trap(FAILED, 'the tag in other letters', 'tags have a case', () => ({
    repository: lived().push(-DAY, image('release candidate'), 'v1.4.0-RC'),
    params: { ...CLAIM, tag: 'v1.4.0-rc' },
    ...AT_ONCE,
  })),
  trap(OTHER_CONTENT, 'the image for arm64 claimed, and that for amd64 pushed', 'they are two', () => ({
    repository: pushed(),
    params: { tag: TAG, digest: ARM.digest },
    ...AT_ONCE,
  })),
]
