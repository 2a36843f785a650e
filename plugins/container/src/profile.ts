/** The profile of the action `container.image.push`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// A host has a dot, a port, or is `localhost`: else the first part of a name belongs to the repository. The patterns look neither ahead nor behind.
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const HOST_PATTERN = `(?:${LABEL}(?:\\.${LABEL})+(?::[0-9]+)?|${LABEL}:[0-9]+|localhost)`
/** A part of the name of a repository. */
export const SEGMENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const DIGEST_PATTERN = '^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$'
/** One platform in the one form, of at most 40 characters. */
const PLATFORM = '[a-z0-9._-]+(?:/[a-z0-9._-]+){1,2}'
const PLATFORM_FORM = new RegExp(`^${PLATFORM}$`)
const LONGEST_PLATFORM = 40
const MOST_PLATFORMS = 24

const Params = Type.Object(
  {
    tag: Type.String({
      title: 'Tag',
      pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*$',
      'x-pattern-help': 'enter the tag alone, `1.4.0` instead of `acme/api:1.4.0`',
      maxLength: 128,
      description: 'The tag to which the image was pushed.',
      examples: ['1.4.0'],
    }),
    digest: Type.String({
      title: 'Digest',
      pattern: '^(?:sha256:[0-9a-fA-F]{64}|sha512:[0-9a-fA-F]{128})$',
      'x-pattern-help': 'enter sha256: and 64 hexadecimal characters, as `docker push` shows them',
      description: 'The digest of the manifest, or of the index of images for several platforms.',
      examples: ['sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    }),
    platforms: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[A-Za-z0-9]+/[A-Za-z0-9_-]+(?:/[A-Za-z0-9._-]+)?$',
          'x-pattern-help': 'enter the system and the architecture, `linux/amd64`',
          maxLength: LONGEST_PLATFORM - 3,
        }),
        {
          title: 'Platforms',
          minItems: 1,
          maxItems: 16,
          description: 'Platforms for which there is an image; there may be more.',
          examples: [['linux/amd64', 'linux/arm64']],
        },
      ),
    ),
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    tag: Type.Optional(
      Type.String({
        title: 'Tag',
        pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*$',
        maxLength: 128,
        description: 'The tag that the registry has.',
      }),
    ),
    found_digest: Type.Optional(
      Type.String({
        title: 'Digest found',
        pattern: DIGEST_PATTERN,
        maxLength: 135,
        description:
          "The digest of the tag's manifest or index, which Claimcheck computed from its bytes; or the claimed digest, where it is that of the only image of the index.",
      }),
    ),
    index_digest: Type.Optional(
      Type.String({
        title: 'Digest of the index',
        pattern: DIGEST_PATTERN,
        maxLength: 135,
        description: 'The digest of the index that the tag is, where the claim names that of its only image.',
      }),
    ),
    platforms_found: Type.Optional(
      Type.String({
        title: 'Platforms found',
        pattern: `^${PLATFORM}(?:, ${PLATFORM})*$`,
        maxLength: 1024,
        description: 'The platforms of its images, where the claim names some.',
      }),
    ),
    platforms_missing: Type.Optional(
      Type.Integer({
        title: 'Platforms missing',
        minimum: 0,
        description: 'How many of the claimed platforms it has no image for.',
      }),
    ),
    undated: Type.Optional(
      Type.Literal(true, {
        title: 'Time not known',
        description: 'No read of this claim saw the tag before it was so, so it may have been so for long.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

/** Writes platforms as a fact: those of a known form, as many as fit. Undefined for none. */
export function platformsFact(platforms: readonly string[]): string | undefined {
  const written = [...new Set(platforms)].filter((one) => one.length <= LONGEST_PLATFORM && PLATFORM_FORM.test(one))
  return written.length === 0 ? undefined : written.sort().slice(0, MOST_PLATFORMS).join(', ')
}

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'container.image.push',
  version: '1',
  rulesVersion: 2,
  summary: 'The tag of an image is the digest that the claim names.',
  words: {
    title: 'Push of a container image',
    target: 'Image',
    claim: 'Tag {tag} of {target} is {digest}.',
    outcomes: {
      verified: [
        'Tag {tag} of {target} was the index {index_digest}, whose only image is {digest}.',
        'Tag {tag} of {target} was {digest} in time.',
      ],
      late: 'Tag {tag} of {target} was {digest} too late.',
      mismatch: [
        'Tag {tag} of {target} is {found_digest}, which lacks {platforms_missing} of the claimed platforms.',
        'Tag {tag} of {target} is {found_digest}, not {digest}.',
      ],
      failed: 'Tag {tag} of {target} was not {digest} by the deadline.',
    },
    facts: {
      platforms_found: 'It has images for {platforms_found}.',
      undated: {
        true: 'Since when is not known, because registries tell no time: the image may be older than the claim.',
      },
    },
    found: { digest: 'found_digest' },
  },
  target: Type.String({
    pattern: `^${HOST_PATTERN}/${SEGMENT}(?:/${SEGMENT})*$`,
    maxLength: 512,
    'x-pattern-help':
      'write the host of the registry before the name, and no tag: `ghcr.io/acme/api`, `docker.io/acme/api`',
    description: "The image: the registry's host, with its port if it has one, and the name, without tag and digest.",
    examples: ['registry.example.com:5000/acme/api'],
  }),
  params: Params,
  facts: Facts,
  required: { tag: 'target', digest: 'content', platforms: 'content' },
  compared: {
    target: 'none',
    tag: { fact: 'tag', as: 'exact' },
    digest: { fact: 'found_digest', as: 'digest' },
    platforms: { facts: ['platforms_missing'], are: 0 },
  },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: {
    permission: 'Pulling the image. Images that anybody can pull need no credentials.',
    anonymous: true,
  },
}
