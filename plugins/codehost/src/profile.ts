/** The profile of the action `codehost.commit.push`. */
import { type ActionProfile, type Static, Type, Value } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// The names that GitHub, GitLab, Gitea and Bitbucket allow. A name that ends in `.git` would be a second name of a repository.
const TARGET_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/(?!\\.{1,2}$)(?!.*\\.git$)[A-Za-z0-9_.-]{1,100}$'

// The rules of git-check-ref-format(1) for a branch. They exclude `user:branch`, `..`, and a second ref in a refspec.
const BRANCH_COMPONENT =
  '(?!\\.)(?:(?!\\.\\.|\\.$|@\\{|\\.lock(?:/|$))[^\\u0000-\\u0020\\u007f~^:?*\\[\\\\/\\ud800-\\udfff])+'
const BRANCH_PATTERN = `^(?!-)(?!@$)${BRANCH_COMPONENT}(?:/${BRANCH_COMPONENT})*$`

export const Slug = Type.String({
  pattern: TARGET_PATTERN,
  description: 'The repository, `<owner>/<repo>`.',
  examples: ['octo-org/hello-world'],
})

export const Sha = Type.String({ pattern: '^[0-9a-f]{40}$' })

export const BranchName = Type.String({
  pattern: BRANCH_PATTERN,
  minLength: 1,
  maxLength: 255,
  description: 'The name of the branch to which the commit was pushed: `main`, not `refs/heads/main`.',
  examples: ['main'],
})

/** For names from a host's answers, before they are used or recorded. */
export function isBranchName(name: string): boolean {
  return Value.Check(BranchName, name)
}

const Params = Type.Object(
  {
    sha: Type.String({
      pattern: '^[0-9a-fA-F]{40}$',
      description: 'The full id of the commit, 40 hexadecimal characters.',
      examples: ['0123456789abcdef0123456789abcdef01234567'],
    }),
    branch: BranchName,
    host: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?$',
        description: 'The code host, `github.com`. Needed when several connections fit.',
      }),
    ),
  },
  { additionalProperties: false },
)

const Facts = Type.Object(
  {
    repository_id: Type.Optional(
      Type.Integer({
        description: "The repository's number at its host. Another repository can get its name, but not its number.",
      }),
    ),
    head: Type.Optional(Type.String({ ...Sha, description: 'The tip of the branch when it was read.' })),
    pushed_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: "When the commit was pushed to the branch, by the host's push log.",
      }),
    ),
    removed_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: "When it was removed from the branch again, by the host's push log.",
      }),
    ),
    found_on: Type.Optional(Type.String({ ...BranchName, description: 'Another branch that has the commit.' })),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const commitPushProfile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'codehost.commit.push',
  version: '1',
  summary: 'A commit was pushed: it can be reached from the named branch of the repository.',
  aliases: { 'github.commit.push': { providers: ['github'] } },
  target: Slug,
  params: Params,
  facts: Facts,
  required: { branch: 'target', sha: 'content' },
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 15 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: {
    permission: "Reading the repository's contents and metadata.",
    anonymous: true,
  },
}
