/** GitHub's GraphQL API, as far as it tells the timeline of an issue or a pull request. */
import type { ForgeEvent, ForgeEventKind } from './events.ts'
import { iso } from './github-answers.ts'
import { no, ok } from './github-replies.ts'
import type { GraphqlCall, Reply } from './kind.ts'

/** The kinds of items, by the names that GraphQL gives them. */
const ITEMS: Readonly<Partial<Record<ForgeEventKind, readonly [type: string, name: string]>>> = {
  closed: ['CLOSED_EVENT', 'ClosedEvent'],
  reopened: ['REOPENED_EVENT', 'ReopenedEvent'],
  base_changed: ['BASE_REF_CHANGED_EVENT', 'BaseRefChangedEvent'],
  head_forced: ['HEAD_REF_FORCE_PUSHED_EVENT', 'HeadRefForcePushedEvent'],
  labeled: ['LABELED_EVENT', 'LabeledEvent'],
}

/** Only with a token; of a text that asks for `timelineItems`, and for the fields that the plugin knows. */
export function timelineQuery({ text, variables, token, standIn }: GraphqlCall): Reply {
  if (!token) return no(401, 'This endpoint requires you to be authenticated.')
  const { owner, name, number, before } = variables
  const repository = standIn.find({ slug: `${owner}/${name}` })?.repository
  if (!repository || (repository.isPrivate && !token.repositories?.includes(repository))) return notFound('repository')
  const [, kind] = /(issue|pullRequest)\(number: \$number\)/.exec(text) ?? []
  const state = repository.asOf()
  const isShown = kind === 'issue' ? state.issue(Number(number)) : state.pullRequest(Number(number))
  if (!isShown) return notFound(`repository.${kind}`)
  const log = kind === 'issue' ? repository.issues : repository.pullRequests
  const [, list = ''] = /itemTypes: \[([\w, ]*)\]/.exec(text) ?? []
  const wanted = new Set(list.split(', '))
  const all = log.events(Number(number), state.until).filter(({ kind }) => wanted.has(ITEMS[kind]?.[0] ?? ''))
  const last = Number(/last: (\d+)/.exec(text)?.[1])
  const end = typeof before === 'string' ? all.findIndex(({ id }) => `cursor-${id}` === before) : all.length
  const shown = all.slice(Math.max(0, end - last), end)
  const pageInfo = { hasPreviousPage: end > last, startCursor: shown[0] ? `cursor-${shown[0].id}` : null }
  const timelineItems = { pageInfo, nodes: shown.map(itemOf) }
  return ok({ data: { repository: { databaseId: repository.id, [kind!]: { timelineItems } } } })
}

function itemOf({ kind, at, refs, reason, shas }: ForgeEvent) {
  const item = { __typename: ITEMS[kind]![1], createdAt: iso(at) }
  const [previousRefName, currentRefName] = refs ?? []
  const [before, after] = shas ?? []
  switch (kind) {
    case 'closed':
      return { ...item, stateReason: (reason ?? 'completed').toUpperCase() }
    case 'base_changed':
      return { ...item, previousRefName, currentRefName }
    case 'head_forced':
      return { ...item, beforeCommit: before ? { oid: before } : null, afterCommit: after ? { oid: after } : null }
    default:
      return item
  }
}

function notFound(path: string): Reply {
  const errors = [{ type: 'NOT_FOUND', path: path.split('.'), message: 'Could not resolve to a node.' }]
  return ok({ data: { repository: null }, errors })
}
