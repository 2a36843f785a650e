/**
 * What a merge request's system notes tell of its target: GitLab writes one for each change, also of one that is closed or merged, which makes no
 * new version. Nobody can write or date such a note.
 */
import type { LogTime } from '@claimcheck/core/plugin'
import { isDestinationError } from '@claimcheck/core/plugin'
import { defined } from '../defined.ts'
import { notAfter } from '../times.ts'
import { NotesAnswer } from './answers.ts'
import type { GitLabApi } from './api.ts'

export interface TargetChange {
  readonly at: LogTime
  /** The branches; absent where the note cannot be understood. */
  readonly from?: string
  readonly to?: string
}

const PAGE = { size: 100, most: 10 }
const ABOUT_TARGET = /^changed target branch|now targets the/
const CHANGES = [
  /^changed target branch from `(.+)` to `(.+)`$/,
  /^deleted the `(.+)` branch\. This merge request now targets the `(.+)` branch/,
]

/**
 * Newest first.
 * @param mergeRequest its path
 * @param reachingBackTo by GitLab's clock: older ones are not needed
 * @returns undefined where they may not be read, or are too many
 */
export async function readTargetChanges(
  api: GitLabApi,
  mergeRequest: string,
  reachingBackTo = Number.NEGATIVE_INFINITY,
): Promise<readonly TargetChange[] | undefined> {
  const changes: TargetChange[] = []
  try {
    for await (const notes of api.pages(`${mergeRequest}/notes?sort=desc&order_by=created_at`, NotesAnswer, PAGE)) {
      changes.push(...notes.filter(({ system, body }) => system && ABOUT_TARGET.test(body)).map(toChange))
      if (notes.some(({ created_at }) => Date.parse(created_at) < reachingBackTo)) break
    }
  } catch (error) {
    if (isDestinationError(error) && REFUSALS.has(error.code)) return undefined
    throw error
  }
  return changes.filter(({ at }) => at.notAfter >= reachingBackTo)
}

const REFUSALS: ReadonlySet<string> = new Set(['forbidden', 'unauthorized', 'too_large', 'unexpected_response'])

function toChange({ body, created_at }: { readonly body: string; readonly created_at: string }): TargetChange {
  const [, from, to] = CHANGES.map((form) => form.exec(body)).find(Boolean) ?? []
  return { at: notAfter(created_at), ...defined({ from, to }) }
}
