/** The verdicts about issues that are moved, left, hidden or made in a state, over the life of a claim. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import tickets from '@claimcheck/plugin-tickets'
import t, { type Test } from 'tap'
import {
  accountOf,
  CENTER_HOST,
  EMAIL,
  idOf,
  JIRA_HOST,
  type Name,
  REDMINE_HOST,
  SECRET,
  Trackers,
} from './trackers.ts'

const START = Date.UTC(2026, 10, 2, 9)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const PROVIDERS = {
  cloud: {
    provider: 'jira',
    target: `jira:${JIRA_HOST}/SHOP-1`,
    options: { base_url: `https://${JIRA_HOST}`, email: EMAIL, api_token: SECRET },
  },
  center: {
    provider: 'jira',
    target: `jira:${CENTER_HOST}/SHOP-1`,
    options: { base_url: `https://${CENTER_HOST}`, token: SECRET },
  },
  linear: { provider: 'linear', target: 'linear:acme/SHOP-1', options: { api_key: SECRET } },
  redmine: {
    provider: 'redmine',
    target: `redmine:${REDMINE_HOST}/1`,
    options: { base_url: `https://${REDMINE_HOST}`, api_key: SECRET },
  },
} as const
type Kind = keyof typeof PROVIDERS
const KINDS = Object.keys(PROVIDERS) as Kind[]

interface World {
  /** Changes what is at the trackers, by the clock; the first at once. */
  readonly at: Readonly<Record<number, (trackers: Trackers) => void>>
  readonly params?: object
  readonly target?: string
  readonly submittedAfterMs?: number
}

async function live(t: Test, kind: Kind, { at, params = { category: 'done' }, target, submittedAfterMs = 500 }: World) {
  const clock = createVirtualClock(START)
  const trackers = new Trackers(clock.now)
  trackers.createdAt = START - DAY
  const changes = Object.entries(at).map(([after, change]) => ({ from: START + Number(after), change }))
  const { url, stop } = await trackers.start()
  t.teardown(stop)
  const { provider, options, target: own } = PROVIDERS[kind]
  const { decision, records, requests, refused } = await liveClaim({
    plugin: tickets,
    connection: { provider, options },
    destination: url,
    claim: { action: 'tracker.issue.transition', target: target ?? own, params: { ...params }, claimedAt: START },
    submittedAt: START + submittedAfterMs,
    clock,
    async reach(until) {
      while (changes[0] && changes[0].from <= until) changes.shift()!.change(trackers)
    },
  })
  const last = records.findLast((record) => 'observation' in record)
  const facts = last && 'observation' in last ? last.observation.facts : {}
  return { verdict: decision?.verdict.value, facts, requests: requests.length, refused: refused?.code }
}

const moved =
  (to: Name, after = 0, more = {}) =>
  (trackers: Trackers) =>
    trackers.move(START + after, to, more)
/** Makes several changes at once. */
const all =
  (...changes: readonly ((trackers: Trackers) => void)[]) =>
  (trackers: Trackers) => {
    for (const change of changes) change(trackers)
  }

t.test('an issue that was moved, and what that costs', async (t) => {
  const costs: Readonly<Record<Kind, number>> = { cloud: 2, center: 2, linear: 1, redmine: 2 }
  for (const kind of KINDS) {
    const { provider } = PROVIDERS[kind]
    const { verdict, facts, requests } = await live(t, kind, { at: { 0: moved('done', -1000) } })
    t.equal(verdict, 'verified', kind)
    t.match(facts, {
      status: idOf(provider, 'done'),
      category: 'done',
      from: idOf(provider, 'todo'),
      by: accountOf(provider, 1),
      changed_at: new Date(START - 1000).toISOString(),
      preexisting: undefined,
    })
    t.equal(requests, costs[kind], kind)
    const params = { status: idOf(provider, 'done'), from: idOf(provider, 'todo'), by: accountOf(provider, 1) }
    t.equal((await live(t, kind, { at: { 0: moved('done', -1000) }, params })).verdict, 'verified', kind)
  }
})

t.test('an issue that was never moved there', async (t) => {
  for (const kind of KINDS) {
    t.equal((await live(t, kind, { at: {} })).verdict, 'failed', kind)
    t.equal((await live(t, kind, { at: { 0: moved('review') } })).verdict, 'failed', kind)
    t.equal(
      (await live(t, kind, { at: {}, submittedAfterMs: 45 * MINUTE })).verdict,
      'failed',
      `${kind}, looked at late`,
    )
  }
})

t.test('a move that comes too late', async (t) => {
  for (const kind of KINDS) {
    const at = { [12 * MINUTE]: moved('done', 12 * MINUTE) }
    t.equal((await live(t, kind, { at })).verdict, 'late', kind)
    t.equal((await live(t, kind, { at, submittedAfterMs: 15 * MINUTE })).verdict, 'late', `${kind}, after it`)
  }
})

