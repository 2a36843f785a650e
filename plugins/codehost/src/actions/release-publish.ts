/** The action `codehost.release.publish`: a release was published for a tag, with the named commit and files. A tag alone is no release. */
import { type ActionProfile, isLongBefore, Type } from '@claimcheck/core/plugin'
import type { Release } from '../code-host.ts'
import { atLast, timeAsFact } from '../times.ts'
import { defineAction, repositoryFactsOf } from './action.ts'
import {
  claimedSha,
  closedObject,
  commonProfile,
  Host,
  MINUTE_MS,
  onlyTrue,
  preexistingFact,
  repositoryFacts,
  repositoryWords,
  shaFact,
  TagName,
  timeFact,
} from './fields.ts'

const Params = closedObject({
  tag: TagName,
  commit: Type.Optional(claimedSha('Commit', 'The full id of the commit that the tag leads to.')),
  assets: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      title: 'Files',
      minItems: 1,
      maxItems: 50,
      description:
        'The names of files that the release has, as they were uploaded or as the host shows them; it may have more.',
      examples: [['app.tar.gz']],
    }),
  ),
  host: Host,
})

const Facts = closedObject({
  ...repositoryFacts,
  commit: shaFact('Commit seen', 'The commit to which the tag led when it was read.'),
  prerelease: Type.Optional(Type.Boolean({ title: 'Prerelease', description: 'It is marked as a prerelease.' })),
  published_at: timeFact('Published at', "When it was published, by the host's own clock."),
  assets_missing: Type.Optional(
    Type.Integer({
      title: 'Files missing',
      minimum: 0,
      description: 'How many of the claimed files it does not have.',
    }),
  ),
  preexisting: preexistingFact('By the host, it was published more than the tolerance before the claim.'),
})

const releasePublishProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.release.publish',
  ...commonProfile,
  summary: 'A release was published for the named tag.',
  words: {
    title: 'Publication of a release',
    target: 'Repository',
    claim: [
      'Release {tag} of {target} was published, of commit {commit:short}.',
      'Release {tag} of {target} was published.',
    ],
    outcomes: {
      verified: 'Release {tag} of {target} was published in time.',
      late: 'Release {tag} of {target} was published too late.',
      mismatch: [
        'Release {tag} of {target} is of commit {commit:short}, or lacks files: it is not as it was claimed.',
        'Release {tag} of {target} is not as it was claimed.',
      ],
      failed: 'There was no published release {tag} in {target}.',
    },
    facts: {
      ...repositoryWords,
      published_at: "It was published at {published_at}, by the destination's own clock.",
      prerelease: { true: 'It is marked as a prerelease.' },
      preexisting: {
        true: 'It was published long before the claim: the claim may be about work that was done earlier.',
      },
    },
    found: { target: 'repository' },
  },
  params: Params,
  facts: Facts,
  required: { tag: 'target', commit: 'content', assets: 'content' },
  shows: { prerelease: [false, true] },
  compared: {
    target: 'none',
    tag: 'none',
    commit: { fact: 'commit', as: 'case' },
    assets: { facts: ['assets_missing'], are: 0 },
  },
  past: ['published_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  access: { permission: "Reading the repository's contents and metadata.", anonymous: true },
}

export const releasePublish = defineAction({
  profile: releasePublishProfile,
  reader: ({ release }) => release,
  observe(found, { params }, query) {
    const { release, mark, ageMs, tagAgeMs = ageMs } = found
    const { previous } = query
    if (!release) {
      // No host keeps a log of releases: one that was deleted leaves no trace but in an earlier read that shows it.
      const wasSeen = previous.some(({ observation }) => observation.kind === 'present')
      const facts = repositoryFactsOf(found)
      return { kind: 'absent', facts, ageMs: tagAgeMs, mark: mark ?? (wasSeen ? 'may_have_been' : undefined) }
    }
    const { publishedAt, commit, isPrerelease } = release
    const missing = params.assets?.filter((name) => !hasFile(release, name))
    const facts = {
      ...repositoryFactsOf(found),
      commit,
      prerelease: isPrerelease,
      published_at: timeAsFact(publishedAt),
      assets_missing: missing?.length,
      preexisting: onlyTrue(isLongBefore(publishedAt, found, query)),
    }
    const isOtherCommit = params.commit !== undefined && params.commit !== commit
    const differs = [...(isOtherCommit ? ['commit'] : []), ...(missing?.length ? ['assets'] : [])]
    if (differs.length === 0) {
      // The release does not tell when a file was added, or the tag moved here. One that was published again tells only the later time.
      const isDated = publishedAt && params.commit === undefined && params.assets === undefined
      return {
        kind: 'present',
        differs,
        facts,
        ageMs,
        stays: isDated ? [{ appeared: atLast(publishedAt) }] : undefined,
      }
    }
    // Tags move, and files are removed; and where there was no release yet, it may have come otherwise than it is.
    const hasChanged = commit === undefined || previous.some(({ observation }) => observation.facts.commit !== commit)
    const isUnsure = hasChanged || missing?.some((name) => release.keptAs?.(name).isUnsure)
    return {
      kind: 'present',
      differs,
      facts,
      ageMs: isOtherCommit ? tagAgeMs : ageMs,
      mark: isUnsure ? 'may_have_been' : undefined,
    }
  },
})

/** Tells whether a release has a file, by the name that its agent gave it, or by the one that the host keeps it under. */
function hasFile({ assets, keptAs }: Release, name: string): boolean {
  return assets.includes(name) || (keptAs !== undefined && assets.includes(keptAs(name).name))
}
