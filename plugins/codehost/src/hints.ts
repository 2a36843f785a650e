/** The webhooks by which code hosts tell of changes, as hints. */
import type { HintSender } from '@claimcheck/core/plugin'

/** States of something that goes on: the end of it is told as well. */
const UNDER_WAY = ['queued', 'in_progress', 'requested', 'waiting', 'pending']

const WHERE = 'In the settings of the repository or the organization, under "Webhooks", add a webhook'

/** The parts that GitHub, Gitea and Forgejo have in common. */
const COMMON = {
  targets: ['{repository.full_name}'],
  params: {
    sha: ['sha', 'check_run.head_sha', 'check_suite.head_sha', 'workflow_run.head_sha', 'workflow_job.head_sha'],
    number: ['pull_request.number', 'issue.number'],
    tag: ['release.tag_name'],
  },
  skips: {
    state: UNDER_WAY,
    'check_run.status': UNDER_WAY,
    'check_suite.status': UNDER_WAY,
    'workflow_run.status': UNDER_WAY,
    'workflow_job.status': UNDER_WAY,
  },
} as const

export const githubHints: HintSender = {
  title: 'GitHub',
  help: `${WHERE} with the content type application/json. Choose the events of what agents claim: "Pushes"; "Pull requests"; "Check suites",
"Statuses" and "Workflow runs" for checks; "Releases"; "Issues". "Check runs" sends many more messages, of which few matter.`,
  proof: { header: 'x-hub-signature-256', by: 'hmac' },
  ...COMMON,
}

export const giteaHints: readonly HintSender[] = ['Gitea', 'Forgejo'].map((title) => ({
  title,
  help: `${WHERE} of the kind ${title}, with POST and application/json. Choose, under "Custom events", those of what agents claim: pushes, pull requests,
statuses and workflow runs for checks, releases, issues.`,
  proof: { header: `x-${title.toLowerCase()}-signature`, by: 'hmac' },
  ...COMMON,
}))

export const gitlabHints: HintSender = {
  title: 'GitLab',
  help: `In the settings of the project or the group, under "Webhooks", add a webhook with the secret as its secret token. Choose the events of what
agents claim: pushes, merge requests, pipelines for checks, releases, issues.`,
  proof: { header: 'x-gitlab-token', by: 'secret' },
  targets: ['{project.path_with_namespace}'],
  params: {
    // Those of a pipeline are its own number and the commit that it tests.
    sha: ['object_attributes.sha', 'sha'],
    number: ['object_attributes.iid'],
    tag: ['tag'],
  },
  skips: {
    'object_attributes.status': ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled'],
    build_status: ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled'],
  },
}

export const bitbucketHints: HintSender = {
  title: 'Bitbucket',
  help: `In the settings of the repository, under "Webhooks", add a webhook. Choose the triggers of what agents claim: pushes; pull requests that are
created, updated and merged; build statuses that are created and updated.`,
  proof: { header: 'x-hub-signature', by: 'hmac' },
  targets: ['{repository.full_name}'],
  params: { number: ['pullrequest.id'] },
  skips: { 'commit_status.state': ['INPROGRESS'] },
}

export const bitbucketServerHints: HintSender = {
  title: 'Bitbucket Data Center',
  help: `In the settings of the repository or the project, under "Webhooks", create a webhook. Choose the events of what agents claim: pushes; pull
requests that are opened, modified and merged.`,
  proof: { header: 'x-hub-signature', by: 'hmac' },
  targets: [
    '{repository.project.key}/{repository.slug}',
    '{pullRequest.toRef.repository.project.key}/{pullRequest.toRef.repository.slug}',
  ],
  params: { number: ['pullRequest.id'] },
}
