/** `codehost.commit.push`, version 2: for claims that were submitted under it and wait still. New claims are of the newest version. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'
import type { FoundRepository } from '../code-host.ts'
import { commitFacts, commitFactsOf, commitPushProfile, commitQuery, observed, Pusher } from './commit-push.ts'
import { BranchName, Host } from './fields.ts'
import { underRules2 } from './rules-2.ts'

/** Two names, where version 3 takes groups between them. */
export const Slug = Type.String({
  pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}$',
  not: { pattern: '/\\.{1,2}$|\\.git$' },
  'x-pattern-help': 'enter owner/repo, without .git at its end',
  maxLength: 201,
  description: 'The repository, `<owner>/<repo>`.',
  examples: ['octo-org/hello-world'],
})

/** Of SHA-1 alone. */
export const Sha1 = { pattern: '^[0-9a-f]{40}$' }

/** Of version 1, too, which took the same without `pusher`. */
export const paramsV1 = {
  sha: Type.String({
    title: 'Commit',
    pattern: '^[0-9a-fA-F]{40}$',
    'x-pattern-help': 'enter the full id of the commit, 40 hexadecimal characters',
    description: 'The full id of the commit, 40 hexadecimal characters.',
    examples: ['0123456789abcdef0123456789abcdef01234567'],
  }),
  branch: BranchName,
  host: Host,
}

const Params = Type.Object({ ...paramsV1, pusher: Pusher }, { additionalProperties: false })

const repositoryFactsV2 = {
  repository: Type.Optional(
    Type.String({ ...Slug, title: 'Repository', description: "The repository's name by the host's own account." }),
  ),
  repository_id: Type.Optional(
    Type.Integer({
      title: 'Repository number',
      description: "The repository's number at its host. Another repository can get its name, but not its number.",
    }),
  ),
}

const Facts = Type.Object(
  {
    ...repositoryFactsV2,
    ...commitFacts,
    head: Type.Optional(Type.String({ ...commitFacts.head, ...Sha1 })),
  },
  { additionalProperties: false },
)

const profile: ActionProfile<typeof Params, typeof Facts> = {
  ...commitPushProfile,
  target: Slug,
  params: Params,
  facts: Facts,
}

export const commitPushV2 = underRules2(
  {
    profile,
    reader: ({ commit }) => commit,
    query: commitQuery,
    observe: (found) =>
      observed<Static<typeof Facts>>(found, { ...repositoryFactsV2Of(found), ...commitFactsOf(found) }),
  },
  '2',
)

/** A host whose ids are no numbers has no claims of this version. */
export function repositoryNumber({ repositoryId }: FoundRepository): { readonly repository_id?: number } {
  return repositoryId === undefined || !/^\d{1,15}$/.test(repositoryId) ? {} : { repository_id: Number(repositoryId) }
}

function repositoryFactsV2Of(found: FoundRepository) {
  const { repositoryName } = found
  return { ...(repositoryName === undefined ? {} : { repository: repositoryName }), ...repositoryNumber(found) }
}
