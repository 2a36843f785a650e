/** Claims that are true, as people and agents make them: each has to be verified. */
import { chart, DOCKER_LIST, image, index } from './images.ts'
import { type Answer, error, type KindName, sha512Of } from './oci-registry.ts'
import { DAY, HOUR, MINUTE, SECOND } from './repository.ts'
import { ARM, ARM_7, ATTESTED, BUILT, DOCKER_BUILT, lived, MULTI, OTHER, type Row, type Scene, TAG } from './row.ts'

function honest(title: string, why: string, scene: () => Scene): Row {
  return { title, why, truth: 'in time', right: 'verified', scene }
}

const CLAIM = { tag: TAG, digest: BUILT.digest }
const PLATFORMS = ['linux/amd64', 'linux/arm64', 'linux/arm/v7']

/** The agent's push, at the start. */
const pushed = (what = BUILT, at = 0) => lived().push(at, what, TAG)

/** Credentials that may read, of the kind of registry that gives them out. */
function member(kind: KindName, username: string, base_url: string): Omit<Scene, 'params' | 'repository'> {
  const password = 'read-only-secret'
  return {
    kind,
    target: `${new URL(base_url).host}/acme/api`,
    readers: [username],
    accounts: { [username]: password },
    connection: { base_url, username, password },
  }
}