t.test('an issue that has left the state again', async (t) => {
  const passed = { 0: all(moved('doing', -20 * MINUTE), moved('done', -10 * MINUTE)) }
  for (const kind of KINDS.filter((one) => one !== 'redmine')) {
    const { verdict, facts } = await live(t, kind, { at: passed, params: { category: 'in_progress' } })
    t.equal(verdict, 'verified', kind)
    t.match(facts, { category: 'done', changed_at: new Date(START - 20 * MINUTE).toISOString() })
  }
  const early = { 0: all(moved('done', -180 * MINUTE), moved('todo', -120 * MINUTE)) }
  for (const kind of KINDS) {
    const { verdict, facts } = await live(t, kind, { at: early })
    t.equal(verdict, 'failed', `${kind}: a move of hours ago that was undone`)
    t.match(facts, { changed_at: undefined })
  }
})

t.test('a move of days ago', async (t) => {
  for (const kind of KINDS) {
    const { verdict, facts } = await live(t, kind, { at: { 0: moved('done', -DAY / 2) } })
    t.equal(verdict, 'verified', kind)
    t.match(facts, { preexisting: true })
  }
})

t.test('another account, or another status before', async (t) => {
  for (const kind of KINDS) {
    const { provider } = PROVIDERS[kind]
    const at = { 0: moved('done', -1000) }
    const by = { category: 'done', by: accountOf(provider, 2) }
    t.equal((await live(t, kind, { at, params: by })).verdict, 'mismatch', kind)
    const from = { category: 'done', from: idOf(provider, 'review') }
    t.equal((await live(t, kind, { at, params: from })).verdict, 'mismatch', kind)
    const nobody = { 0: moved('done', -1000, { by: null }) }
    t.equal((await live(t, kind, { at: nobody, params: by })).verdict, 'unverifiable', `${kind}: not told`)
    const again = { 0: all(moved('done', -3 * MINUTE, { by: 2 }), moved('todo', -2 * MINUTE), moved('done', -MINUTE)) }
    t.equal((await live(t, kind, { at: again, params: by })).verdict, 'verified', `${kind}: theirs was undone`)
  }
})

t.test('moves within the claimed category', async (t) => {
  for (const kind of KINDS) {
    const { provider } = PROVIDERS[kind]
    const at = { 0: all(moved('done', -2000), moved('closed', -1000, { by: 2 })) }
    const { verdict, facts } = await live(t, kind, { at })
    t.equal(verdict, 'verified', kind)
    t.match(facts, { status: idOf(provider, 'closed'), changed_at: new Date(START - 2000).toISOString() })
    const by = (person: number) => ({ category: 'done', by: accountOf(provider, person) })
    t.equal((await live(t, kind, { at, params: by(2) })).verdict, 'unverifiable', `${kind}: it came there before`)
    t.equal((await live(t, kind, { at, params: by(3) })).verdict, 'mismatch', kind)
  }
})

t.test('an issue that was made in the state', async (t) => {
  const made = (trackers: Trackers) => {
    trackers.createdAt = START - 1000
    trackers.status = 'done'
  }
  for (const kind of KINDS) t.equal((await live(t, kind, { at: { 0: made } })).verdict, 'unverifiable', kind)
})

t.test('an issue that is hidden, or another one under its key', async (t) => {
  const hidden = (trackers: Trackers) => {
    trackers.isHidden = true
  }
  for (const kind of KINDS) t.equal((await live(t, kind, { at: { 0: hidden } })).verdict, 'unverifiable', kind)
  const other = (trackers: Trackers) => {
    trackers.id = 43
  }
  const at = { 0: () => {}, [MINUTE]: other, [2 * MINUTE]: moved('done', 2 * MINUTE) }
  t.equal((await live(t, 'cloud', { at })).verdict, 'unverifiable')
  const elsewhere = (trackers: Trackers) => {
    moved('done')(trackers)
    trackers.workspace = 'other'
  }
  t.equal((await live(t, 'linear', { at: { 0: elsewhere } })).verdict, 'unverifiable')
})

t.test('an issue that has another key now', async (t) => {
  const carried = (trackers: Trackers) => {
    moved('done', -1000)(trackers)
    trackers.keys = ['WEB-1', 'SHOP-1']
  }
  for (const kind of ['cloud', 'center', 'linear'] as const) {
    const { verdict, facts } = await live(t, kind, { at: { 0: carried } })
    t.equal(verdict, 'verified', kind)
    t.match(facts, { key: 'WEB-1' })
  }
})

