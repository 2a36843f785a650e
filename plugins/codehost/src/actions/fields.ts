/** The schemas of what claims and receipts of several actions name: repositories, commits, branches, hosts. */
import { type TSchema, Type, Value } from '@claimcheck/core/plugin'

export const MINUTE_MS = 60_000

/** The schema of an object that has these members and no others, as claims, facts and options are. */
export const closedObject = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

// The patterns look neither ahead nor behind, so that they are matched in linear time, and a plugin in a process of its own can offer the profiles,
// too.

// The names that GitHub, GitLab, Gitea and Bitbucket allow: GitLab nests groups, Bitbucket Data Center has `~user`. A name that ends in
// `.git` would be a second name of a repository.
const PATH_PATTERN = '^[A-Za-z0-9_~][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]+)+$'
const NO_PATH_PATTERN = '/\\.{1,2}(?:/|$)|\\.git$|[^/]{101}'

// Characters that no branch has, by the rules of git-check-ref-format(1). They exclude `user:branch`, `..`, and a second ref in a refspec. Other
// spaces than ASCII's and characters that reorder text are excluded, too: a receipt shows the name.
const HIDDEN = '\\u0080-\\u00a0\\u1680\\u2000-\\u200a\\u200e\\u200f\\u2028-\\u202f\\u205f\\u2066-\\u2069\\u3000\\ufeff'
const BRANCH_PATTERN = `^[^\\u0000-\\u0020\\u007f${HIDDEN}~^:?*\\[\\\\\\ud800-\\udfff]+$`
const NO_BRANCH_PATTERN = '^-|^@$|^refs/heads/|(?:^|/)(?:\\.|/|$)|\\.\\.|\\.$|@\\{|\\.lock(?:/|$)'

export const RepositoryPath = Type.String({
  pattern: PATH_PATTERN,
  not: { pattern: NO_PATH_PATTERN },
  'x-pattern-help': 'enter owner/repo, without .git at its end',
  maxLength: 512,
  description: 'The repository, `<owner>/<repo>`; with the groups between them where the host nests them.',
  examples: ['octo-org/hello-world'],
})

/** A commit's id as hosts write it. */
export const Sha = Type.String({ pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$' })

/** A commit's id as claims may write it. */
export const claimedSha = (title: string, description: string) =>
  Type.String({
    title,
    pattern: '^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$',
    'x-pattern-help': 'enter the full id of the commit, 40 or 64 hexadecimal characters',
    examples: ['0123456789abcdef0123456789abcdef01234567'],
    description,
  })

/** The number of a pull request or an issue. */
export const claimedNumber = (description: string, example: number) =>
  Type.Integer({ title: 'Number', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description, examples: [example] })

/** The names that branches and tags may have. */
const refName = { pattern: BRANCH_PATTERN, not: { pattern: NO_BRANCH_PATTERN }, minLength: 1, maxLength: 255 }

export const BranchName = Type.String({
  title: 'Branch',
  ...refName,
  'x-pattern-help': 'write the name of the branch alone, `main` instead of `refs/heads/main`',
  description: 'The name of the branch to which the commit was pushed: `main`, not `refs/heads/main`.',
  examples: ['main'],
})

export const TagName = Type.String({
  title: 'Tag',
  ...refName,
  'x-pattern-help': 'write the name of the tag alone, `v1.0.0` instead of `refs/tags/v1.0.0`',
  description: 'The name of the tag: `v1.0.0`, not `refs/tags/v1.0.0`.',
  examples: ['v1.0.0'],
})

/** Tells whether a name from a host's answer is one of a branch, before it is used or recorded. */
export function isBranchName(name: string): boolean {
  return Value.Check(BranchName, name)
}

// Matches the name of a host, with its path: the sub-path may belong to somebody else, so the whole of it counts.
const HOST_PATTERN = '^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~-]+)*$'

export const Host = Type.Optional(
  Type.String({
    title: 'Code host',
    pattern: HOST_PATTERN,
    // The param has no example, because claims that are shown as examples name no host.
    'x-pattern-help': 'enter the name of the host alone, `github.com` instead of `https://github.com`',
    maxLength: 1024,
    description:
      'The code host: `github.com`, or `git.example.com/team` where the connection has a path. Needed when several connections fit.',
  }),
)

export const timeFact = (title: string, description: string) =>
  Type.Optional(Type.String({ title, format: 'date-time', description }))

export const shaFact = (title: string, description: string) =>
  Type.Optional(Type.String({ ...Sha, title, description }))

/** The members that the profiles of all actions have in common. */
export const commonProfile = {
  version: '2',
  rulesVersion: 2,
  target: RepositoryPath,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
} as const

/** The sentence of the first fact in `repositoryFacts`. */
export const repositoryWords = { repository: 'The destination calls the repository {repository}.' }

/** The facts that every receipt can have of the repository. */
export const repositoryFacts = {
  repository: Type.Optional(
    Type.String({
      ...RepositoryPath,
      title: 'Repository',
      description: "The repository's name by the host's own account.",
    }),
  ),
  repository_id: Type.Optional(
    Type.String({
      title: 'Repository id',
      pattern: '^(?:[0-9]{1,20}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$',
      maxLength: 36,
      description: "The repository's number or UUID at its host. Another repository can get its name, but not its id.",
    }),
  ),
}

export const preexistingFact = (description: string) =>
  Type.Optional(Type.Literal(true, { title: 'There before', description }))

/** The value of a fact that is there only where it is true. */
export const onlyTrue = (isTrue: boolean | undefined): true | undefined => isTrue || undefined
