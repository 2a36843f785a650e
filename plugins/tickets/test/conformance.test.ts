// Test run: slow
/** The plugin passes the conformance kit at trackers of its tests. */
import { type Destination, type GivenConnection, verifierConformance } from '@claimcheck/core/testkit'
import tickets from '@claimcheck/plugin-tickets'
import t from 'tap'
import { accountOf, EMAIL, idOf, JIRA_HOST, REDMINE_HOST, SECRET, Trackers } from './trackers.ts'

t.setTimeout(500_000)

/** The moment of the moves, some time before the kit begins. */
const MOVED = Math.floor(Date.now() / 1000) * 1000 - 60_000

const SITUATIONS = {
  still: () => {},
  moved: (trackers) => trackers.move(MOVED, 'done'),
  'moved by somebody': (trackers) => trackers.move(MOVED, 'done', { by: null }),
  passed: (trackers) => {
    trackers.move(MOVED - 5000, 'doing')
    trackers.move(MOVED, 'done')
  },
  'of a long history': (trackers) => {
    trackers.others = 150
    trackers.move(MOVED, 'done')
  },
  hidden: (trackers) => {
    trackers.isHidden = true
  },
} as const satisfies Record<string, (trackers: Trackers) => void>
type Situation = keyof typeof SITUATIONS

let trackers: Trackers
const destination: Destination<Situation, undefined> = {
  start({ now }) {
    trackers = new Trackers(now)
    return trackers.start()
  },
  set(situation) {
    Object.assign(trackers, { createdAt: MOVED - 86_400_000, status: 'todo', moves: [], others: 0, isHidden: false })
    SITUATIONS[situation](trackers)
    return undefined
  },
}
const common = { plugin: tickets, destination, before: 'still' } as const

const PLACES = [
  {
    title: 'Jira',
    provider: 'jira',
    options: { base_url: `https://${JIRA_HOST}`, email: EMAIL, api_token: SECRET },
    target: `jira:${JIRA_HOST}/SHOP-1`,
    trial: 'SHOP-1',
  },
  { title: 'Linear', provider: 'linear', options: { api_key: SECRET }, target: 'linear:acme/SHOP-1', trial: 'SHOP-1' },
  {
    title: 'Redmine',
    provider: 'redmine',
    options: { base_url: `https://${REDMINE_HOST}`, api_key: SECRET },
    target: `redmine:${REDMINE_HOST}/1`,
    trial: '1',
  },
] as const

for (const { title, provider, options, target, trial } of PLACES)
  t.test(title, async (t) => {
    const connection: GivenConnection = { provider, options, target: trial }
    const claim = (params: object) => ({ action: 'tracker.issue.transition', target, params: { ...params } })
    const [done, todo] = [idOf(provider, 'done'), idOf(provider, 'todo')]
    const [own, other] = [accountOf(provider, 1), accountOf(provider, 2)]
    const report = await verifierConformance(t, {
      ...common,
      connection,
      cases: [
        {
          name: 'moved to the claimed category',
          situation: 'moved',
          claim: claim({ category: 'done' }),
          sees: { kind: 'present', facts: { status: done, category: 'done', from: todo, by: own } },
          verdict: 'verified',
        },
        {
          name: 'moved to the claimed status, by the claimed account',
          situation: 'of a long history',
          claim: claim({ status: done, from: todo, by: own }),
          sees: { kind: 'present', facts: { status: done } },
          verdict: 'verified',
        },
        {
          name: 'moved to the claimed status and on',
          situation: 'passed',
          claim: claim({ status: idOf(provider, 'doing') }),
          sees: { kind: 'absent', facts: { status: done } },
          verdict: 'verified',
        },
        {
          name: 'moved by another account',
          situation: 'moved',
          claim: claim({ category: 'done', by: other }),
          sees: { kind: 'present', differs: ['by'], mark: 'never_before', facts: { by: own } },
          verdict: 'mismatch',
        },
        {
          name: 'moved by nobody that the history names',
          situation: 'moved by somebody',
          claim: claim({ category: 'done', by: own }),
          sees: { kind: 'absent', mark: 'may_have_been' },
          verdict: 'unverifiable',
        },
        {
          name: 'never moved',
          situation: 'still',
          claim: claim({ category: 'done' }),
          sees: { kind: 'absent', mark: 'never_before', facts: { status: todo } },
          verdict: 'failed',
        },
        {
          name: 'hidden',
          situation: 'hidden',
          claim: claim({ category: 'done' }),
          sees: { error: 'forbidden' },
          verdict: 'unverifiable',
        },
      ],
    })
    t.ok(report.ok)
  })
