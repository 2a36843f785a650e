// Test run: slow
/** The plugin passes the conformance kit at platforms of its tests. */
import { textFingerprint } from '@claimcheck/core/receipts'
import { type Destination, type GivenConnection, verifierConformance } from '@claimcheck/core/testkit'
import chat from '@claimcheck/plugin-chat'
import t from 'tap'
import {
  DISCORD_CHANNEL,
  GUILD,
  MATTERMOST_CHANNEL,
  MATTERMOST_HOST,
  Platforms,
  SLACK_CHANNEL,
  snowflakeOf,
  TEAM,
  TOKEN,
  tsOf,
} from './platforms.ts'

t.setTimeout(500_000)

/** The moment of the posts, some time before the kit begins. */
const POSTED = Date.now() - 60_000
const TS = tsOf(POSTED)
const PARENT = tsOf(POSTED - 60_000)
const SNOWFLAKE = snowflakeOf(POSTED)
const POST = 'p9u6q8h1rtb7tn8f8gmh3dq4ph'
const TEXT = 'Build 42 is green & done'
const FINGERPRINT = textFingerprint(TEXT)
const OTHER = textFingerprint('Build 43 is green')
const AUTHOR = '80351110224678912'

const SITUATIONS = {
  missing: () => {},
  posted: (at) => {
    at.slack = [{ ts: TS, text: TEXT.replace('&', '&amp;'), user: 'U061F7AUR' }]
    at.discord = [{ id: SNOWFLAKE, content: TEXT }]
    at.mattermost = [{ id: POST, message: TEXT, create_at: POSTED }]
  },
  replied: (at) => {
    at.slack = [
      { ts: PARENT, text: 'Go', user: 'U061F7AUR', thread_ts: PARENT },
      { ts: TS, text: TEXT, user: 'U061F7AUR', thread_ts: PARENT },
    ]
  },
  edited: (at) => {
    at.discord = [{ id: SNOWFLAKE, content: TEXT, edited_timestamp: new Date(POSTED + 5000).toISOString() }]
  },
  hidden: (at) => {
    at.slackError = 'not_in_channel'
    at.discord = [{ id: SNOWFLAKE, content: TEXT }]
    at.readsContent = false
  },
} as const satisfies Record<string, (at: Platforms) => void>
type Situation = keyof typeof SITUATIONS

let platforms: Platforms
const destination: Destination<Situation, undefined> = {
  start({ now }) {
    platforms = new Platforms(now)
    return platforms.start()
  },
  set(situation) {
    const earlier = snowflakeOf(POSTED - 3_600_000)
    Object.assign(platforms, { slack: [], discord: [], mattermost: [], slackError: undefined, readsContent: true })
    SITUATIONS[situation](platforms)
    platforms.discord = [{ id: earlier, content: 'earlier' }, ...platforms.discord]
    return undefined
  },
}

const given = (provider: string, options: object, target: string): GivenConnection => ({
  provider,
  options: { token: TOKEN, ...options },
  target,
})
const claimOf = (target: string, message: string, params: object = {}) => ({
  action: 'chat.message.post',
  target,
  params: { message, ...params },
})
/** Answers 404 that are no hidden thing: a message, and the account of an author. */
const absentRoutes = [/\/messages\/[0-9]+$/, /\/posts\/[0-9a-z]+$/, /\/users\//]
const common = { plugin: chat, destination, before: 'missing' } as const

t.test('Slack', async (t) => {
  const claim = (params: object = {}) => claimOf(`slack:${TEAM}/${SLACK_CHANNEL}`, TS, params)
  const report = await verifierConformance(t, {
    ...common,
    connection: given('slack', { team: TEAM }, SLACK_CHANNEL),
    cases: [
      {
        name: 'posted by the claimed author, with the claimed text',
        situation: 'posted',
        claim: claim({ author: 'U061F7AUR', text_fingerprint: FINGERPRINT }),
        sees: { kind: 'present', facts: { message: TS, found_author: 'U061F7AUR', same_text: true } },
        verdict: 'verified',
      },
      {
        name: 'posted to the claimed thread',
        situation: 'replied',
        claim: claim({ thread: PARENT }),
        sees: { kind: 'present', facts: { found_thread: PARENT } },
        verdict: 'verified',
      },
      {
        name: 'posted by somebody else',
        situation: 'posted',
        claim: claim({ author: 'U0OTHER' }),
        sees: { kind: 'present', differs: ['author'], mark: 'final' },
        verdict: 'mismatch',
      },
      {
        name: 'never posted',
        situation: 'missing',
        absentRoutes,
        claim: claim(),
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'in a channel without the bot',
        situation: 'hidden',
        claim: claim(),
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})

t.test('Discord', async (t) => {
  const claim = (params: object = {}) => claimOf(`discord:${GUILD}/${DISCORD_CHANNEL}`, SNOWFLAKE, params)
  const report = await verifierConformance(t, {
    ...common,
    connection: given('discord', { guild: GUILD }, DISCORD_CHANNEL),
    cases: [
      {
        name: 'posted with the claimed text',
        situation: 'posted',
        absentRoutes,
        claim: claim({ author: AUTHOR, text_fingerprint: FINGERPRINT }),
        sees: { kind: 'present', facts: { message: SNOWFLAKE, found_author: AUTHOR, same_text: true } },
        verdict: 'verified',
      },
      {
        name: 'edited, and of another text now',
        situation: 'edited',
        absentRoutes,
        claim: claim({ text_fingerprint: OTHER }),
        sees: { kind: 'present', differs: ['text_fingerprint'], mark: 'may_have_been', facts: { same_text: false } },
        verdict: 'unverifiable',
      },
      {
        name: 'never posted',
        situation: 'missing',
        absentRoutes,
        claim: claim(),
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'of a text that the app may not see',
        situation: 'hidden',
        absentRoutes,
        claim: claim({ text_fingerprint: FINGERPRINT }),
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})

t.test('Mattermost', async (t) => {
  const claim = (params: object = {}) => claimOf(`mattermost:${MATTERMOST_HOST}/${MATTERMOST_CHANNEL}`, POST, params)
  const report = await verifierConformance(t, {
    ...common,
    connection: given('mattermost', { base_url: `https://${MATTERMOST_HOST}` }, MATTERMOST_CHANNEL),
    cases: [
      {
        name: 'posted with the claimed text',
        situation: 'posted',
        absentRoutes,
        claim: claim({ text_fingerprint: FINGERPRINT }),
        sees: { kind: 'present', facts: { message: POST, found_thread: POST, same_text: true } },
        verdict: 'verified',
      },
      {
        name: 'of another text, and never edited',
        situation: 'posted',
        absentRoutes,
        claim: claim({ text_fingerprint: OTHER }),
        sees: { kind: 'present', differs: ['text_fingerprint'], mark: 'never_before' },
        verdict: 'mismatch',
      },
      {
        name: 'never posted',
        situation: 'missing',
        absentRoutes,
        claim: claim(),
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
    ],
  })
  t.ok(report.ok)
})
