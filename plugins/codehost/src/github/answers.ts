/** Schemas of the parts of GitHub's answers that are used. An answer that does not match its schema is refused. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { RepositoryPath, Sha } from '../actions/fields.ts'
import { nullable, orNull } from '../rest.ts'

const Text = Type.String()
/** A time by GitHub's own clock, in whole seconds. */
const Time = Type.String({ format: 'date-time' })
const Id = Type.Integer({ minimum: 1 })
/** A thing, of which only the id is used. */
const Identified = Type.Object({ id: Id })

export const RepositoryAnswer = Type.Object({
  id: Id,
  full_name: RepositoryPath,
  private: Type.Boolean(),
  default_branch: Text,
  created_at: Time,
})

export const TagAnswer = Type.Object({ object: Type.Object({ type: Text, sha: Sha }) })

export const RefAnswer = Type.Object({ ref: Text, ...TagAnswer.properties })

export const CommitAnswer = Type.Object({ sha: Sha })

export const ComparisonAnswer = Type.Object({
  status: Type.Enum(['ahead', 'behind', 'diverged', 'identical']),
  merge_base_commit: CommitAnswer,
})

export const ActivityAnswer = Type.Array(
  Type.Object({
    before: Sha,
    after: Sha,
    ref: Text,
    timestamp: Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d)$',
    }),
    activity_type: Text,
    actor: orNull(Type.Object({ login: Text })),
  }),
)
export type ActivityAnswer = Static<typeof ActivityAnswer>

export const BranchesAnswer = Type.Array(Type.Object({ name: Text, commit: CommitAnswer }))

const Account = Type.Object({ login: Text, id: Id })

/** The account of whoever wrote a commit; empty where no account has that address. */
const Person = orNull(Type.Object({ login: Type.Optional(Text), id: Type.Optional(Id) }))

/** A commit, alone or in a list. */
export const AuthoredCommitAnswer = Type.Object({
  sha: Sha,
  commit: Type.Optional(Type.Object({ message: Text })),
  author: Person,
  committer: Person,
})
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
      ref: Type.Optional(Text),
      // Null where the fork was deleted.
      repo: orNull(Identified),
    }),
    base: Type.Object({ ref: Text }),
  }),
)
export type ListedPull = Static<typeof PullsAnswer>[number]

export const PullRequestAnswer = Type.Object({
  number: Id,
  state: Type.Enum(['open', 'closed']),
  draft: Type.Optional(Type.Boolean()),
  merged: Type.Boolean(),
  created_at: Time,
  merged_at: nullable(Time),
  closed_at: nullable(Time),
  // The commit of a pull request that is not merged is a throw-away merge that no branch has.
  merge_commit_sha: nullable(Sha),
  head: Type.Object({
    sha: Sha,
    ref: Type.Optional(Text),
    // The repository is null where the fork was deleted.
    repo: orNull(Type.Object({ id: Id, full_name: RepositoryPath })),
  }),
  base: Type.Object({ ref: Text, repo: Identified }),
})
export type PullRequestAnswer = Static<typeof PullRequestAnswer>

/** The numbers of a list of pull requests or of issues, among which GitHub counts pull requests. */
export const NumbersAnswer = Type.Array(Type.Object({ number: Id, pull_request: orNull(Type.Object({})) }))

export const IssueAnswer = Type.Object({
  number: Id,
  repository_url: Text,
  state: Type.Enum(['open', 'closed']),
  state_reason: orNull(Text),
  closed_at: nullable(Time),
  pull_request: orNull(Type.Object({})),
})
export type IssueAnswer = Static<typeof IssueAnswer>

/** The events of an issue or a pull request, oldest first. */
export const IssueEventsAnswer = Type.Array(
  Type.Object({
    event: Text,
    created_at: Time,
    /** The reason of a closing; null also for a closing as `completed`. */
    state_reason: orNull(Text),
    /** The base or the head before a change. The list of events does not tell it, the timeline does. */
    before: Type.Optional(Text),
  }),
)
export type IssueEvent = Static<typeof IssueEventsAnswer>[number]

export const AssetsAnswer = Type.Array(Type.Object({ name: Text, state: Text }))

export const ReleaseAnswer = Type.Object({
  id: Id,
  tag_name: Text,
  draft: Type.Boolean(),
  prerelease: Type.Boolean(),
  published_at: nullable(Time),
  assets: AssetsAnswer,
})

export const ReleasesAnswer = Type.Array(Type.Object({ tag_name: Text, draft: Type.Boolean() }))

export const TagsAnswer = Type.Array(Type.Object({ name: Text, commit: CommitAnswer }))

const AnyName = Type.Optional(Type.Unknown())

const App = nullable(Type.Object({ id: Type.Optional(Id), slug: Type.Optional(Text) }))

export const CheckRun = Type.Object({
  id: Id,
  name: Text,
  head_sha: Sha,
  status: Text,
  conclusion: nullable(Text),
  details_url: orNull(Text),
  check_suite: nullable(Identified),
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
      status: nullable(Text),
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
      path: Text,
      event: Text,
      head_sha: Sha,
      status: nullable(Text),
      conclusion: nullable(Text),
      check_suite_id: Type.Optional(Id),
      run_attempt: Type.Optional(Type.Integer({ minimum: 1 })),
      created_at: Type.Optional(Time),
      updated_at: Time,
      repository: Identified,
      // The ref of a run is the tag's name for a push of it, and null for what no ref started.
      head_branch: orNull(Text),
      head_repository: orNull(Identified),
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
  name: Text,
  status: Text,
  conclusion: nullable(Text),
})
export type Job = Static<typeof Job>

/** The jobs of a run. An entry of another form matters only where its name does. */
export const JobsAnswer = Type.Object({ jobs: Type.Array(Type.Union([Job, Type.Object({ name: AnyName })])) })

export const PostedStatus = Type.Object({
  id: Id,
  state: Type.Enum(['pending', 'success', 'failure', 'error']),
  context: Text,
  created_at: Type.Optional(Time),
  creator: orNull(Account),
})
export type PostedStatus = Static<typeof PostedStatus>

/** The statuses of a commit, newest first. An entry of another form matters only where its name does. */
export const StatusesAnswer = Type.Array(Type.Union([PostedStatus, Type.Object({ context: AnyName })]))

export const RateLimitAnswer = Type.Object({ resources: Type.Object({}) })

export const FailureAnswer = Type.Object({ message: Text })
