/** Jira's REST API over a scripted tracker: Cloud (version 3), and Data Center (version 2) with its other history, users and errors. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { type Described, faultsOf } from './published.ts'
import type { Change, Issue, Item, Snapshot, Status, Tracker } from './tracker.ts'

export const CLOUD_HOST = 'acme.atlassian.net'
export const CENTER_HOST = 'jira.example.com/jira'
export const AGENT = '557058:f58131cb-b67d-43c7-b30d-6b58d40bd077'
export const PERSON = '5b10a2844c20165700ede21g'
export const CENTER_AGENT = 'JIRAUSER10204'
export const CENTER_PERSON = 'JIRAUSER10100'

export const STATUSES: readonly Status[] = [
  { id: '10000', name: 'To Do', category: 'new' },
  { id: '3', name: 'In Progress', category: 'indeterminate' },
  { id: '10001', name: 'In Review', category: 'indeterminate' },
  { id: '10002', name: 'Done', category: 'done' },
  { id: '6', name: 'Archived', category: 'done' },
  { id: '10003', name: 'Closed', category: 'indeterminate' },
  { id: '10004', name: 'Won’t do', category: 'done' },
  { id: '10005', name: 'Imported', category: 'undefined' },
]

export interface Jira {
  readonly tracker: Tracker
  readonly isCenter: boolean
  /** The usual `Authorization`. */
  readonly authorization: string
  /** Projects that the account may browse. */
  readonly browses?: readonly string[]
  /** Shows the projects that the account may browse to anybody, too. */
  readonly isPublic?: boolean
  /** The answer to refused credentials: one as to anybody, as Cloud gives it, or a refusal. */
  readonly refuses?: 'as anybody' | 'with 401' | 'with a captcha'
  /** Most entries of a page; the published 100 when left out. */
  readonly pageSize?: number
  /** Minutes of the time zone of the account. */
  readonly zone?: number
  /** Answers to requests for the history, where the server is in trouble with it. */
  readonly history?: Answer
  /** The account's fields in place of the usual, in the history. */
  readonly author?: Readonly<Record<string, unknown>>
}

class JiraError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

export const NO_ISSUE = 'Issue does not exist or you do not have permission to see it.'
const CATEGORIES: Readonly<Record<string, readonly [id: number, name: string, color: string]>> = {
  undefined: [1, 'No Category', 'medium-gray'],
  new: [2, 'To Do', 'blue-gray'],
  done: [3, 'Done', 'green'],
  indeterminate: [4, 'In Progress', 'yellow'],
}

