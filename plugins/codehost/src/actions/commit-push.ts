/** The action `codehost.commit.push`: a commit can be reached from the named branch of a repository. */
import { type ActionProfile, type Instant, Type } from '@claimcheck/core/plugin'
import { defineAction, repositoryFactsOf } from './action.ts'
import {
  BranchName,
  claimedSha,
  closedObject,
  commonProfile,
  Host,
  isBranchName,
  MINUTE_MS,
  onlyTrue,
  preexistingFact,
  repositoryFacts,
  repositoryWords,
  shaFact,
  timeFact,
} from './fields.ts'

const Pusher = Type.Optional(
  Type.String({
    title: 'Pusher',
    minLength: 1,
    maxLength: 100,
    description:
      "The name of the account that pushed, at the host. It is compared with the host's push log where that can be read; the receipt says whether they are equal.",
    examples: ['octo-agent[bot]'],
  }),
)

const Params = closedObject({
  sha: claimedSha('Commit', 'The full id of the commit: 40 hexadecimal characters, or 64 in a repository of SHA-256.'),
  branch: BranchName,
  host: Host,
  pusher: Pusher,
})

const Facts = closedObject({
  ...repositoryFacts,
  branch_listed: Type.Boolean({
    title: 'Branch listed',
    description: 'The host lists the claimed branch to these credentials.',
  }),
  head: shaFact('Tip of the branch', 'The tip of the branch when it was read.'),
  pushed_at: timeFact('Pushed at', "When the commit was pushed to the branch, by the host's push log."),
  removed_at: timeFact('Removed at', "When it was removed from the branch again, by the host's push log."),
  found_on: Type.Optional(
    Type.String({ ...BranchName, title: 'Found on', description: 'Another branch that has the commit.' }),
  ),
  preexisting: preexistingFact(
    'The push log has the commit on the branch since more than the tolerance before the claim.',
  ),
  pusher_matches: Type.Optional(
    Type.Boolean({
      title: 'Pusher matches',
      description: 'The push log names the account that the claim names as pusher.',
    }),
  ),
})

const commitPushProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.commit.push',
  ...commonProfile,
  summary: 'A commit was pushed: it can be reached from the named branch of the repository.',
  words: {
    title: 'Push of a commit',
    target: 'Repository',
    claim: 'Commit {sha:short} was pushed to {branch} of {target}.',
    outcomes: {
      verified: 'Commit {sha:short} was on {branch} of {target} in time.',
      late: 'Commit {sha:short} came onto {branch} of {target} too late.',
      mismatch: [
        'Commit {sha:short} was found on {found_on} of {target}, not on {branch}.',
        'Commit {sha:short} was found in {target}, but not on {branch}.',
      ],
      failed: 'Commit {sha:short} was not on {branch} of {target}.',
    },
    facts: {
      ...repositoryWords,
      pushed_at: "It was pushed at {pushed_at}, by the destination's own log.",
      removed_at: "It was removed again at {removed_at}, by the destination's own log.",
      found_on: 'It is on the branch {found_on}.',
      preexisting: {
        true: [
          'It was already there before the claim, since {pushed_at}: the claim may be about work that was done earlier.',
          'It was already there long before the claim: the claim may be about work that was done earlier.',
        ],
      },
      pusher_matches: {
        true: "The destination's own log names the pusher that the claim names.",
        false: "The destination's own log names another pusher than the claim.",
      },
      branch_listed: {
        false: 'The destination does not list the branch: it does not exist, or the credentials cannot see it.',
      },
    },
    found: { target: 'repository', branch: 'found_on' },
  },
  aliases: { 'github.commit.push': { providers: ['github'] } },
  params: Params,
  facts: Facts,
  required: { branch: 'target', sha: 'content' },
  shows: { branch_listed: true },
  compared: {
    target: 'none',
    branch: { fact: 'found_on', as: 'exact', tells: 'other' },
    sha: { fact: 'head', as: 'case', tells: 'same' },
  },
  past: ['pushed_at', 'removed_at'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  removedWithinMs: 24 * 60 * MINUTE_MS,
  access: {
    permission: "Reading the repository's contents and metadata.",
    anonymous: true,
  },
}

export const commitPush = defineAction({
  profile: commitPushProfile,
  reader: ({ commit }) => commit,
  observe(found) {
    const { place, stays, mark, ageMs, head, pushedAt, removedAt, preexisting, pusherMatches } = found
    const seen = {
      facts: {
        ...repositoryFactsOf(found),
        branch_listed: head !== undefined,
        head,
        pushed_at: toTimeFact(pushedAt),
        removed_at: toTimeFact(removedAt),
        found_on: place.at === 'another_branch' && isBranchName(place.name) ? place.name : undefined,
        preexisting: onlyTrue(preexisting),
        pusher_matches: pusherMatches,
      },
      stays,
      ageMs,
    }
    switch (place.at) {
      case 'branch':
        return { kind: 'present', differs: [], ...seen }
      // The mark is not final: a merge into the claimed branch may still come.
      case 'another_branch':
        return { kind: 'present', differs: ['branch'], ...seen, mark }
      case 'nowhere':
        return { kind: 'absent', ...seen, mark }
    }
  },
})

function toTimeFact(time: Instant | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
