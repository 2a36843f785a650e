/** The action `codehost.commit.push`: what its claims look like, and by which rules they are judged. */
import { type ActionProfile, type Static, Type, Value } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

// Names as GitHub, GitLab, Gitea and Bitbucket allow them; a name that ends in `.git` would say one repository in two ways.
const TARGET_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/(?!\\.{1,2}$)(?!.*\\.git$)[A-Za-z0-9_.-]{1,100}$'

// The rules of git-check-ref-format(1) for a branch. They leave no room for `user:branch`, `..`, or a second ref in a refspec.
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
  description: 'The branch that the commit was pushed to, by its name alone: `main`, not `refs/heads/main`.',
  examples: ['main'],
})

/** Names that come from a host are held to the same rules before they are used or recorded. */
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
      Type.Integer({ description: "The repository's number at its host: a name may pass on." }),
    ),
    head: Type.Optional(Type.String({ ...Sha, description: 'The tip of the branch when it was read.' })),
    pushed_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: "When the commit came onto the branch, by the host's push log.",
      }),
    ),
    removed_at: Type.Optional(
      Type.String({ format: 'date-time', description: "When it went from the branch again, by the host's push log." }),
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
