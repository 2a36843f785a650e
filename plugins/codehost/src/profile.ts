/** The profile of the action `codehost.commit.push`. */
import { type ActionProfile, type Static, Type, Value } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// No pattern looks around, so that a plugin in a process of its own can offer the profile, too: its patterns are matched in linear time.

// The names that GitHub, GitLab, Gitea and Bitbucket allow. A name that ends in `.git` would be a second name of a repository.
const TARGET_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}$'
const NO_TARGET_PATTERN = '/\\.{1,2}$|\\.git$'

// The rules of git-check-ref-format(1) for a branch. They exclude `user:branch`, `..`, and a second ref in a refspec.
const BRANCH_PATTERN = '^[^\\u0000-\\u0020\\u007f~^:?*\\[\\\\\\ud800-\\udfff]+$'
const NO_BRANCH_PATTERN = '^-|^@$|^refs/heads/|(?:^|/)(?:\\.|/|$)|\\.\\.|\\.$|@\\{|\\.lock(?:/|$)'

export const Slug = Type.String({
  pattern: TARGET_PATTERN,
  not: { pattern: NO_TARGET_PATTERN },
  maxLength: 201,
  description: 'The repository, `<owner>/<repo>`.',
  examples: ['octo-org/hello-world'],
})

export const Sha = Type.String({ pattern: '^[0-9a-f]{40}$' })

export const BranchName = Type.String({
  title: 'Branch',
  pattern: BRANCH_PATTERN,
  not: { pattern: NO_BRANCH_PATTERN },
  'x-pattern-help': 'write the name of the branch alone, `main` instead of `refs/heads/main`',
  minLength: 1,
  maxLength: 255,
  description: 'The name of the branch to which the commit was pushed: `main`, not `refs/heads/main`.',
  examples: ['main'],
})

/** For names from a host's answers, before they are used or recorded. */
export function isBranchName(name: string): boolean {
  return Value.Check(BranchName, name)
}

// A host with a path is one whose sub-path may belong to somebody else, so the whole of it counts.
const HOST_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+)*$'

const common = {
  sha: Type.String({
    title: 'Commit',
    pattern: '^[0-9a-fA-F]{40}$',
    description: 'The full id of the commit, 40 hexadecimal characters.',
    examples: ['0123456789abcdef0123456789abcdef01234567'],
  }),
  branch: BranchName,
  host: Type.Optional(
    Type.String({
      title: 'Code host',
      pattern: HOST_PATTERN,
      maxLength: 1024,
      description:
        'The code host: `github.com`, or `git.example.com/team` where the connection has a path. Needed when several connections fit.',
    }),
  ),
}

/** Of version 1, which took the same without `pusher`. */
export const ParamsV1 = Type.Object(common, { additionalProperties: false })

const Params = Type.Object(
  {
    ...common,
    pusher: Type.Optional(
      Type.String({
        title: 'Pusher',
        minLength: 1,
        maxLength: 100,
        description:
          "The name of the account that pushed, at the host. It is compared with the host's push log where that can be read; the receipt says whether they are equal.",
        examples: ['octo-agent[bot]'],
      }),
    ),
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    repository: Type.Optional(
      Type.String({ ...Slug, title: 'Repository', description: "The repository's name by the host's own account." }),
    ),
    repository_id: Type.Optional(
      Type.Integer({
        title: 'Repository number',
        description: "The repository's number at its host. Another repository can get its name, but not its number.",
      }),
    ),
    branch_listed: Type.Boolean({
      title: 'Branch listed',
      description: 'The host lists the claimed branch to these credentials.',
    }),
    head: Type.Optional(
      Type.String({ ...Sha, title: 'Tip of the branch', description: 'The tip of the branch when it was read.' }),
    ),
    pushed_at: Type.Optional(
      Type.String({
        title: 'Pushed at',
        format: 'date-time',
        description: "When the commit was pushed to the branch, by the host's push log.",
      }),
    ),
    removed_at: Type.Optional(
      Type.String({
        title: 'Removed at',
        format: 'date-time',
        description: "When it was removed from the branch again, by the host's push log.",
      }),
    ),
    found_on: Type.Optional(
      Type.String({ ...BranchName, title: 'Found on', description: 'Another branch that has the commit.' }),
    ),
    preexisting: Type.Optional(
      Type.Literal(true, {
        title: 'There before',
        description: 'The push log has the commit on the branch since more than the tolerance before the claim.',
      }),
    ),
    pusher_matches: Type.Optional(
      Type.Boolean({
        title: 'Pusher matches',
        description: 'The push log names the account that the claim names as pusher.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const commitPushProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.commit.push',
  version: '2',
  rulesVersion: 2,
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
      repository: 'The destination calls the repository {repository}.',
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
  },
  aliases: { 'github.commit.push': { providers: ['github'] } },
  target: Slug,
  params: Params,
  facts: Facts,
  required: { branch: 'target', sha: 'content' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  removedWithinMs: 24 * 60 * MINUTE_MS,
  access: {
    permission: "Reading the repository's contents and metadata.",
    anonymous: true,
  },
}
