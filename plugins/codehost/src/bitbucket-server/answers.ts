/** Schemas of the parts of Bitbucket Data Center's answers that are used. An answer that does not match its schema is refused. */

import { type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import { Sha } from '../actions/fields.ts'
import { orNull } from '../rest.ts'

/** A time in milliseconds since 1970, until the year 9999. */
const Time = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 })

export const PageOf = <T extends TSchema>(value: T) =>
  Type.Object({
    values: Type.Array(value),
    isLastPage: Type.Boolean(),
    nextPageStart: orNull(Type.Integer({ minimum: 0 })),
  })

export const RepositoryAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  slug: Type.String(),
  project: Type.Object({ key: Type.String() }),
})
export type RepositoryAnswer = Static<typeof RepositoryAnswer>

export const CommitAnswer = Type.Object({ id: Sha })

export const CommitsAnswer = PageOf(CommitAnswer)

export const BranchesAnswer = PageOf(Type.Object({ id: Type.String(), latestCommit: Sha }))

export const RefsAnswer = PageOf(Type.Object({ id: Type.String() }))

export const PullRequestAnswer = Type.Object({
  id: Type.Integer(),
  state: Type.Union([Type.Literal('OPEN'), Type.Literal('MERGED'), Type.Literal('DECLINED')]),
  draft: Type.Optional(Type.Boolean()),
  createdDate: Time,
  closedDate: Type.Optional(Time),
  fromRef: Type.Object({ latestCommit: Type.Optional(Sha) }),
  toRef: Type.Object({ id: Type.String(), repository: RepositoryAnswer }),
  properties: Type.Optional(Type.Object({ mergeCommit: Type.Optional(CommitAnswer) })),
})
export type PullRequestAnswer = Static<typeof PullRequestAnswer>

/** The answer with the activities of a pull request, newest first. */
export const ActivitiesAnswer = PageOf(Type.Object({ createdDate: Time, action: Type.String() }))

export const PullRequestsAnswer = PageOf(Type.Object({ id: Type.Integer() }))

export const BuildAnswer = Type.Object({
  key: Type.String(),
  name: orNull(Type.String()),
  state: Type.Union([
    Type.Literal('SUCCESSFUL'),
    Type.Literal('FAILED'),
    Type.Literal('INPROGRESS'),
    Type.Literal('CANCELLED'),
    Type.Literal('UNKNOWN'),
  ]),
})
export type BuildAnswer = Static<typeof BuildAnswer>

export const BuildsAnswer = PageOf(BuildAnswer)

export const RepositoriesAnswer = PageOf(Type.Object({}))