t.test('a key that leads to another issue', async (t) => {
  const other = (trackers: Trackers) => {
    moved('done', -1000)(trackers)
    trackers.keys = ['SHOP-11', 'SHOP-1']
  }
  for (const kind of ['cloud', 'center'] as const)
    t.equal((await live(t, kind, { at: { 0: other } })).verdict, 'unverifiable', kind)
})

t.test('journals of Redmine that were made private', async (t) => {
  const closed = (trackers: Trackers) => {
    trackers.closedAt = START - MINUTE
  }
  t.equal(
    (await live(t, 'redmine', { at: { 0: closed } })).verdict,
    'unverifiable',
    'its closing is told, and not shown',
  )
  const shown = all(moved('done', -MINUTE), closed, moved('todo', -1000), moved('review', -500))
  t.equal((await live(t, 'redmine', { at: { 0: shown } })).verdict, 'verified')
  const reopened = (trackers: Trackers) => {
    moved('done', -DAY / 2)(trackers)
    trackers.status = 'todo'
  }
  const at = { 0: all(reopened, moved('done', 20 * MINUTE)) }
  t.equal(
    (await live(t, 'redmine', { at, submittedAfterMs: 25 * MINUTE })).verdict,
    'unverifiable',
    'its opening is hidden',
  )
})

t.test('a history of several pages', async (t) => {
  const long = all(moved('done', -1000), (trackers) => {
    trackers.others = 250
  })
  for (const [kind, requests] of [
    ['cloud', 5],
    ['center', 2],
    ['linear', 6],
  ] as const) {
    const lived = await live(t, kind, { at: { 0: long } })
    t.equal(lived.verdict, 'verified', kind)
    t.equal(lived.requests, requests, kind)
  }
})

t.test('statuses that were deleted, or changed their category', async (t) => {
  const deleted = all(moved('review', -2000), moved('doing', -1000), (trackers) => {
    trackers.deleted = ['review']
  })
  t.equal((await live(t, 'cloud', { at: { 0: deleted } })).verdict, 'unverifiable', 'it may have been done')
  t.equal((await live(t, 'redmine', { at: { 0: deleted } })).verdict, 'unverifiable')
  const changed = (trackers: Trackers) => {
    trackers.categories = { review: 'done' }
  }
  const at = { 0: moved('review', -1000), [MINUTE]: changed }
  t.equal((await live(t, 'cloud', { at })).verdict, 'unverifiable', 'nobody moved the issue')
  // It was moved to review, which was filed under done, and is no longer: the looks begin after that.
  const late = { at: { 0: moved('review', -1000) }, submittedAfterMs: 40 * MINUTE }
  for (const kind of KINDS) {
    t.equal((await live(t, kind, late)).verdict, 'unverifiable', `${kind}: review may have been filed under done`)
    const params = { status: idOf(PROVIDERS[kind].provider, 'done') }
    t.equal((await live(t, kind, { ...late, params })).verdict, 'failed', `${kind}: another status`)
  }
})

t.test('changes that Linear writes into one entry', async (t) => {
  const merged = { 0: moved('done', -2 * MINUTE, { until: START - MINUTE }) }
  t.equal((await live(t, 'linear', { at: merged })).verdict, 'verified')
  const params = { category: 'in_progress' }
  t.equal((await live(t, 'linear', { at: merged, params })).verdict, 'unverifiable', 'it may have been between')
})

t.test('changes that the history does not show', async (t) => {
  const missing = (trackers: Trackers) => {
    moved('review', -2000)(trackers)
    trackers.status = 'doing'
    moved('todo', -1000)(trackers)
  }
  for (const kind of KINDS) t.equal((await live(t, kind, { at: { 0: missing } })).verdict, 'unverifiable', kind)
})

t.test('claims that no tracker of the kind can answer', async (t) => {
  const refused: readonly (readonly [Kind, object])[] = [
    ['cloud', { category: 'canceled' }],
    ['redmine', { category: 'in_progress' }],
    ['redmine', { category: 'canceled' }],
    ['linear', { status: '10001' }],
    ['cloud', { status: idOf('linear', 'done') }],
    ['cloud', { by: accountOf('jira', 1) }],
    ['linear', { category: 'done', by: accountOf('jira', 1) }],
  ]
  for (const [kind, params] of refused)
    t.equal((await live(t, kind, { at: {}, params })).refused, 'invalid', JSON.stringify(params))
  const at = { 0: moved('canceled', -1000) }
  t.equal((await live(t, 'linear', { at, params: { category: 'canceled' } })).verdict, 'verified')
})

t.test('a host in capitals, its usual port, and a key in small letters', async (t) => {
  const at = { 0: moved('done', -1000) }
  t.equal((await live(t, 'cloud', { at, target: 'jira:Acme.Atlassian.net:443/shop-1' })).verdict, 'verified')
  t.equal((await live(t, 'linear', { at, target: 'linear:Acme/shop-1' })).verdict, 'verified')
})
