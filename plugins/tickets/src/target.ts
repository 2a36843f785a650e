/** Reads targets, `jira:HOST/KEY-1` and their like, and refuses claims that no tracker of the named kind can answer. */
import { type Claim, DestinationError, parseUrl } from '@claimcheck/core/plugin'
import type { Category, Params } from './profile.ts'

export type Tracker = 'jira' | 'linear' | 'redmine'

export interface Target {
  readonly tracker: Tracker
  /** The server's host with its path, or the workspace of Linear. */
  readonly place: string
  readonly key: string
}

/** Reads the target of a claim. Hosts and workspaces are compared in lower case, keys in upper case. */
export function targetOf(target: string): Target {
  const [, tracker = '', place = '', key = ''] = /^([a-z]+):(.+)\/([^/]+)$/.exec(target) ?? []
  const isLinear = tracker === 'linear'
  return {
    tracker: tracker as Tracker,
    place: isLinear ? place.toLowerCase() : normalizeServer(place),
    key: key.toUpperCase(),
  }
}

function normalizeServer(place: string): string {
  const [host = '', ...path] = place.split('/')
  return [host.toLowerCase().replace(/:443$/, ''), ...path].join('/')
}

/** The host and path of a server as targets name them. */
export function placeOf(base_url: string): string | undefined {
  const url = parseUrl(base_url)
  return url && `${url.host}${url.pathname.replace(/\/+$/, '')}`
}

/** Without zeros before it, so that an id is written in one way. */
const NUMBER = /^(?:0|[1-9][0-9]*)$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Forms {
  readonly status: RegExp
  readonly account: RegExp
  /** The categories that the tracker tells apart. */
  readonly categories: readonly Category[]
}

const FORMS: Readonly<Record<Tracker, Forms>> = {
  // Jira files a canceled issue under the category done, too.
  jira: { status: NUMBER, account: /^./, categories: ['open', 'in_progress', 'done'] },
  linear: { status: UUID, account: UUID, categories: ['open', 'in_progress', 'done', 'canceled'] },
  redmine: { status: NUMBER, account: NUMBER, categories: ['open', 'done'] },
}

/**
 * Brings a claim into one form.
 * @throws DestinationError `unsupported_target` for a claim that names no state, or one of another tracker than its target
 */
export function normalize({ target, params }: Pick<Claim<Params>, 'target' | 'params'>) {
  const { tracker, place, key } = targetOf(target)
  const { status, account, categories } = FORMS[tracker]
  const isLinear = tracker === 'linear'
  const given = isLinear ? lowerCased(params) : params
  const isOf = {
    category: given.category === undefined ? given.status !== undefined : categories.includes(given.category),
    status: given.status === undefined || status.test(given.status),
    from: given.from === undefined || status.test(given.from),
    by: given.by === undefined || account.test(given.by),
  }
  for (const [param, isPossible] of Object.entries(isOf))
    if (!isPossible) throw new DestinationError('unsupported_target', { param })
  return { target: `${tracker}:${place}/${key}`, params: given }
}

/** Writes the ids of Linear, which are UUIDs, in lower case. */
function lowerCased({ category, ...ids }: Params): Params {
  const lower = Object.entries(ids).map(([name, id]) => [name, id.toLowerCase()])
  return { ...(category && { category }), ...Object.fromEntries(lower) }
}
