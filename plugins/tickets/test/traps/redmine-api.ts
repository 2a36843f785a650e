/** Redmine's REST API over a scripted tracker: journals that are hidden, dated in whole seconds and ordered as the reader likes, and its bodiless refusals. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { faultsOf } from './published.ts'
import type { Change, Issue, Item, Snapshot, Status, Tracker } from './tracker.ts'

export const HOST = 'redmine.example.com/pm'
export const ISSUE = '123'
export const AGENT = '12'
export const PERSON = '5'

export const STATUSES: readonly Status[] = [
  { id: '1', name: 'New', category: 'open' },
  { id: '2', name: 'In Progress', category: 'open' },
  { id: '3', name: 'Resolved', category: 'open' },
  { id: '4', name: 'Feedback', category: 'open' },
  { id: '5', name: 'Closed', category: 'closed' },
  { id: '6', name: 'Rejected', category: 'closed' },
]

export interface Redmine {
  readonly tracker: Tracker
  readonly key: string
  readonly isPublic?: boolean
  readonly needsLogin?: boolean
  /** Rights of the account. */
  readonly isMember?: boolean
  readonly seesPrivateNotes?: boolean
  readonly isNewestFirst?: boolean
  /** Servers of before 4.2 do not say with an issue which statuses are closed. */
  readonly isOld?: boolean
  readonly isProjectArchived?: boolean
  readonly isProjectClosed?: boolean
  /** Knows no REST API. */
  readonly hasNoApi?: boolean
}

export function createRedmine(redmine: Redmine): (asked: Asked, faults: string[]) => Answer {
  return (asked, faults) => {
    if (asked.method !== 'GET' && asked.method !== 'HEAD') faults.push(`${asked.method} ${asked.path}: reads are GET`)
    const path = asked.path.startsWith('/pm/') ? asked.path.slice('/pm/'.length) : undefined
    if (path === undefined) return { status: 404, body: '<html><body><h1>Not Found</h1></body></html>' }
    if (!path.endsWith('.json'))
      return { status: 200, body: '<!DOCTYPE html><html lang="en"><title>Redmine</title></html>' }
    const key = asked.headers['x-redmine-api-key']
    const isKnown = key === redmine.key && !redmine.hasNoApi
    if (key !== redmine.key && key !== undefined && (redmine.needsLogin || !redmine.isPublic)) return REFUSED
    const [kind, id] = path.slice(0, -'.json'.length).split('/').map(decodeURIComponent)
    return answerOf(redmine, { asked, faults, isKnown }, kind, id)
  }
}

interface Reading {
  readonly asked: Asked
  readonly faults: string[]
  /** Tells whether the account asks; anybody does otherwise. */
  readonly isKnown: boolean
}

export const REFUSED: Answer = { status: 401, headers: { 'www-authenticate': 'Basic realm="Redmine API"' } }
const MISSING: Answer = { status: 404 }
const FORBIDDEN: Answer = { status: 403 }

function answerOf(redmine: Redmine, reading: Reading, kind = '', id = ''): Answer {
  const { asked, faults, isKnown } = reading
  const snapshot = redmine.tracker.at(asked.shown)
  const denied = isKnown ? FORBIDDEN : REFUSED
  if (kind === 'issues' && id !== '') return issueAt(redmine, reading, snapshot, id)
  if (kind === 'issues') {
    const named = asked.url.searchParams.get('issue_id')
    const found = snapshot.issues.filter((one) => isVisible(redmine, reading, one) && (!named || one.key === named))
    const issues = found.map((issue) => issueObject(redmine, reading, snapshot, issue, false))
    return { status: 200, body: { issues, total_count: issues.length, offset: 0, limit: 25 } }
  }
  if (kind === 'issue_statuses') {
    const statuses = [...snapshot.statuses.values()].map((status) => statusObject({ ...redmine, isOld: false }, status))
    for (const status of statuses) faults.push(...faultsOf('redmine status', status))
    return { status: 200, body: { issue_statuses: statuses } }
  }
  if (kind === 'projects' && (id === 'eng' || id === '1')) {
    if (redmine.isProjectArchived || !mayRead(redmine, reading)) return denied
    const project = {
      id: 1,
      name: 'Engineering',
      identifier: 'eng',
      description: null,
      homepage: '',
      status: redmine.isProjectClosed ? 5 : 1,
      is_public: redmine.isPublic ?? false,
      inherit_members: false,
      created_on: '2024-02-01T00:00:00Z',
      updated_on: '2024-02-01T00:00:00Z',
    }
    faults.push(...faultsOf('redmine project', project))
    return { status: 200, body: { project } }
  }
  if ((kind === 'users' && id === 'current') || (kind === 'my' && id === 'account')) {
    if (!isKnown) return REFUSED
    const user = {
      id: 44,
      login: 'reader',
      admin: false,
      firstname: 'Nelly',
      lastname: 'Noname',
      created_on: '2024-02-01T00:00:00Z',
      last_login_on: null,
      api_key: redmine.key,
    }
    faults.push(...faultsOf('redmine user', user))
    return { status: 200, body: { user } }
  }
  return MISSING
}

