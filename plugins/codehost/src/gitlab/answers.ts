/** Schemas of the parts of GitLab's answers that are used. An answer that does not match its schema is refused. */

import { type Static, Type } from '@claimcheck/core/plugin'
import { RepositoryPath, Sha } from '../actions/fields.ts'
import { nullable, orNull } from '../rest.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const Time = Type.String({ format: 'date-time' })
const Membership = Type.Optional(nullable(Type.Object({ access_level: Type.Integer() })))

export const ProjectAnswer = Type.Object({
  id: Id,
  path_with_namespace: RepositoryPath,
  created_at: Time,
  /** The default branch is shown to those alone who may read the code. */
  default_branch: orNull(Type.String()),
  issues_enabled: Type.Optional(Type.Boolean()),
  merge_requests_enabled: Type.Optional(Type.Boolean()),
  ci_config_path: orNull(Type.String()),
  /** A mirror follows another repository, whose pushes make no events of users here. */
  mirror: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ project_access: Membership, group_access: Membership })),
})

export const CommitAnswer = Type.Object({ id: Sha })

export const ParentsAnswer = Type.Object({ id: Sha, parent_ids: Type.Array(Sha) })

/** Merge requests that a commit came from, or is in. */
export const MergeRequestsOfAnswer = Type.Array(
  Type.Object({
    iid: Id,
    // Null where the fork was deleted.
    source_project_id: orNull(Id),
    target_project_id: Id,
    target_branch: Type.String(),
    state: Type.String(),
    sha: nullable(Sha),
    author: orNull(Type.Object({ id: Id })),
  }),
)
export type MergeRequestOf = Static<typeof MergeRequestsOfAnswer>[number]

export const MergedAnswer = Type.Array(
  Type.Object({
    sha: nullable(Sha),
    merged_at: orNull(Time),
    author: orNull(Type.Object({ id: Id })),
  }),
)

export const ProtectedBranchAnswer = Type.Object({ name: Type.String(), protected: Type.Boolean() })

/** The answer about a branch or a tag. */
export const RefAnswer = Type.Object({ name: Type.String(), commit: CommitAnswer })

export const TagsAnswer = Type.Array(RefAnswer)

/** The answer with the branches that have a commit. */
export const HoldersAnswer = Type.Array(Type.Object({ type: Type.Literal('branch'), name: Type.String() }))

export const EventsAnswer = Type.Array(
  Type.Object({
    created_at: Time,
    author_id: orNull(Type.Integer()),
    author_username: orNull(Type.String()),
    push_data: Type.Object({
      action: Type.Union([Type.Literal('created'), Type.Literal('pushed'), Type.Literal('removed')]),
      ref_type: Type.Union([Type.Literal('branch'), Type.Literal('tag')]),
      /** The ref is null, as the ids are, where several refs were pushed together in one event. */
      ref: nullable(Type.String()),
      commit_from: nullable(Sha),
      commit_to: nullable(Sha),
      commit_count: Type.Integer({ minimum: 0 }),
    }),
  }),
)
export type EventsAnswer = Static<typeof EventsAnswer>

export const MergeRequestAnswer = Type.Object({
  iid: Id,
  project_id: Id,
  target_project_id: Id,
  state: Type.Union([Type.Literal('opened'), Type.Literal('closed'), Type.Literal('locked'), Type.Literal('merged')]),
  draft: Type.Optional(Type.Boolean()),
  target_branch: Type.String(),
  sha: nullable(Sha),
  merge_commit_sha: nullable(Sha),
  squash_commit_sha: orNull(Sha),
  created_at: Time,
  merged_at: nullable(Time),
  updated_at: Type.Optional(Time),
  imported: Type.Optional(Type.Boolean()),
})
export type MergeRequestAnswer = Static<typeof MergeRequestAnswer>

export const IssueAnswer = Type.Object({
  iid: Id,
  project_id: Id,
  state: Type.Union([Type.Literal('opened'), Type.Literal('closed')]),
  moved_to_id: orNull(Id),
  _links: Type.Optional(Type.Object({ closed_as_duplicate_of: orNull(Type.String()) })),
})
export type IssueAnswer = Static<typeof IssueAnswer>

/** Changes of state, in the order of their ids. Their `created_at` follows the `updated_at` that owners may choose. */
export const StateEventsAnswer = Type.Array(Type.Object({ id: Id, created_at: Time, state: Type.String() }))

/** The versions of a merge request, newest first: one for each push to its branch, and for each change of its target. */
export const VersionsAnswer = Type.Array(Type.Object({ id: Id, created_at: Time, head_commit_sha: Sha }))

export const NotesAnswer = Type.Array(Type.Object({ system: Type.Boolean(), body: Type.String(), created_at: Time }))

/** The numbers of merge requests or issues. */
export const NumbersAnswer = Type.Array(
  Type.Object({ iid: Id, project_id: Id, state: orNull(Type.String()), sha: orNull(Type.String()) }),
)

export const PipelinesAnswer = Type.Array(
  Type.Object({
    id: Id,
    sha: Sha,
    ref: nullable(Type.String()),
    status: Type.String(),
    source: orNull(Type.String()),
    created_at: orNull(Time),
    updated_at: orNull(Time),
  }),
)
/** The variables of a pipeline, shown to those who started it and to maintainers. */
export const VariablesAnswer = Type.Array(Type.Object({ key: Type.String() }))

export type PipelineAnswer = Static<typeof PipelinesAnswer>[number]

/** The jobs of a pipeline, also those that start other pipelines. */
export const JobsAnswer = Type.Array(
  Type.Object({
    id: Id,
    name: Type.String(),
    status: Type.String(),
    allow_failure: Type.Boolean(),
    finished_at: orNull(Time),
    tag: Type.Optional(Type.Boolean()),
    /** The account that started the job's pipeline, or the job alone. */
    user: orNull(Type.Object({ id: Id })),
    pipeline: Type.Object({ id: Id }),
  }),
)
export type JobAnswer = Static<typeof JobsAnswer>[number]

export const StatusesAnswer = Type.Array(
  Type.Object({
    id: Id,
    sha: Sha,
    ref: nullable(Type.String()),
    name: Type.String(),
    status: Type.String(),
    allow_failure: Type.Boolean(),
    created_at: orNull(Time),
    author: nullable(Type.Object({ id: Id, username: Type.String() })),
  }),
)
export type StatusAnswer = Static<typeof StatusesAnswer>[number]

export const ReleaseAnswer = Type.Object({
  tag_name: Type.String(),
  created_at: Time,
  released_at: nullable(Time),
  upcoming_release: Type.Optional(Type.Boolean()),
  assets: Type.Object({
    links: Type.Array(
      Type.Object({ name: Type.String(), url: Type.Optional(Type.String()), direct_asset_url: orNull(Type.String()) }),
    ),
  }),
})

export const TokenAnswer = Type.Object({
  scopes: Type.Array(Type.String()),
  expires_at: orNull(Type.String()),
})
export const AnyListAnswer = Type.Array(Type.Unknown())
export const AnyAnswer = Type.Object({})
