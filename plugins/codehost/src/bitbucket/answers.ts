/** Schemas of the parts of Bitbucket Cloud's answers that are used. An answer that does not match its schema is refused. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { RepositoryPath, Sha } from '../actions/fields.ts'
import { orNull } from '../rest.ts'

const Time = Type.String({ format: 'date-time' })
/** A commit's id, of which some answers have only the beginning. */
const Hash = Type.String({ pattern: '^[0-9a-f]{7,64}$' })

export const RepositoryName = Type.Object({
  uuid: Type.String({ pattern: '^\\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\}$' }),
  full_name: RepositoryPath,
})
export type RepositoryName = Static<typeof RepositoryName>

export const RepositoryAnswer = Type.Object({
  ...RepositoryName.properties,
  created_on: Time,
  mainbranch: orNull(Type.Object({ name: Type.String() })),
})

export const CommitAnswer = Type.Object({ hash: Sha })

export const CommitsAnswer = Type.Object({ values: Type.Array(CommitAnswer) })

export const BranchAnswer = Type.Object({
  name: Type.String(),
  target: Type.Object({ hash: Sha, repository: orNull(RepositoryName) }),
})

export const BranchesAnswer = Type.Object({
  values: Type.Array(Type.Object({ name: Type.String(), target: CommitAnswer })),
})

export const PullRequestAnswer = Type.Object({
  id: Type.Integer(),
  state: Type.Union([
    Type.Literal('OPEN'),
    Type.Literal('MERGED'),
    Type.Literal('DECLINED'),
    Type.Literal('SUPERSEDED'),
  ]),
  draft: Type.Optional(Type.Boolean()),
  created_on: Time,
  source: Type.Object({ commit: orNull(Type.Object({ hash: Hash })) }),
  destination: Type.Object({ branch: Type.Object({ name: Type.String() }), repository: RepositoryName }),
  merge_commit: orNull(Type.Object({ hash: Hash })),
})

export const PullRequestsAnswer = Type.Object({ values: Type.Array(Type.Object({ id: Type.Integer() })) })

export const HeadsAnswer = Type.Object({
  values: Type.Array(
    Type.Object({
      source: Type.Object({
        commit: orNull(Type.Object({ hash: Hash })),
        repository: orNull(Type.Object({ uuid: Type.String() })),
      }),
      destination: Type.Object({ repository: orNull(Type.Object({ uuid: Type.String() })) }),
    }),
  ),
})

/** Size of the pages of statuses and of pipelines. A larger one would cost more than the limits of pages allow. */
export const PAGE = 100

const page = { next: Type.Optional(Type.String()) }

export const ActivityAnswer = Type.Object({
  ...page,
  values: Type.Array(Type.Object({ update: Type.Optional(Type.Object({ state: Type.String(), date: Time })) })),
})

export const StatusesAnswer = Type.Object({
  ...page,
  values: Type.Array(
    Type.Object({
      key: Type.String(),
      name: orNull(Type.String()),
      url: orNull(Type.String()),
      state: Type.String(),
      created_on: Type.Optional(Time),
      updated_on: Type.Optional(Time),
    }),
    { maxItems: PAGE },
  ),
})
export type StatusAnswer = Static<typeof StatusesAnswer>['values'][number]

export const PipelinesAnswer = Type.Object({
  ...page,
  pagelen: Type.Integer({ minimum: 1 }),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
  values: Type.Array(
    Type.Object({
      build_number: Type.Integer(),
      /** The count of the runs under this build number, up to this one. Bitbucket does not document it. */
      run_number: Type.Optional(Type.Integer()),
      state: Type.Object({ name: Type.String(), result: orNull(Type.Object({ name: Type.String() })) }),
      created_on: Type.Optional(Time),
      /** The event that started the run: `PUSH`, `MANUAL`, `SCHEDULE`. */
      trigger: orNull(Type.Object({ type: Type.Optional(Type.String()), name: Type.Optional(Type.String()) })),
      /** The variables of this run alone. */
      variables: orNull(Type.Array(Type.Unknown())),
      target: Type.Object({
        ref_type: orNull(Type.String()),
        commit: orNull(Type.Object({ hash: Hash })),
        ref_name: orNull(Type.String()),
        // The next two members are of the run of a pull request.
        source: orNull(Type.String()),
        destination: orNull(Type.String()),
        selector: orNull(Type.Object({ type: Type.String(), pattern: orNull(Type.String()) })),
      }),
      completed_on: orNull(Time),
    }),
    { maxItems: PAGE },
  ),
})
export type Pipeline = Static<typeof PipelinesAnswer>['values'][number]
