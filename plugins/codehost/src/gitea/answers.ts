/** Schemas of the parts of Gitea's and Forgejo's answers that are used. An answer that does not match its schema is refused. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { BranchName, RepositoryPath, Sha } from '../actions/fields.ts'
import { orNull } from '../rest.ts'

const Time = Type.String({ format: 'date-time' })
const Id = Type.Integer({ minimum: 1 })

export const RepositoryAnswer = Type.Object({
  id: Id,
  full_name: RepositoryPath,
  created_at: Time,
  /** The address that the repository was taken over from, with the times that place gave; empty if it was made here. */
  original_url: Type.Optional(Type.String()),
  allow_manual_merge: Type.Optional(Type.Boolean()),
  default_branch: Type.Optional(Type.String()),
})

export const BranchAnswer = Type.Object({ name: Type.String(), commit: Type.Object({ id: Sha }) })
export const BranchesAnswer = Type.Array(BranchAnswer)

/** A commit, with the accounts that have the addresses of its author and committer. */
export const CommitAnswer = Type.Object({
  sha: Sha,
  author: Type.Optional(Type.Unknown()),
  committer: Type.Optional(Type.Unknown()),
})
export const CommitsAnswer = Type.Array(CommitAnswer)

/** A commit with its content: the id of its tree stands for all files. */
export const TreeOfCommitAnswer = Type.Object({
  sha: Sha,
  commit: Type.Object({ tree: Type.Object({ sha: Sha }) }),
})

const Account = orNull(Type.Object({ id: Type.Integer(), login: Type.String() }))
export const AccountAnswer = Type.Object({ id: Id, login: Type.String() })

export const ActivitiesAnswer = Type.Array(
  Type.Object({
    repo_id: Type.Integer(),
    op_type: Type.String(),
    ref_name: Type.String(),
    content: Type.String(),
    created: Time,
    act_user: Account,
  }),
)
export type Activity = Static<typeof ActivitiesAnswer>[number]

/** The push that an activity has in its `content`, as JSON in a string. */
export const PushContent = Type.Object({
  HeadCommit: Type.Object({ Sha1: Sha }),
  Commits: Type.Union([Type.Null(), Type.Array(Type.Object({ Sha1: Sha }))]),
  CompareURL: Type.String(),
})

const Side = { ref: Type.String(), repo_id: Type.Integer() }

export const PullRequestAnswer = Type.Object({
  number: Id,
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  merged: Type.Boolean(),
  draft: Type.Optional(Type.Boolean()),
  base: Type.Object({ ...Side, ref: BranchName }),
  /** The commit's id is empty where the commit is gone. */
  head: Type.Object({ ...Side, label: Type.Optional(Type.String()), sha: Type.Union([Sha, Type.Literal('')]) }),
  created_at: Time,
  closed_at: orNull(Time),
  merged_at: orNull(Time),
  merge_commit_sha: orNull(Type.Union([Sha, Type.Literal('')])),
})
export type PullRequestAnswer = Static<typeof PullRequestAnswer>

/** The heads of pull requests, with their authors. */
export const HeadsAnswer = Type.Array(
  Type.Object({
    head: Type.Object({ sha: Type.String(), repo_id: Type.Optional(Type.Integer()) }),
    merged_at: orNull(Time),
    user: orNull(Type.Object({ id: Type.Integer() })),
  }),
)

export const NumbersAnswer = Type.Array(Type.Object({ number: Id }))

/** The timeline of an issue or a pull request, oldest first, comments and changes together. */
export const TimelineAnswer = Type.Union([
  Type.Null(),
  Type.Array(
    Type.Object({
      id: Type.Integer(),
      type: Type.String(),
      created_at: Type.String(),
      /** The names of the branches before and after a change of the target. */
      old_ref: Type.Optional(Type.String()),
      new_ref: Type.Optional(Type.String()),
    }),
  ),
])
export type TimelineEntry = NonNullable<Static<typeof TimelineAnswer>>[number]

