/** Schemas of the parts of GitHub's answers that are used. An answer that does not match its schema is refused. */
import { type Static, Type } from '@claimcheck/core/plugin'
import { RepositoryPath, Sha } from '../actions/fields.ts'

export const RepositoryAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  full_name: RepositoryPath,
  private: Type.Boolean(),
  default_branch: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})
export type RepositoryAnswer = Static<typeof RepositoryAnswer>

export const RefAnswer = Type.Object({
  ref: Type.String(),
  object: Type.Object({ type: Type.String(), sha: Sha }),
})

export const ComparisonAnswer = Type.Object({
  status: Type.Union([
    Type.Literal('ahead'),
    Type.Literal('behind'),
    Type.Literal('diverged'),
    Type.Literal('identical'),
  ]),
  merge_base_commit: Type.Object({ sha: Sha }),
})

export const ActivityAnswer = Type.Array(
  Type.Object({
    before: Sha,
    after: Sha,
    ref: Type.String(),
    timestamp: Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)$',
    }),
    activity_type: Type.String(),
    actor: Type.Optional(Type.Union([Type.Null(), Type.Object({ login: Type.String() })])),
  }),
)
export type ActivityAnswer = Static<typeof ActivityAnswer>

export const BranchesAnswer = Type.Array(
  Type.Object({
    name: Type.String(),
    commit: Type.Object({ sha: Sha }),
  }),
)

export const CommitAnswer = Type.Object({ sha: Sha })

export const RateLimitAnswer = Type.Object({ resources: Type.Object({}) })

export const FailureAnswer = Type.Object({ message: Type.String() })
