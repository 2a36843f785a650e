/** The stand-ins themselves: they answer as published, and their issues take no step that a tracker does not know. */
import t from 'tap'
import { startServer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import * as jira from './jira-api.ts'
import * as linear from './linear-api.ts'
import { begunTracker, DAY, HOUR, MINUTE, type Scene, SECOND, setOf, type TrackerName, WORDS } from './row.ts'
import { ROWS } from './rows.ts'

interface Asked {
  readonly path: string
  readonly query?: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly scene?: Partial<Scene>
  readonly headers?: Readonly<Record<string, string>>
}

type Expected = readonly [status: number, at: string, value: unknown]
type Answer = readonly [title: string, asked: Asked, ...expected: Expected[]]

/** An issue that was begun, done and edited, and another one. */
function tracked(provider: TrackerName) {
  const { done, otherKey, person } = WORDS[provider]
  return begunTracker(provider).move(-HOUR, done).edit(-MINUTE, 2, { by: person }).make(-SECOND, { key: otherKey })
}

const ENG = '/rest/api/3/issue/ENG-1'
const moved = { tracker: tracked('jira').transfer(0, 'OPS-7') }
const CLOUD: readonly Answer[] = [
  ['an issue', { path: ENG }, [200, 'id', '12001'], [200, 'fields.status.statusCategory.key', 'done']],
  [
    'one field',
    { path: `${ENG}?fields=status` },
    [200, 'fields.created', undefined],
    [200, 'fields.status.id', '10002'],
  ],
  ['its key in lower case', { path: '/rest/api/3/issue/eng-1' }, [200, 'key', 'ENG-1']],
  ['an old key', { path: ENG, scene: moved }, [200, 'key', 'OPS-7'], [200, 'id', '12001']],
  ['no issue', { path: '/rest/api/3/issue/ENG-2' }, [404, 'errorMessages.0', jira.NO_ISSUE]],
  [
    'an issue of a hidden project',
    { path: ENG, scene: { jira: { browses: [] } } },
    [404, 'errorMessages.0', jira.NO_ISSUE],
  ],
  [
    'its history, oldest first',
    { path: `${ENG}/changelog` },
    [200, 'total', 4],
    [200, 'values.0.items.0.to', '3'],
    [200, 'values.1.items.0.to', '10002'],
    [200, 'values.1.author.accountId', jira.AGENT],
    [200, 'isLast', true],
  ],
  [
    'a page',
    { path: `${ENG}/changelog?startAt=1&maxResults=2` },
    [200, 'values.0.items.0.to', '10002'],
    [200, 'isLast', false],
  ],
  ['its history, newest first', { path: `${ENG}?expand=changelog` }, [200, 'changelog.histories.3.items.0.to', '3']],
  ['a time', { path: `${ENG}/changelog` }, [200, 'values.1.created', '2026-03-11T08:30:00.000+0000']],
  [
    'a time in another zone',
    { path: `${ENG}/changelog`, scene: { jira: { zone: -480 } } },
    [200, 'values.1.created', '2026-03-11T00:30:00.000-0800'],
  ],
  ['a moved issue', { path: `${ENG}/changelog`, scene: moved }, [200, 'values.4.items.0.fromString', 'ENG-1']],
  ['a project', { path: '/rest/api/3/project/ENG' }, [200, 'key', 'ENG']],
  ['no project', { path: '/rest/api/3/project/NOPE' }, [404, 'errors.0', undefined]],
  [
    'rights',
    { path: '/rest/api/3/mypermissions?projectKey=ENG&permissions=BROWSE_PROJECTS' },
    [200, 'permissions.BROWSE_PROJECTS.havePermission', true],
  ],
  ['rights without names', { path: '/rest/api/3/mypermissions?projectKey=ENG' }, [400, 'errors.0', undefined]],
  ['statuses', { path: '/rest/api/3/status' }, [200, '0.statusCategory.key', 'new']],
  ['a status', { path: '/rest/api/3/status/10003' }, [200, 'statusCategory.key', 'indeterminate']],
  ['no status', { path: '/rest/api/3/status/77' }, [404, 'errors.0', undefined]],
  ['categories', { path: '/rest/api/3/statuscategory' }, [200, '0.key', 'undefined']],
  ['the server', { path: '/rest/api/3/serverInfo' }, [200, 'deploymentType', 'Cloud']],
  ['a wrong token', { path: ENG, headers: { authorization: 'Basic wrong' } }, [404, 'errorMessages.0', jira.NO_ISSUE]],
  [
    'a wrong token, myself',
    { path: '/rest/api/3/myself', headers: { authorization: 'Basic wrong' } },
    [401, '0', undefined],
  ],
]

const CENTER_ENG = '/jira/rest/api/2/issue/ENG-1'
const CENTER: readonly Answer[] = [
  ['an issue', { path: CENTER_ENG }, [200, 'fields.status.id', '10002']],
  [
    'its history, oldest first',
    { path: `${CENTER_ENG}?expand=changelog` },
    [200, 'changelog.total', 4],
    [200, 'changelog.histories.1.items.0.to', '10002'],
    [200, 'changelog.histories.1.author.key', jira.CENTER_AGENT],
    [200, 'changelog.histories.1.items.0.fieldId', undefined],
  ],
  ['no pages of it', { path: `${CENTER_ENG}/changelog` }, [404, 'status-code', 404]],
  ['no version 3', { path: '/jira/rest/api/3/issue/ENG-1' }, [404, 'status-code', 404]],
  ['another path', { path: '/rest/api/2/issue/ENG-1' }, [404, '0', '<']],
  ['a wrong token', { path: CENTER_ENG, headers: { authorization: 'Bearer wrong' } }, [401, 'errors.0', undefined]],
]

const ISSUE = `query Issue($id: String!, $after: String) { issue(id: $id) { id identifier previousIdentifiers state { id type }
  history(first: 2, after: $after) { nodes { createdAt actor { id } fromState { id } toState { id type } } pageInfo { hasNextPage endCursor } }
  stateHistory(first: 5) { nodes { startedAt endedAt state { type } } } } }`
const asks = (id: string, more: Partial<Asked> = {}): Asked => ({
  path: '/graphql',
  query: ISSUE,
  variables: { id },
  ...more,
})
const LINEAR: readonly Answer[] = [
  [
    'an issue',
    asks('ENG-1'),
    [200, 'data.issue.state.type', 'completed'],
    [200, 'data.issue.history.pageInfo.hasNextPage', true],
    [200, 'data.issue.stateHistory.nodes.1.state.type', 'started'],
  ],
  [
    'the second page',
    asks('ENG-1', { variables: { id: 'ENG-1', after: Buffer.from('1').toString('base64') } }),
    [200, 'data.issue.history.nodes.0.toState.type', 'completed'],
    [200, 'data.issue.history.nodes.0.actor.id', linear.AGENT],
  ],
  [
    'an old identifier',
    asks('ENG-1', { scene: { tracker: tracked('linear').transfer(0, 'OPS-7') } }),
    [200, 'data.issue.identifier', 'OPS-7'],
    [200, 'data.issue.previousIdentifiers.0', 'ENG-1'],
  ],
  ['no issue', asks('ENG-2'), [200, 'errors.0.message', 'Entity not found: Issue'], [200, 'data', null]],
  [
    'a hidden team',
    asks('ENG-1', { scene: { linear: { sees: [] } } }),
    [200, 'errors.0.extensions.code', 'INPUT_ERROR'],
  ],
  [
    'partial data',
    asks('ENG-1', { scene: { linear: { fails: ['IssueHistory.actor'] } } }),
    [200, 'data.issue.history.nodes.0.actor', null],
    [200, 'errors.0.extensions.code', 'INTERNAL_SERVER_ERROR'],
  ],
  [
    'by a filter',
    {
      path: '/graphql',
      query: `{ issues(filter: { number: { eq: 1 }, team: { key: { eq: "ENG" } } }) { nodes { identifier } } organization { urlKey } }`,
    },
    [200, 'data.issues.nodes.0.identifier', 'ENG-1'],
    [200, 'data.organization.urlKey', 'acme'],
  ],
  [
    'a wrong key',
    asks('ENG-1', { headers: { authorization: 'lin_api_wrong' } }),
    [401, 'errors.0.extensions.code', 'AUTHENTICATION_ERROR'],
  ],
]

const PM = '/pm/issues/123.json'
const REDMINE: readonly Answer[] = [
  ['an issue', { path: PM }, [200, 'issue.status.is_closed', true], [200, 'issue.journals', undefined]],
  [
    'its journals',
    { path: `${PM}?include=journals` },
    [200, 'issue.journals.1.details.0.name', 'status_id'],
    [200, 'issue.journals.1.details.0.new_value', '5'],
    [200, 'issue.journals.1.created_on', '2026-03-11T08:30:00Z'],
    [200, 'issue.closed_on', '2026-03-11T08:30:00Z'],
  ],
  [
    'its journals in reverse',
    { path: `${PM}?include=journals`, scene: { redmine: { isNewestFirst: true } } },
    [200, 'issue.journals.2.details.0.new_value', '5'],
  ],
  [
    'a private journal',
    { path: `${PM}?include=journals`, scene: { tracker: tracked('redmine').conceal(0, 2) } },
    [200, 'issue.journals.1.details.0.name', 'subject'],
  ],
  ['an old server', { path: PM, scene: { redmine: { isOld: true } } }, [200, 'issue.status.is_closed', undefined]],
  ['statuses', { path: '/pm/issue_statuses.json' }, [200, 'issue_statuses.4.is_closed', true]],
  ['no issue', { path: '/pm/issues/99.json' }, [404, '', undefined]],
  ['a hidden issue', { path: PM, scene: { redmine: { isMember: false } } }, [403, '', undefined]],
  ['a wrong key', { path: PM, headers: { 'x-redmine-api-key': 'wrong' } }, [401, '', undefined]],
  [
    'a wrong key in a public project',
    { path: PM, headers: { 'x-redmine-api-key': 'wrong' }, scene: { redmine: { isPublic: true } } },
    [200, 'issue.id', 123],
  ],
  ['the account', { path: '/pm/users/current.json' }, [200, 'user.login', 'reader']],
  ['a project', { path: '/pm/projects/eng.json' }, [200, 'project.id', 1]],
]

const ANSWERS: Readonly<Record<TrackerName, readonly Answer[]>> = {
  jira: CLOUD,
  'data center': CENTER,
  linear: LINEAR,
  redmine: REDMINE,
}

function authorize(provider: TrackerName, secret: string): Readonly<Record<string, string>> {
  if (provider === 'redmine') return { 'x-redmine-api-key': secret }
  if (provider === 'linear') return { authorization: secret }
  const basic = Buffer.from(`reader@example.com:${secret}`).toString('base64')
  return { authorization: provider === 'jira' ? `Basic ${basic}` : `Bearer ${secret}` }
}

for (const provider of ['jira', 'data center', 'linear', 'redmine'] as const) {
  t.test(provider, async (t) => {
    for (const [title, { path, query, variables, scene, headers }, ...expected] of ANSWERS[provider]) {
      const { answer, secret } = setOf(provider, { tracker: tracked(provider), params: {}, ...scene })
      const tracker = await startServer({ answer, now: () => START })
      const response = await fetch(`${tracker.url}${path}`, {
        method: query === undefined ? 'GET' : 'POST',
        headers: { ...authorize(provider, secret), ...headers },
        ...(query !== undefined && { body: JSON.stringify({ query, variables }) }),
      })
      const text = await response.text()
      const body: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
      for (const [status, at, value] of expected) {
        t.equal(response.status, status, title)
        if (value !== undefined || at !== '') t.equal(valueAt(body, at), value, `${title}: ${at}`)
        else t.equal(text, '', `${title}: no body`)
      }
      t.strictSame(tracker.faults, [], `${title}: as published`)
      await tracker.close()
    }
  })
}

t.test('a query that Linear does not publish is refused', async (t) => {
  const { answer, secret } = setOf('linear', { tracker: tracked('linear'), params: {} })
  const tracker = await startServer({ answer, now: () => START })
  const ask = async (query: string) => {
    const init = { method: 'POST', headers: authorize('linear', secret), body: JSON.stringify({ query }) }
    return (await fetch(`${tracker.url}/graphql`, init)).status
  }
  t.equal(await ask('{ issue(id: "ENG-1") { statusName } }'), 400)
  t.equal(await ask('{ issues(first: 250) { nodes { history(first: 250) { nodes { id } } } } }'), 400)
  t.equal(tracker.faults.length, 2)
  await tracker.close()
})

t.test('a team that groups its history leaves out the states between', async (t) => {
  const { progress, done } = WORDS.linear
  const made = begunTracker('linear')
    .move(0, WORDS.linear.review)
    .move(20 * SECOND, done)
  const { answer, secret } = setOf('linear', { tracker: made, params: {}, linear: { groupMs: MINUTE } })
  const tracker = await startServer({ answer, now: () => START + MINUTE })
  const body = JSON.stringify({ query: ISSUE, variables: { id: 'ENG-1' } })
  const response = await fetch(`${tracker.url}/graphql`, { method: 'POST', headers: authorize('linear', secret), body })
  const answered: unknown = await response.json()
  t.equal(valueAt(answered, 'data.issue.history.nodes.0.fromState.id'), progress)
  t.equal(valueAt(answered, 'data.issue.history.nodes.0.toState.id'), done)
  t.equal(valueAt(answered, 'data.issue.stateHistory.nodes.length'), 4)
  await tracker.close()
})

t.test('each row has a name of its own, and a scene that can be played', async (t) => {
  const names = ROWS.map(({ provider, title }) => `${provider}: ${title}`)
  t.strictSame(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
  for (const { provider, scene } of ROWS) t.doesNotThrow(() => setOf(provider, scene()))
})

t.test('steps that there are not', async (t) => {
  const { progress, done } = WORDS.jira
  const begun = () => begunTracker('jira')
  t.throws(() => begun().move(0, progress), 'an issue is not moved to where it is')
  t.throws(() => begun().move(-2 * DAY, done), 'nothing is done before what was done')
  t.throws(() => begun().make(0), 'a key is given out once')
  t.throws(() => begun().remove(0).move(1, done), 'what is gone is not moved')
  t.throws(() => begun().unlist(0, progress), 'a status in use is not deleted')
})

function valueAt(body: unknown, at: string): unknown {
  return at.split('.').reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)?.[name], body)
}