export function createJira(jira: Jira): (asked: Asked, faults: string[]) => Answer {
  const prefix = `${jira.isCenter ? '/jira' : ''}/rest/api/`

  return (asked, faults) => {
    const [version = '', ...path] = asked.path.slice(prefix.length).split('/').map(decodeURIComponent)
    const isKnown = (jira.isCenter ? ['2', 'latest'] : ['2', '3', 'latest']).includes(version)
    if (asked.method !== 'GET' && asked.method !== 'HEAD') faults.push(`${asked.method} ${asked.path}: reads are GET`)
    if (!asked.path.startsWith(prefix))
      return { status: 404, body: '<html><title>Oops, you’ve found a dead link</title></html>' }
    if (!isKnown) return unknownAddress(jira, asked)
    try {
      const isSignedIn = signIn(jira, asked)
      const answer = answerOf(
        jira,
        { asked, faults, isSignedIn, base: `https://${hostOf(jira)}/rest/api/${version}` },
        path,
      )
      const reason = isSignedIn ? {} : { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' }
      return answer === undefined
        ? unknownAddress(jira, asked)
        : { ...answer, headers: { ...answer.headers, ...reason } }
    } catch (error) {
      if (!(error instanceof JiraError)) throw error
      const body = { errorMessages: [error.message], errors: {} }
      faults.push(...faultsOf('jira error', body))
      return { status: error.status, body, headers: error.headers }
    }
  }
}

function unknownAddress({ isCenter }: Jira, { url }: Asked): Answer {
  const body = { message: `null for uri: https://${CENTER_HOST}${url.pathname}${url.search}`, 'status-code': 404 }
  return { status: 404, body: isCenter ? body : { errorMessages: [], errors: {} } }
}

function hostOf({ isCenter }: Jira): string {
  return isCenter ? CENTER_HOST : CLOUD_HOST
}

/** Tells whether somebody asks. Cloud answers refused credentials as it answers anybody, and says so in a header. */
function signIn({ authorization, refuses = 'as anybody', isCenter }: Jira, { headers }: Asked): boolean {
  if (headers.authorization === authorization) return true
  if (refuses === 'with a captcha') {
    const url = `https://${CENTER_HOST}/login.jsp`
    throw new JiraError(403, 'CAPTCHA_CHALLENGE', {
      'x-seraph-loginreason': 'AUTHENTICATION_DENIED',
      'x-authentication-denied-reason': `CAPTCHA_CHALLENGE; login-url=${url}`,
    })
  }
  if (refuses === 'with 401' || isCenter)
    throw new JiraError(401, 'Client must be authenticated to access this resource.', {
      'www-authenticate': isCenter ? 'Bearer realm="Jira"' : 'OAuth realm="https%3A%2F%2Facme.atlassian.net"',
    })
  return false
}

interface Reading {
  readonly asked: Asked
  readonly faults: string[]
  readonly isSignedIn: boolean
  readonly base: string
}

function answerOf(jira: Jira, reading: Reading, [kind, id, part]: readonly string[]): Answer | undefined {
  const { asked, isSignedIn } = reading
  const snapshot = jira.tracker.at(asked.shown)
  const body = (value: unknown) => (value === undefined ? undefined : { status: 200, body: value })
  if (kind === 'issue' && id !== undefined && part === undefined) return body(issueAt(jira, reading, snapshot, id))
  if (kind === 'issue' && id !== undefined && part === 'changelog' && !jira.isCenter)
    return jira.history ?? body(changelogOf(jira, reading, findIssue(jira, reading, snapshot, id), snapshot))
  if (kind === 'project' && id !== undefined && part === undefined) return body(projectAt(jira, reading, snapshot, id))
  if (kind === 'mypermissions') return body(permissionsOf(jira, reading, snapshot))
  if (kind === 'status' && id === undefined) return body(listedStatuses(reading, snapshot))
  if (kind === 'status' && id !== undefined) return body(statusAt(reading, snapshot, id))
  if (kind === 'statuscategory' && id === undefined)
    return body(Object.keys(CATEGORIES).map((key) => categoryObject(reading, key)))
  if (kind === 'statuses') throw new JiraError(isSignedIn ? 403 : 401, 'You are not authorized to perform this action.')
  if (kind === 'serverInfo') return body(serverInfo(jira, reading))
  if (kind === 'myself') {
    if (!isSignedIn) throw new JiraError(401, 'Client must be authenticated to access this resource.')
    return body(userObject(jira, reading, jira.isCenter ? CENTER_PERSON : PERSON))
  }
  return undefined
}

function projectOf(key: string): string {
  return key.slice(0, key.lastIndexOf('-'))
}

function mayBrowse(
  { browses = ['ENG', 'OPS', 'CORE'], isPublic = false }: Jira,
  { isSignedIn }: Reading,
  project: string,
) {
  return (isSignedIn || isPublic) && browses.includes(project)
}

/** Finds an issue by its id, by its key in any case, or by a key that it had: an answer is no redirect. */
function findIssue(jira: Jira, reading: Reading, { issues }: Snapshot, named: string): Issue {
  const key = named.toUpperCase()
  const found =
    issues.find((issue) => issue.key === key || idOf(issue) === named) ??
    issues.find(({ earlierKeys }) => earlierKeys.includes(key))
  if (!found || found.isHidden || !mayBrowse(jira, reading, projectOf(found.key))) throw new JiraError(404, NO_ISSUE)
  return found
}

function idOf({ number }: Issue): string {
  return String(12_000 + number)
}

function issueAt(jira: Jira, reading: Reading, snapshot: Snapshot, named: string) {
  const { asked, faults, base } = reading
  const issue = findIssue(jira, reading, snapshot, named)
  const expands = (asked.url.searchParams.get('expand') ?? '').split(',')
  const hasHistory = expands.some((one) => one.trim().startsWith('changelog'))
  if (hasHistory && jira.history) throw new JiraError(jira.history.status, 'Internal server error')
  const body = {
    expand: 'renderedFields,names,schema,operations,editmeta,changelog,versionedRepresentations',
    id: idOf(issue),
    self: `${base}/issue/${idOf(issue)}`,
    key: issue.key,
    fields: fieldsOf(jira, reading, snapshot, issue),
    ...(hasHistory && { changelog: historiesOf(jira, reading, issue, snapshot) }),
  }
  faults.push(...faultsOf('jira issue', body))
  return body
}

function fieldsOf(jira: Jira, reading: Reading, snapshot: Snapshot, issue: Issue) {
  const { asked, base } = reading
  const time = (moment: number) => timeOf(jira, asked.stamp(moment))
  const { status, changes, madeAt, dated, madeBy, resolvedAt } = issue
  const categories = (id: string | null) => snapshot.statuses.get(id ?? '')?.category
  const turns = changes.filter(({ items }) =>
    items.some(({ field, from, to }) => field === 'status' && categories(from) !== categories(to)),
  )
  const all: Readonly<Record<string, unknown>> = {
    summary: 'Rotate the signing keys',
    issuetype: { self: `${base}/issuetype/10002`, id: '10002', name: 'Task', subtask: false },
    project: { self: `${base}/project/10000`, id: '10000', key: projectOf(issue.key), name: 'Engineering' },
    status: statusObject(reading, snapshot.statuses.get(status)!),
    created: dated === undefined ? time(madeAt) : timeOf(jira, dated),
    updated: time(changes.at(-1)?.at ?? madeAt),
    resolution: resolvedAt === undefined ? null : { self: `${base}/resolution/10000`, id: '10000', name: 'Done' },
    resolutiondate: resolvedAt === undefined ? null : time(resolvedAt),
    creator: userObject(jira, reading, madeBy),
    reporter: userObject(jira, reading, madeBy),
    ...(!jira.isCenter && { statuscategorychangedate: time(turns.at(-1)?.at ?? madeAt) }),
  }
  const asks = asked.url.searchParams.get('fields')?.split(',')
  if (!asks || asks.some((one) => one === '*all' || one === '*navigable')) return all
  return Object.fromEntries(Object.entries(all).filter(([name]) => asks.includes(name)))
}

/** A time as Jira writes it: without a colon in the offset, and in the zone of whoever asks. */
export function timeOf({ zone = 0 }: Pick<Jira, 'zone'>, moment: number): string {
  const [sign, minutes] = zone < 0 ? ['-', -zone] : ['+', zone]
  const offset = `${String(Math.floor(minutes / 60)).padStart(2, '0')}${String(minutes % 60).padStart(2, '0')}`
  return new Date(moment + zone * 60_000).toISOString().replace('Z', `${sign}${offset}`)
}

/** The history in pages, oldest first. */
function changelogOf(jira: Jira, reading: Reading, issue: Issue, snapshot: Snapshot) {
  const { asked, faults, base } = reading
  const { searchParams } = asked.url
  const startAt = Number(searchParams.get('startAt') ?? 0)
  const maxResults = Math.min(Number(searchParams.get('maxResults') ?? 100), jira.pageSize ?? 100)
  const total = issue.changes.length
  const self = `${base}/issue/${idOf(issue)}/changelog?maxResults=${maxResults}&startAt=`
  const isLast = startAt + maxResults >= total
  const body = {
    self: `${self}${startAt}`,
    ...(!isLast && { nextPage: `${self}${startAt + maxResults}` }),
    maxResults,
    startAt,
    total,
    isLast,
    values: issue.changes
      .slice(startAt, startAt + maxResults)
      .map((change) => historyObject(jira, reading, change, snapshot)),
  }
  faults.push(...faultsOf('jira page', body))
  return body
}

/** The history within an issue: all of it and oldest first at Data Center, the newest hundred and newest first at Cloud. */
function historiesOf(jira: Jira, reading: Reading, { changes }: Issue, snapshot: Snapshot) {
  const total = changes.length
  const shown = jira.isCenter ? changes : changes.toReversed().slice(0, 100)
  const histories = shown.map((change) => historyObject(jira, reading, change, snapshot))
  const body = { startAt: 0, maxResults: jira.isCenter ? total : Math.min(total, 100), total, histories }
  reading.faults.push(...faultsOf('jira histories', body))
  return body
}

function historyObject(jira: Jira, reading: Reading, { id, at, by, items }: Change, { statuses }: Snapshot) {
  const { asked, faults } = reading
  const body = {
    id: String(30_000 + id),
    ...(by !== undefined && { author: { ...userObject(jira, reading, by), ...jira.author } }),
    created: timeOf(jira, asked.stamp(at)),
    items: items.flatMap((item) => changesOf(jira, item, statuses)),
  }
  faults.push(...faultsOf('jira history', body))
  for (const item of body.items) faults.push(...faultsOf('jira change', item))
  return body
}

function changesOf(jira: Jira, { field, from, to }: Item, statuses: ReadonlyMap<string, Status>) {
  const nameOf = (id: string | null) => (id === null ? null : (statuses.get(id)?.name ?? id))
  const change = (
    name: string,
    fieldId: string,
    ids: readonly unknown[],
    texts: readonly unknown[],
    type = 'jira',
  ) => ({
    field: name,
    fieldtype: type,
    ...(!jira.isCenter && { fieldId }),
    from: ids[0],
    fromString: texts[0],
    to: ids[1],
    toString: texts[1],
  })
  if (field === 'key')
    return [
      change('Key', '', [null, null], [from, to]),
      change('project', 'project', ['10000', '10001'], ['Engineering', 'Operations']),
    ]
  if (field === 'status') return [change('status', 'status', [from, to], [nameOf(from), nameOf(to)])]
  if (field === 'custom')
    return [change('status', 'customfield_10050', [from, to], [nameOf(from), nameOf(to)], 'custom')]
  if (field === 'summary') return [change('summary', 'summary', [null, null], [from, to])]
  return [change(field, field, [from, to], [from, to])]
}

function userObject({ isCenter }: Jira, { base, faults }: Reading, id: string) {
  const displayName = 'Nelly Noname'
  const account = { accountId: id, accountType: id.startsWith('557058:') ? 'app' : 'atlassian' }
  const user = { key: id, name: id === CENTER_AGENT ? 'agent' : 'nelly', emailAddress: 'nelly@example.com' }
  const query = isCenter ? `username=${user.name}` : `accountId=${encodeURIComponent(id)}`
  const body = {
    self: `${base}/user?${query}`,
    ...(isCenter ? user : account),
    avatarUrls: {},
    displayName,
    active: true,
    timeZone: 'Etc/UTC',
  }
  faults.push(...faultsOf('jira user', body))
  return body
}

/** The statuses of active workflows. */
function listedStatuses(reading: Reading, { statuses, unlisted }: Snapshot) {
  return [...statuses.values()].filter(({ id }) => !unlisted.has(id)).map((status) => statusObject(reading, status))
}

function statusAt(reading: Reading, snapshot: Snapshot, named: string) {
  const found = listedStatuses(reading, snapshot).find(({ id, name }) => id === named || name === named)
  if (!found) throw new JiraError(404, `The status with id '${named}' does not exist`)
  return found
}

function statusObject(reading: Reading, { id, name, category }: Status) {
  const { base, faults } = reading
  const body = {
    self: `${base}/status/${id}`,
    description: '',
    iconUrl: 'https://acme.atlassian.net/images/icons/statuses/generic.png',
    name,
    id,
    statusCategory: categoryObject(reading, category),
  }
  faults.push(...faultsOf('jira status', body))
  return body
}

function categoryObject({ base, faults }: Reading, key: string) {
  const [id, name, colorName] = CATEGORIES[key]!
  const body = { self: `${base}/statuscategory/${id}`, id, key, colorName, name }
  faults.push(...faultsOf('jira category', body))
  return body
}

/** A project by its key, its id, or a key that it had. */
function projectAt(jira: Jira, reading: Reading, { projects }: Snapshot, named: string) {
  const key = projects.get(named) ?? (named === '10000' ? 'ENG' : named)
  if (!mayBrowse(jira, reading, key)) throw new JiraError(404, `No project could be found with key '${named}'.`)
  const body = {
    self: `${reading.base}/project/10000`,
    id: '10000',
    key,
    name: 'Engineering',
    description: '',
    avatarUrls: {},
    projectTypeKey: 'software',
    ...(!jira.isCenter && { simplified: false, style: 'classic', isPrivate: false }),
  }
  reading.faults.push(...faultsOf('jira project', body))
  return body
}

/** The rights of whoever asks. Cloud wants to be told which; Data Center tells all. */
function permissionsOf(jira: Jira, reading: Reading, snapshot: Snapshot) {
  const { searchParams } = reading.asked.url
  const asked = searchParams.get('permissions')?.split(',')
  if (!asked && !jira.isCenter) throw new JiraError(400, 'The permissions query parameter is required.')
  const unknown = asked?.find((one) => !['BROWSE_PROJECTS', 'ADMINISTER', 'BROWSE'].includes(one))
  if (unknown !== undefined && !jira.isCenter) throw new JiraError(400, `Unrecognized permission: ${unknown}`)
  const [issueKey, projectKey] = [searchParams.get('issueKey'), searchParams.get('projectKey')]
  if (issueKey !== null) findIssue(jira, reading, snapshot, issueKey)
  if (projectKey !== null) projectAt(jira, reading, snapshot, projectKey)
  const permission = (id: string, key: string, name: string, type: string, havePermission: boolean) => {
    const body = { id, key, name, type, description: '', havePermission }
    reading.faults.push(...faultsOf('jira permission' satisfies Described, body))
    return [key, body] as const
  }
  return {
    permissions: Object.fromEntries(
      [
        permission('10', 'BROWSE_PROJECTS', 'Browse Projects', 'PROJECT', mayBrowse(jira, reading, 'ENG')),
        permission('0', 'ADMINISTER', 'Administer Jira', 'GLOBAL', false),
      ].filter(([key]) => !asked || asked.includes(key)),
    ),
  }
}

function serverInfo(jira: Jira, reading: Reading) {
  const version = jira.isCenter ? [9, 12, 7] : [1001, 0, 0]
  const body = {
    baseUrl: `https://${hostOf(jira)}`,
    version: jira.isCenter ? '9.12.7' : '1001.0.0-SNAPSHOT',
    versionNumbers: version,
    deploymentType: jira.isCenter ? 'Server' : 'Cloud',
    buildNumber: 912_007,
    buildDate: '2025-04-23T00:00:00.000+0000',
    serverTime: timeOf(jira, reading.asked.stamp(reading.asked.now)),
    scmInfo: '5f4dcc3b5aa765d61d8327deb882cf99',
    serverTitle: 'Jira',
  }
  reading.faults.push(...faultsOf('jira server', body))
  return body
}