export const HONEST: readonly Row[] = [
  honest('a single image, 20 s before the claim', 'the tag is the digest at the first look', () => ({
    repository: pushed(DOCKER_BUILT),
    params: { tag: TAG, digest: DOCKER_BUILT.digest },
    facts: { tag: TAG, found_digest: DOCKER_BUILT.digest, undated: true, index_digest: undefined },
  })),
  honest('a single image with its platform', 'the configuration tells the platform', () => ({
    repository: pushed(),
    params: { ...CLAIM, platforms: ['linux/amd64'] },
    facts: { platforms_found: 'linux/amd64', platforms_missing: 0 },
  })),
  honest('an index with attestations, as BuildKit prints its digest', 'attestations are no platforms', () => ({
    kind: 'GHCR',
    target: 'ghcr.io/acme/api',
    repository: pushed(MULTI),
    params: { tag: TAG, digest: MULTI.digest, platforms: PLATFORMS },
    facts: { found_digest: MULTI.digest, platforms_missing: 0 },
  })),
  honest('platforms as uname and Docker spell them', 'aarch64 is arm64, whose variant v8 is the usual one', () => ({
    repository: pushed(MULTI),
    params: { tag: TAG, digest: MULTI.digest, platforms: ['linux/x86_64', 'Linux/aarch64', 'linux/arm64/v8'] },
  })),
  honest('platforms without their usual variants', 'arm is arm/v7, and an index may leave v8 of arm64 out', () => {
    const plain = index([BUILT, image('for arm64', 'linux/arm64'), ARM_7])
    return {
      repository: pushed(plain),
      params: { tag: TAG, digest: plain.digest, platforms: ['linux/arm', 'linux/arm64/v8', 'linux/amd64'] },
    }
  }),
  honest('a list of Docker, by `docker manifest push`', 'it is an index by another media type', () => {
    const list = index([DOCKER_BUILT, image('for arm64', 'linux/arm64/v8', true)], false, DOCKER_LIST)
    return {
      repository: pushed(list),
      params: { tag: TAG, digest: list.digest, platforms: ['linux/amd64', 'linux/arm64'] },
    }
  }),
  honest('the image of an index of one', 'BuildKit makes the index because of the attestation', () => ({
    kind: 'GHCR',
    target: 'ghcr.io/acme/api',
    repository: pushed(ATTESTED),
    params: CLAIM,
    facts: { found_digest: BUILT.digest, index_digest: ATTESTED.digest },
  })),
  honest('a chart', 'a tag is a tag of any artifact', () => {
    const helm = chart('api')
    return { repository: pushed(helm), params: { tag: TAG, digest: helm.digest } }
  }),
  honest('the first tag of a push of two', 'each tag is claimed by itself', () => ({
    repository: lived().push(0, BUILT, TAG, 'latest'),
    params: CLAIM,
  })),
  honest('the second tag of a push of two, which was another image before', 'the push moved it', () => ({
    repository: lived().push(0, BUILT, TAG, 'latest'),
    params: { ...CLAIM, tag: 'latest' },
  })),
  honest('a tag pushed again to the same digest', 'nothing changes, and since when is not known', () => ({
    repository: pushed(BUILT, -30 * DAY).retag(0, TAG, BUILT.digest),
    params: CLAIM,
    facts: { undated: true },
  })),
  honest('a digest in capitals', 'hexadecimal digits have no case', () => ({
    repository: pushed(),
    params: { ...CLAIM, digest: `sha256:${BUILT.digest.slice(7).toUpperCase()}` },
  })),
  honest('a digest by SHA-512', 'it is of the same bytes as the one that the registry says', () => ({
    repository: pushed(),
    params: { ...CLAIM, digest: sha512Of(BUILT) },
  })),
  honest('claimed before the push is done', 'it comes within the tolerance, after reads without it', () => ({
    repository: pushed(BUILT, 4 * SECOND),
    params: CLAIM,
    claimedMs: 0,
    facts: { undated: undefined },
  })),
  honest('the same at ECR', 'its lists are text by their type, and it leaves the digest out', () => ({
    ...member('ECR', 'AWS', 'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com'),
    repository: pushed(BUILT, 4 * SECOND),
    params: CLAIM,
    claimedMs: 0,
  })),
  honest('a registry that lags 5 s', 'it answers 404 until its replica has it', () => ({
    repository: pushed(),
    lagsMs: [5 * SECOND],
    params: CLAIM,
    claimedMs: SECOND,
  })),
  honest('replicas of which one is behind', 'one of them shows it, in time', () => ({
    repository: pushed(),
    lagsMs: [8 * MINUTE, 0],
    params: CLAIM,
    claimedMs: 2 * SECOND,
  })),
  honest(
    'an index of which the tag is a child while it is pushed',
    'old containerd pushed each child to the tag',
    () => ({
      repository: lived()
        .push(-2 * SECOND, BUILT, TAG)
        .push(6 * SECOND, MULTI, TAG),
      params: { tag: TAG, digest: MULTI.digest },
      claimedMs: SECOND,
    }),
  ),
  honest('deleted by somebody, and restored within the tolerance', 'it is so again in time', () => ({
    repository: pushed(BUILT, -DAY)
      .untag(0, TAG)
      .retag(5 * MINUTE, TAG, BUILT.digest),
    params: CLAIM,
    claimedMs: SECOND,
  })),
  honest('an image of CI that gets the tag after the claim', 'crane tag copies no content', () => ({
    repository: lived().push(-HOUR, BUILT, 'main').retag(MINUTE, TAG, BUILT.digest),
    params: CLAIM,
    claimedMs: 0,
    facts: { undated: undefined },
  })),
  honest('a tag that is moved to the claimed image after the claim', 'it is read anew', () => ({
    repository: lived()
      .push(-DAY, OTHER, TAG)
      .push(2 * MINUTE, BUILT, TAG),
    params: CLAIM,
    claimedMs: 0,
    facts: { undated: undefined },
  })),
  honest('claimed a quarter of an hour after the push', 'the claim says when it is claimed', () => ({
    repository: pushed(),
    params: CLAIM,
    claimedMs: 15 * MINUTE,
  })),
  honest('a registry in the house, with its port', 'the port belongs to the name', () => ({
    target: 'registry.example.com:5000/acme/api',
    connection: { base_url: 'https://registry.example.com:5000' },
    repository: pushed(),
    params: CLAIM,
  })),
  ...['docker.io/acme/api', 'registry-1.docker.io/acme/api', 'index.docker.io/acme/api'].map((target) =>
    honest(`Docker Hub as ${target}`, 'all three are names of Docker Hub', () => ({
      kind: 'Docker Hub',
      target,
      repository: pushed(MULTI),
      params: { tag: TAG, digest: MULTI.digest, platforms: PLATFORMS },
    })),
  ),
  honest('an official image by its short name', 'docker.io/api is docker.io/library/api', () => ({
    kind: 'Docker Hub',
    target: 'docker.io/api',
    repository: lived('library/api').push(0, BUILT, TAG),
    params: CLAIM,
  })),
  honest('a private image at Docker Hub', 'the token of a reader opens it', () => ({
    ...member('Docker Hub', 'acme', 'https://registry-1.docker.io'),
    target: 'docker.io/acme/api',
    repository: pushed(),
    params: CLAIM,
  })),
  honest('a private image, whose tokens a GitLab elsewhere issues', 'the connection names the issuer', () => {
    const { connection, ...own } = member('GitLab', 'deploy-token-1', 'http://registry.gitlab.example')
    return {
      ...own,
      connection: { ...connection, token_url: 'ISSUER' },
      issuerElsewhere: true,
      repository: pushed(),
      params: CLAIM,
    }
  }),
  honest('a private image at Quay', 'a robot reads it', () => ({
    ...member('Quay', 'acme+reader', 'https://quay.io'),
    repository: pushed(MULTI),
    params: { tag: TAG, digest: MULTI.digest, platforms: PLATFORMS },
  })),
  honest('a private image at Harbor', 'a robot reads it', () => ({
    ...member('Harbor', 'robot$acme+reader', 'https://harbor.example.com'),
    repository: pushed(MULTI),
    params: { tag: TAG, digest: MULTI.digest, platforms: PLATFORMS },
  })),
  honest('a push at Harbor that comes after the claim', 'NOT_FOUND is what Harbor says until then', () => ({
    ...member('Harbor', 'robot$acme+reader', 'https://harbor.example.com'),
    repository: pushed(BUILT, 3 * MINUTE),
    params: CLAIM,
    claimedMs: 0,
  })),
  honest('a private image at GHCR, whose token ends between two looks', 'the next look has another', () => ({
    ...member('GHCR', 'acme', 'https://ghcr.io'),
    tokenSeconds: 60,
    repository: pushed(BUILT, 4 * MINUTE),
    params: CLAIM,
    claimedMs: 0,
  })),
  honest('Docker Hub beyond its limit for two minutes', 'the limit ends within the tolerance', () => ({
    kind: 'Docker Hub',
    target: 'docker.io/acme/api',
    repository: pushed(),
    instead: ({ at, place }) => (at < 2 * MINUTE && place === 'manifests' ? TOO_MANY : undefined),
    params: CLAIM,
  })),
  honest('a proxy that names the charset of manifests', 'parameters of a media type change nothing', () => ({
    repository: pushed(MULTI),
    changes: ({ place }, answer) => (place === 'manifests' ? withCharset(answer) : answer),
    params: { tag: TAG, digest: MULTI.digest, platforms: PLATFORMS },
  })),
  honest('a registry whose clock is three minutes behind', 'no time of its own counts', () => ({
    repository: pushed(),
    clockMs: -3 * MINUTE,
    params: CLAIM,
  })),
  honest('an index with an image for a platform beside those that are claimed', 'there may be more', () => ({
    repository: pushed(index([BUILT, ARM, image('for s390x', 'linux/s390x')])),
    params: {
      tag: TAG,
      digest: index([BUILT, ARM, image('for s390x', 'linux/s390x')]).digest,
      platforms: ['linux/amd64'],
    },
  })),
]

const TOO_MANY = error(429, 'TOOMANYREQUESTS', 'You have reached your pull rate limit.')

function withCharset(answer: Answer): Answer {
  const { 'content-type': type, ...rest } = answer.headers ?? {}
  return { ...answer, headers: { ...rest, 'content-type': `${type}; charset=utf-8` } }
}
