/** Reads the git repository of a project at GitLab. Each question has the one endpoint whose answer is reliable for it. */

import type { CheckContext } from '@claimcheck/core/plugin'
import { isReachable } from '../ancestry.ts'
import { unexpectedAnswer } from '../rest.ts'
import { CommitAnswer, HoldersAnswer, ParentsAnswer, RefAnswer } from './answers.ts'
import type { GitLabApi } from './api.ts'
import type { Project } from './project.ts'

export type Repository = ReturnType<typeof openRepository>

export function openRepository(api: GitLabApi, { id, path }: Project, { cache }: Pick<CheckContext, 'cache'>) {
  const root = `${path}/repository`

  async function tipOf(kind: 'branches' | 'tags', name: string): Promise<string | undefined> {
    const { value: ref } = await api.find(`${root}/${kind}/${encodeURIComponent(name)}`, RefAnswer)
    if (ref && ref.name !== name) throw unexpectedAnswer()
    return ref?.commit.id
  }

  return {
    /** Reads the tip of a branch; undefined when there is no such branch. */
    head: (branch: string) => cache.share(`gitlab ${id} branch ${branch}`, () => tipOf('branches', branch)),
    /** Reads the commit to which a tag leads; undefined when there is no such tag. */
    tagged: (tag: string) => cache.share(`gitlab ${id} tag ${tag}`, () => tipOf('tags', tag)),
    /** Tells whether `sha` is `tip` or one of its ancestors; undefined when GitLab lacks one of them, or they have no common history. */
    contains: (sha: string, tip: string) =>
      isReachable(sha, tip, cache, async () => {
        const refs = new URLSearchParams([
          ['refs[]', sha],
          ['refs[]', tip],
        ])
        // A 400 means that GitLab does not know one of the commits, and a 404 that they have nothing in common.
        const { value: base } = await api.find(`${root}/merge_base?${refs}`, CommitAnswer, [400, 404])
        return base && base.id === sha
      }),
    /** Tells whether GitLab has a commit. `false` is certain. `true` does not mean that the commit was pushed to this project: forks share objects. */
    async knows(sha: string): Promise<boolean> {
      const { value: commit } = await api.find(`${root}/commits/${sha}`, CommitAnswer)
      if (commit && commit.id !== sha) throw unexpectedAnswer()
      return commit !== undefined
    },
    /** Tells whether GitLab names a commit for the ref that it makes with a merge request, and removes long after that is closed. */
    async keepsMergeRequest(number: number): Promise<boolean> {
      const ref = encodeURIComponent(`refs/merge-requests/${number}/head`)
      return (await api.find(`${root}/commits/${ref}`, CommitAnswer)).value !== undefined
    },
    /** Reads the parents of a commit; none for one that GitLab does not know. */
    async parents(sha: string): Promise<readonly string[]> {
      const { value } = await api.find(`${root}/commits/${sha}`, ParentsAnswer)
      return value?.parent_ids ?? []
    },
    /** Finds branches that have the commit, some of them where there are many; undefined when GitLab does not know the commit. */
    async branchesWith(sha: string): Promise<readonly string[] | undefined> {
      const { value } = await api.find(`${root}/commits/${sha}/refs?type=branch&per_page=100`, HoldersAnswer)
      return value?.map(({ name }) => name)
    },
  }
}
