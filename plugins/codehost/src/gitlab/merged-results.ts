/**
 * Reads the pipelines that ran for the merge of a commit with the target of its merge request: GitLab lists them with the merge request, by the id
 * of the merge.
 */
import { unexpectedAnswer } from '../rest.ts'
import { type MergeRequestOf, MergeRequestsOfAnswer, PipelinesAnswer, ProtectedBranchAnswer } from './answers.ts'
import { type Pipeline, toPipeline } from './pipelines.ts'
import type { Project } from './project.ts'

const MOST_REQUESTS = 3

/** Reads the merge requests whose newest commit this is; none where they may not be read. */
export async function mergeRequestsOf({ api, id, path }: Project, sha: string): Promise<readonly MergeRequestOf[]> {
  const list = `${path}/repository/commits/${sha}/merge_requests?per_page=20`
  const { value } = await api.find(list, MergeRequestsOfAnswer, [401, 403, 404])
  return (value ?? []).filter((one) => one.sha === sha && one.target_project_id === id).slice(0, MOST_REQUESTS)
}

/** Tells whether a merge request comes from a fork, for which GitLab runs the fork's pipelines. */
export function isOfFork({ source_project_id: from, target_project_id }: MergeRequestOf): boolean {
  return from !== undefined && from !== target_project_id
}

/**
 * Reads the pipelines of merges, newest first. Only merges that have the commit as parent, into a protected branch, count: other pipelines run what
 * anybody wrote there.
 */
export async function mergedResults(
  project: Project,
  { sha, mergeRequests }: { readonly sha: string; readonly mergeRequests: readonly MergeRequestOf[] },
): Promise<readonly Pipeline[]> {
  const found: Pipeline[] = []
  for (const { iid, target_branch } of mergeRequests) {
    const list = `${project.path}/merge_requests/${iid}/pipelines?per_page=100`
    const { value = [] } = await project.api.find(list, PipelinesAnswer, [401, 403, 404])
    const ref = `refs/merge-requests/${iid}/merge`
    const merged = value.map(toPipeline).filter((one) => one.sha !== sha && one.ref === ref)
    if (merged.length === 0 || !(await isProtected(project, target_branch))) continue
    for (const pipeline of merged) {
      if ((await project.repository.parents(pipeline.sha)).includes(sha)) found.push(pipeline)
    }
  }
  return found.sort((one, other) => other.id - one.id)
}

async function isProtected({ api, path }: Project, branch: string): Promise<boolean> {
  const { value } = await api.find(`${path}/repository/branches/${encodeURIComponent(branch)}`, ProtectedBranchAnswer)
  if (value && value.name !== branch) throw unexpectedAnswer()
  return value?.protected === true
}
