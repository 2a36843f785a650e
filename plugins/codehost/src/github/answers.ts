/** Schemas of the parts of GitHub's answers that are used. An answer that does not match its schema is refused. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { RepositoryPath, Sha } from '../actions/fields.ts'
import { nullable, orNull } from '../rest.ts'

export const RepositoryAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  full_name: RepositoryPath,
  private: Type.Boolean(),
  default_branch: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})

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
    actor: orNull(Type.Object({ login: Type.String() })),
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

/** A time by GitHub's own clock, in whole seconds. */
const Time = Type.String({ format: 'date-time' })
const Id = Type.Integer({ minimum: 1 })
const Account = Type.Object({ login: Type.String(), id: Id })

/** The account of whoever wrote a commit; empty where no account has that address. */
const Person = orNull(Type.Object({ login: Type.Optional(Type.String()), id: Type.Optional(Id) }))

/** A commit, alone or in a list. */
export const AuthoredCommitAnswer = Type.Object({ sha: Sha, author: Person, committer: Person })
/** The commits of a list, newest first by the dates that their authors gave them. */
export const CommitsAnswer = Type.Array(AuthoredCommitAnswer)

/** Pull requests of a list. */
export const PullsAnswer = Type.Array(
  Type.Object({
    number: Id,
    created_at: Type.Optional(Time),
    closed_at: orNull(Time),
    merged_at: orNull(Time),
    user: orNull(Account),
    head: Type.Object({
      sha: Sha,
      ref: Type.Optional(Type.String()),
      // Null where the fork was deleted.
      repo: orNull(Type.Object({ id: Id })),
    }),
    base: Type.Object({ ref: Type.String() }),
  }),
)
export type ListedPull = Static<typeof PullsAnswer>[number]

export const PullRequestAnswer = Type.Object({
  number: Id,
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  draft: Type.Optional(Type.Boolean()),
  merged: Type.Boolean(),
  created_at: Time,
  merged_at: nullable(Time),
  closed_at: nullable(Time),
  // The commit of a pull request that is not merged is a throw-away merge that no branch has.
  merge_commit_sha: nullable(Sha),
  head: Type.Object({
    sha: Sha,
    ref: Type.Optional(Type.String()),
    // The repository is null where the fork was deleted.
    repo: orNull(Type.Object({ id: Id, full_name: RepositoryPath })),
  }),
  base: Type.Object({ ref: Type.String(), repo: Type.Object({ id: Id }) }),
})
export type PullRequestAnswer = Static<typeof PullRequestAnswer>

/** The numbers of a list of pull requests or of issues, among which GitHub counts pull requests. */
export const NumbersAnswer = Type.Array(Type.Object({ number: Id, pull_request: orNull(Type.Object({})) }))

export const IssueAnswer = Type.Object({
  number: Id,
  repository_url: Type.String(),
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  state_reason: orNull(Type.String()),
  closed_at: nullable(Time),
  pull_request: orNull(Type.Object({})),
})
export type IssueAnswer = Static<typeof IssueAnswer>

/** The events of an issue or a pull request, oldest first. */
export const IssueEventsAnswer = Type.Array(
  Type.Object({
    event: Type.String(),
    created_at: Time,
    /** The reason of a closing; null also for a closing as `completed`. */
    state_reason: orNull(Type.String()),
    /** The base or the head before a change. The list of events does not tell it, the timeline does. */
    before: Type.Optional(Type.String()),
  }),
)
export type IssueEvent = Static<typeof IssueEventsAnswer>[number]

export const ReleaseAnswer = Type.Object({
  id: Id,
  tag_name: Type.String(),
  draft: Type.Boolean(),
  prerelease: Type.Boolean(),
  published_at: nullable(Time),
  assets: Type.Array(Type.Object({ name: Type.String(), state: Type.String() })),
})

export const AssetsAnswer = Type.Array(Type.Object({ name: Type.String(), state: Type.String() }))

export const ReleasesAnswer = Type.Array(Type.Object({ tag_name: Type.String(), draft: Type.Boolean() }))

export const TagAnswer = Type.Object({ object: Type.Object({ type: Type.String(), sha: Sha }) })

const AnyName = Type.Optional(Type.Unknown())

const App = nullable(Type.Object({ id: Type.Optional(Id), slug: Type.Optional(Type.String()) }))

export const CheckRun = Type.Object({
  id: Id,
  name: Type.String(),
  head_sha: Sha,
  status: Type.String(),
  conclusion: nullable(Type.String()),
  details_url: orNull(Type.String()),
  check_suite: nullable(Type.Object({ id: Id })),
  app: App,
})
export type CheckRun = Static<typeof CheckRun>

/** The check runs of a commit. An entry of another form matters only where its name does. */
export const CheckRunsAnswer = Type.Object({
  check_runs: Type.Array(Type.Union([CheckRun, Type.Object({ name: AnyName })])),
})

export const CheckSuitesAnswer = Type.Object({
  check_suites: Type.Array(
    Type.Object({
      id: Id,
      head_sha: Sha,
      status: nullable(Type.String()),
      latest_check_runs_count: Type.Optional(Type.Integer({ minimum: 0 })),
      app: App,
      created_at: nullable(Time),
      updated_at: nullable(Time),
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
      status: nullable(Type.String()),
      conclusion: nullable(Type.String()),
      check_suite_id: Type.Optional(Id),
      run_attempt: Type.Optional(Type.Integer({ minimum: 1 })),
      created_at: Type.Optional(Time),
      updated_at: Time,
      repository: Type.Object({ id: Id }),
      // The ref of a run is the tag's name for a push of it, and null for what no ref started.
      head_branch: orNull(Type.String()),
      head_repository: orNull(Type.Object({ id: Id })),
      actor: orNull(Account),
      pull_requests: orNull(Type.Array(Type.Object({ number: Id }))),
    }),
  ),
  total_count: Type.Optional(Type.Integer({ minimum: 0 })),
})
export type WorkflowRun = Static<typeof WorkflowRunsAnswer>['workflow_runs'][number]

export const Job = Type.Object({
  id: Id,
  run_id: Id,
  run_attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  head_sha: Sha,
  name: Type.String(),
  status: Type.String(),
  conclusion: nullable(Type.String()),
})
export type Job = Static<typeof Job>

/** The jobs of a run. An entry of another form matters only where its name does. */
export const JobsAnswer = Type.Object({ jobs: Type.Array(Type.Union([Job, Type.Object({ name: AnyName })])) })

export const PostedStatus = Type.Object({
  id: Id,
  state: Type.Union([Type.Literal('pending'), Type.Literal('success'), Type.Literal('failure'), Type.Literal('error')]),
  context: Type.String(),
  created_at: Type.Optional(Time),
  creator: orNull(Account),
})
export type PostedStatus = Static<typeof PostedStatus>

/** The statuses of a commit, newest first. An entry of another form matters only where its name does. */
export const StatusesAnswer = Type.Array(Type.Union([PostedStatus, Type.Object({ context: AnyName })]))

export const RateLimitAnswer = Type.Object({ resources: Type.Object({}) })

export const FailureAnswer = Type.Object({ message: Type.String() })
