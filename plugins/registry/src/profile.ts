/** The profile of the action `registry.package.publish`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// The patterns look neither ahead nor behind, so that they are matched in linear time.

// An npm name that begins with a hyphen would be a path of the registry's own API.
const NPM = 'npm:(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*/[A-Za-z0-9~-]|[A-Za-z0-9~])[A-Za-z0-9._~-]*'
const PYPI = 'pypi:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?'
const CARGO = 'cargo:[A-Za-z][A-Za-z0-9_-]{0,63}'

const SRI_PATTERN = 'sha512-[A-Za-z0-9+/]{86}==|sha256-[A-Za-z0-9+/]{43}='

// Matches the name of a registry, with its path: the sub-path may belong to somebody else, so the whole of it counts.
const REGISTRY_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+)*$'

const Params = Type.Object(
  {
    version: Type.String({
      title: 'Version',
      pattern: '^[vV]?[0-9][0-9A-Za-z.+!_-]{0,126}$',
      'x-pattern-help': 'write the version itself: a name such as `latest` moves from version to version',
      description: 'The version that was published, in full: `1.2.0`, and not a range or a tag.',
      examples: ['1.2.0'],
    }),
    integrity: Type.Optional(
      Type.String({
        title: 'Digest of the content',
        pattern: `^(?:${SRI_PATTERN}|(?:sha256:)?[0-9a-fA-F]{64})$`,
        'x-pattern-help': 'enter sha512- or sha256- and base64, or 64 hexadecimal characters',
        description:
          'The digest of the published file: `sha512-` or `sha256-` and base64, or a SHA-256 in hexadecimal. At PyPI and Cargo it is a SHA-256.',
        examples: ['sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
      }),
    ),
    registry: Type.Optional(
      Type.String({
        title: 'Registry',
        pattern: REGISTRY_PATTERN,
        // The param has no example, because claims that are shown as examples name no registry.
        'x-pattern-help':
          'enter the name of the registry alone, `registry.npmjs.org` instead of `https://registry.npmjs.org`',
        maxLength: 1024,
        description:
          'The registry: `registry.npmjs.org`, or `npm.example.com/team` where the connection has a path. Needed when several connections fit.',
      }),
    ),
  },
  { additionalProperties: false },
)

const flag = (title: string, description: string) => Type.Optional(Type.Literal(true, { title, description }))

const Facts = Type.Object(
  {
    version: Type.Optional(
      Type.String({
        title: 'Version',
        pattern: '^[0-9][0-9A-Za-z.+!_-]*$',
        maxLength: 128,
        description: 'The version that the registry shows.',
      }),
    ),
    published_at: Type.Optional(
      Type.String({
        title: 'Published at',
        format: 'date-time',
        description: "When the version was published, by the registry's own record.",
      }),
    ),
    integrity: Type.Optional(
      Type.String({
        title: 'Digest of the content',
        pattern: `^(?:${SRI_PATTERN})$`,
        maxLength: 95,
        description: 'The digest of the published file.',
      }),
    ),
    integrity_by: Type.Optional(
      Type.Union([Type.Literal('claimcheck'), Type.Literal('registry')], {
        title: 'Digest by',
        description: 'Who computed it: Claimcheck, from the file that it downloaded, or the registry.',
      }),
    ),
    yanked: flag('Yanked', 'The registry marks it as not to be used by new installations.'),
    deprecated: flag('Deprecated', 'The registry marks it as deprecated.'),
    unpublished: flag('Unpublished', "The registry's record has the version, which it does not offer any more."),
    undated: flag(
      'Time not known',
      'When it was published is not known: the record of the registry could not be read, or does not say. It may be old.',
    ),
    preexisting: flag(
      'There before',
      "By the registry's own record it was published more than the tolerance before the claim.",
    ),
    package_listed: Type.Boolean({
      title: 'Package listed',
      description: 'The registry shows the package, in whatever version, to these credentials.',
    }),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const publishProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'registry.package.publish',
  version: '2',
  rulesVersion: 2,
  summary: 'A version of a package was published: the registry offers it.',
  words: {
    title: 'Publication of a package',
    target: 'Package',
    claim: [
      'Version {version} of {target} was published, with the digest {integrity}.',
      'Version {version} of {target} was published.',
    ],
    outcomes: {
      verified: 'Version {version} of {target} was published in time.',
      late: 'Version {version} of {target} was published too late.',
      mismatch: 'Version {version} of {target} was published with other content than the claim says.',
      failed: 'Version {version} of {target} was not published.',
    },
    facts: {
      published_at: "It was published at {published_at}, by the registry's own record.",
      integrity_by: {
        claimcheck: 'Claimcheck downloaded the file, and its digest is {integrity}.',
        registry: "The digest of the file is {integrity}, by the registry's own account.",
      },
      yanked: { true: 'It is yanked: new installations are not to use it.' },
      deprecated: { true: 'It is marked as deprecated.' },
      unpublished: { true: 'The version was published and then taken away again.' },
      undated: {
        true: 'When it was published is not known, as the record of the registry could not be read or does not say: it may be old.',
      },
      preexisting: {
        true: [
          'It was already there before the claim, since {published_at}: the claim may be about work that was done earlier.',
          'It was already there long before the claim: the claim may be about work that was done earlier.',
        ],
      },
      package_listed: { false: 'The registry does not show any version of the package.' },
    },
  },
  target: Type.String({
    pattern: `^(?:${NPM}|${PYPI}|${CARGO})$`,
    maxLength: 220,
    'x-pattern-help': 'write the kind of registry before the name: `npm:left-pad`, `pypi:requests`, `cargo:serde`',
    description: 'The package: `npm:<name>`, `pypi:<name>` or `cargo:<name>`. The name at npm may have a scope.',
    examples: ['npm:@acme/tool'],
  }),
  params: Params,
  facts: Facts,
  required: { version: 'target', integrity: 'content' },
  shows: { package_listed: true },
  compared: { version: { fact: 'version', as: 'exact' }, integrity: { fact: 'integrity', as: 'digest' } },
  past: ['published_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  removedWithinMs: 24 * 60 * MINUTE_MS,
  access: {
    permission: 'Reading the package. The public registries need no credentials.',
    anonymous: true,
  },
}