export const IssueAnswer = Type.Object({
  number: Id,
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  repository: Type.Object({ id: Type.Integer() }),
  /** The member is present for a pull request, which is an issue at these hosts, too. */
  pull_request: orNull(Type.Object({})),
})
export const IssuesAnswer = Type.Array(IssueAnswer)

export const StatusesAnswer = Type.Array(
  Type.Object({
    /** The ids of statuses are in the order in which the commit got them. */
    id: Id,
    context: Type.String({ maxLength: 1024 }),
    status: Type.String(),
    description: Type.String(),
    target_url: Type.String(),
    url: Type.String(),
    created_at: Time,
    /** The creator is null for what the host's own runner posts, and for what an account posted that is gone. */
    creator: Account,
  }),
)
export type StatusAnswer = Static<typeof StatusesAnswer>[number]

/** The runs of a commit: as Gitea has them, or Forgejo (`commit_sha`, `workflow_id`, `trigger_event`, `prettyref`). */
export const RunsAnswer = Type.Object({
  total_count: Type.Optional(Type.Integer({ minimum: 0 })),
  workflow_runs: orNull(
    Type.Array(
      Type.Object({
        id: Id,
        head_sha: Type.Optional(Type.String()),
        commit_sha: Type.Optional(Type.String()),
        path: Type.Optional(Type.String()),
        workflow_id: Type.Optional(Type.String()),
        event: Type.String(),
        trigger_event: Type.Optional(Type.String()),
        prettyref: Type.Optional(Type.String()),
        head_branch: orNull(Type.String()),
        status: Type.String(),
        conclusion: orNull(Type.String()),
        run_attempt: Type.Optional(Type.Integer()),
        started_at: orNull(Type.String()),
        completed_at: orNull(Type.String()),
        created: orNull(Type.String()),
        stopped: orNull(Type.String()),
        updated: orNull(Type.String()),
        html_url: Type.Optional(Type.String()),
        repository: orNull(Type.Object({ id: Type.Integer() })),
        actor: Type.Optional(Account),
        trigger_user: Type.Optional(Account),
      }),
    ),
  ),
})
export type RunAnswer = NonNullable<Static<typeof RunsAnswer>['workflow_runs']>[number]

const Job = Type.Object({
  id: Id,
  name: Type.String(),
  status: Type.String(),
  conclusion: orNull(Type.String()),
  run_id: Type.Optional(Type.Integer()),
})
export type JobAnswer = Static<typeof Job>
/** The jobs of a run. Forgejo's answer is the list alone. */
export const JobsAnswer = Type.Union([
  Type.Array(Job),
  Type.Object({ total_count: Type.Optional(Type.Integer({ minimum: 0 })), jobs: orNull(Type.Array(Job)) }),
])

/** The jobs that runners have taken: in older versions nothing else is listed of jobs. */
export const TasksAnswer = Type.Object({
  total_count: Type.Optional(Type.Integer({ minimum: 0 })),
  workflow_runs: orNull(
    Type.Array(
      Type.Object({
        id: Id,
        name: Type.String(),
        head_sha: Type.String(),
        head_branch: Type.Optional(Type.String()),
        run_number: Type.Integer(),
        event: Type.String(),
        status: Type.String(),
        workflow_id: Type.String(),
        url: Type.Optional(Type.String()),
      }),
    ),
  ),
})
export type TaskAnswer = NonNullable<Static<typeof TasksAnswer>['workflow_runs']>[number]

export const ReleaseAnswer = Type.Object({
  tag_name: Type.String(),
  draft: Type.Boolean(),
  prerelease: Type.Boolean(),
  created_at: Time,
  published_at: orNull(Time),
  assets: orNull(Type.Array(Type.Object({ name: Type.String() }))),
})
export const ReleasesAnswer = Type.Array(Type.Object({ tag_name: Type.String(), draft: Type.Boolean() }))

export const TagAnswer = Type.Object({ name: Type.String(), commit: Type.Object({ sha: Sha }) })

export const VersionAnswer = Type.Object({ version: Type.String() })
export const UserAnswer = Type.Object({ login: Type.String() })
export const FailureAnswer = Type.Object({ message: Type.String() })