function mayRead({ isMember = true, isPublic = false }: Redmine, { isKnown }: Reading): boolean {
  return isPublic || (isKnown && isMember)
}

function isVisible(redmine: Redmine, reading: Reading, { isHidden }: Issue): boolean {
  return !isHidden && !redmine.isProjectArchived && mayRead(redmine, reading)
}

/** Finds an issue first, and asks for the right to see it then: what is hidden is forbidden, what is missing is not found. */
function issueAt(redmine: Redmine, reading: Reading, snapshot: Snapshot, id: string): Answer {
  const issue = snapshot.issues.find(({ key }) => Number.parseInt(key, 10) === Number.parseInt(id, 10))
  if (!issue) return MISSING
  if (!isVisible(redmine, reading, issue)) return reading.isKnown ? FORBIDDEN : REFUSED
  const includes = (reading.asked.url.searchParams.get('include') ?? '').split(',')
  return { status: 200, body: { issue: issueObject(redmine, reading, snapshot, issue, includes.includes('journals')) } }
}

/** A time in whole seconds, cut off. */
function timeOf({ stamp }: Asked, moment: number): string {
  return `${new Date(stamp(moment)).toISOString().slice(0, 19)}Z`
}

function statusObject({ isOld = false }: Redmine, { id, name, category }: Status) {
  return { id: Number(id), name, ...(!isOld && { is_closed: category === 'closed' }) }
}

function issueObject(redmine: Redmine, reading: Reading, snapshot: Snapshot, issue: Issue, hasJournals: boolean) {
  const { asked, faults } = reading
  const { changes, madeAt, madeBy, key, status } = issue
  const isClosed = (id: string | null) => snapshot.statuses.get(id ?? '')?.category === 'closed'
  // The time of the last closing stays when the issue is opened again.
  const closings = changes.filter(({ items }) =>
    items.some(({ field, from, to }) => field === 'status' && isClosed(to) && !isClosed(from)),
  )
  const closedAt = closings.at(-1)?.at ?? (isClosed(issue.madeIn) ? madeAt : undefined)
  const body = {
    id: Number(key),
    project: { id: 1, name: 'Engineering' },
    tracker: { id: 1, name: 'Bug' },
    status: statusObject(redmine, snapshot.statuses.get(status)!),
    priority: { id: 2, name: 'Normal' },
    author: person(madeBy),
    subject: 'Rotate the signing keys',
    description: null,
    start_date: '2026-03-01',
    due_date: null,
    done_ratio: 0,
    is_private: false,
    estimated_hours: null,
    total_estimated_hours: null,
    created_on: timeOf(asked, madeAt),
    updated_on: timeOf(asked, changes.at(-1)?.at ?? madeAt),
    closed_on: closedAt === undefined ? null : timeOf(asked, closedAt),
    ...(hasJournals && { journals: journalsOf(redmine, reading, issue) }),
  }
  faults.push(...faultsOf('redmine issue', body))
  return body
}

function person(id: string) {
  return { id: Number(id), name: 'Nelly Noname' }
}

/** The journals that the reader may see. Private notes that came with a change are a journal of their own, without it. */
function journalsOf(redmine: Redmine, reading: Reading, { changes }: Issue) {
  const seesAll = reading.isKnown && (redmine.seesPrivateNotes ?? false)
  const journals = changes
    .flatMap((change) => (change.hasNotes && !change.isPrivate ? [change, notesOf(change)] : [change]))
    .filter(({ isPrivate }) => !isPrivate || seesAll)
    .map((change) => journalObject(reading, change))
  return redmine.isNewestFirst ? journals.toReversed() : journals
}

function notesOf(change: Change): Change {
  return { ...change, id: change.id + 100_000, items: [], isPrivate: true }
}

const PROPERTIES: Readonly<Record<Item['field'], readonly [property: string, name: string]>> = {
  status: ['attr', 'status_id'],
  summary: ['attr', 'subject'],
  key: ['attr', 'project_id'],
  assignee: ['attr', 'assigned_to_id'],
  custom: ['cf', '5'],
  resolution: ['attr', 'done_ratio'],
}

function journalObject({ asked, faults }: Reading, { id, at, by, items, isPrivate, hasNotes }: Change) {
  const journal = {
    id: 4000 + id,
    ...(by !== undefined && { user: person(by) }),
    notes: isPrivate && hasNotes ? 'For us alone' : '',
    created_on: timeOf(asked, at),
    private_notes: isPrivate,
    details: items.map(({ field, from, to }) => {
      const [property, name] = PROPERTIES[field]
      return { property, name, old_value: from, new_value: to }
    }),
  }
  faults.push(...faultsOf('redmine journal', journal))
  for (const detail of journal.details) faults.push(...faultsOf('redmine detail', detail))
  return journal
}
