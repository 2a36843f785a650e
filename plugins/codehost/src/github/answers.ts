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

export const ParentsAnswer = Type.Object({ sha: Sha, parents: Type.Array(Type.Object({ sha: Sha })) })

/** GitHub's own clock, in whole seconds. */
const Time = Type.String({ format: 'date-time' })
const Id = Type.Integer({ minimum: 1 })

export const PullRequestAnswer = Type.Object({
  number: Id,
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  draft: Type.Optional(Type.Boolean()),
  merged: Type.Boolean(),
  created_at: Time,
  merged_at: Type.Union([Time, Type.Null()]),
  closed_at: Type.Union([Time, Type.Null()]),
  // Of one that is not merged: a throw-away merge that no branch has.
  merge_commit_sha: Type.Union([Sha, Type.Null()]),
  head: Type.Object({
    sha: Sha,
    ref: Type.Optional(Type.String()),
    // Null where the fork was deleted.
    repo: Type.Optional(Type.Union([Type.Object({ id: Id, full_name: RepositoryPath }), Type.Null()])),
  }),
  base: Type.Object({ ref: Type.String(), repo: Type.Object({ id: Id }) }),
})
export type PullRequestAnswer = Static<typeof PullRequestAnswer>

/** Of a list of pull requests or of issues, among which GitHub counts pull requests. */
export const NumbersAnswer = Type.Array(
  Type.Object({ number: Id, pull_request: Type.Optional(Type.Union([Type.Object({}), Type.Null()])) }),
)

export const IssueAnswer = Type.Object({
  number: Id,
  repository_url: Type.String(),
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  state_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  closed_at: Type.Union([Time, Type.Null()]),
  pull_request: Type.Optional(Type.Union([Type.Object({}), Type.Null()])),
})
export type IssueAnswer = Static<typeof IssueAnswer>

/** Oldest first. Of pull requests, too. */
export const IssueEventsAnswer = Type.Array(
  Type.Object({
    event: Type.String(),
    created_at: Time,
    /** Of a closing; null also for one as `completed`. */
    state_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
)
export type IssueEvent = Static<typeof IssueEventsAnswer>[number]

export const ReleaseAnswer = Type.Object({
  id: Id,
  tag_name: Type.String(),
  draft: Type.Boolean(),
  prerelease: Type.Boolean(),
  published_at: Type.Union([Time, Type.Null()]),
  assets: Type.Array(Type.Object({ name: Type.String(), state: Type.String() })),
})
export type ReleaseAnswer = Static<typeof ReleaseAnswer>

export const AssetsAnswer = Type.Array(Type.Object({ name: Type.String(), state: Type.String() }))

export const ReleasesAnswer = Type.Array(Type.Object({ tag_name: Type.String(), draft: Type.Boolean() }))

export const TagAnswer = Type.Object({ object: Type.Object({ type: Type.String(), sha: Sha }) })

const AnyName = Type.Optional(Type.Unknown())

const App = Type.Union([Type.Object({ id: Type.Optional(Id), slug: Type.Optional(Type.String()) }), Type.Null()])

export const CheckRun = Type.Object({
  id: Id,
  name: Type.String(),
  head_sha: Sha,
  status: Type.String(),
  conclusion: Type.Union([Type.String(), Type.Null()]),
  details_url: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  check_suite: Type.Union([Type.Object({ id: Id }), Type.Null()]),
  app: App,
})
export type CheckRun = Static<typeof CheckRun>

/** An entry of another form matters only where its name does. */
export const CheckRunsAnswer = Type.Object({
  check_runs: Type.Array(Type.Union([CheckRun, Type.Object({ name: AnyName })])),
})

export const CheckSuitesAnswer = Type.Object({
  check_suites: Type.Array(
    Type.Object({
      id: Id,
      head_sha: Sha,
      status: Type.Union([Type.String(), Type.Null()]),
      latest_check_runs_count: Type.Optional(Type.Integer({ minimum: 0 })),
      app: App,
      created_at: Type.Union([Time, Type.Null()]),
      updated_at: Type.Union([Time, Type.Null()]),
    }),
  ),
})
export type CheckSuite = Static<typeof CheckSuitesAnswer>['check_suites'][number]

export const WorkflowRunsAnswer = Type.Object({
  workflow_runs: Type.Array(
    Type.Object({
      id: Id,
      path: Type.String(),
      event: Type.String(),
      head_sha: Sha,
      status: Type.Union([Type.String(), Type.Null()]),
      conclusion: Type.Union([Type.String(), Type.Null()]),
      check_suite_id: Type.Optional(Id),
      run_attempt: Type.Optional(Type.Integer({ minimum: 1 })),
      updated_at: Time,
      repository: Type.Object({ id: Id }),
      pull_requests: Type.Optional(Type.Union([Type.Null(), Type.Array(Type.Object({ number: Id }))])),
    }),
  ),
})
export type WorkflowRun = Static<typeof WorkflowRunsAnswer>['workflow_runs'][number]

export const Job = Type.Object({
  id: Id,
  run_id: Id,
  run_attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  head_sha: Sha,
  name: Type.String(),
  status: Type.String(),
  conclusion: Type.Union([Type.String(), Type.Null()]),
})
export type Job = Static<typeof Job>

/** As of check runs. */
export const JobsAnswer = Type.Object({ jobs: Type.Array(Type.Union([Job, Type.Object({ name: AnyName })])) })

export const PostedStatus = Type.Object({
  id: Id,
  state: Type.Union([Type.Literal('pending'), Type.Literal('success'), Type.Literal('failure'), Type.Literal('error')]),
  context: Type.String(),
  created_at: Type.Optional(Time),
  creator: Type.Optional(Type.Union([Type.Object({ login: Type.String(), id: Id }), Type.Null()])),
})
export type PostedStatus = Static<typeof PostedStatus>

/** Newest first. As of check runs. */
export const StatusesAnswer = Type.Array(Type.Union([PostedStatus, Type.Object({ context: AnyName })]))

export const RateLimitAnswer = Type.Object({ resources: Type.Object({}) })

export const FailureAnswer = Type.Object({ message: Type.String() })
