/** What may be said of messages that are edited, deleted, hidden or of another kind, over the life of a claim. */
import { textFingerprint } from '@claimcheck/core/receipts'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import chat from '@claimcheck/plugin-chat'
import t, { type Test } from 'tap'
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

const START = Date.UTC(2026, 10, 2, 9)
const MINUTE = 60_000
const TS = tsOf(START)
const SNOWFLAKE = snowflakeOf(START)
const POST = 'p9u6q8h1rtb7tn8f8gmh3dq4ph'
const TEXT = 'Build 42 is green'
const FINGERPRINT = textFingerprint(TEXT)
const DAY = 24 * 60 * MINUTE

interface World {
  /** Changes what is at the platforms, by the clock; the first at once. */
  readonly at: Readonly<Record<number, (platforms: Platforms) => void>>
  readonly params?: object
  readonly message?: string
  readonly target?: string
  readonly submittedAfterMs?: number
}

const PROVIDERS = {
  slack: { target: `slack:${TEAM}/${SLACK_CHANNEL}`, message: TS, options: { team: TEAM } },
  discord: { target: `discord:${GUILD}/${DISCORD_CHANNEL}`, message: SNOWFLAKE, options: { guild: GUILD } },
  mattermost: {
    target: `mattermost:${MATTERMOST_HOST}/${MATTERMOST_CHANNEL}`,
    message: POST,
    options: { base_url: `https://${MATTERMOST_HOST}` },
  },
} as const

async function live(
  t: Test,
  provider: keyof typeof PROVIDERS,
  { at, params, submittedAfterMs = 500, ...world }: World,
) {
  const clock = createVirtualClock(START)
  const platforms = new Platforms(clock.now)
  const changes = Object.entries(at).map(([after, change]) => ({ from: START + Number(after), change }))
  const { url, stop } = await platforms.start()
  t.teardown(stop)
  const own = PROVIDERS[provider]
  const { decision, records, requests } = await liveClaim({
    plugin: chat,
    connection: { provider, options: { token: TOKEN, ...own.options } },
    destination: url,
    claim: {
      action: 'chat.message.post',
      target: world.target ?? own.target,
      params: { message: world.message ?? own.message, ...params },
      claimedAt: START,
    },
    submittedAt: START + submittedAfterMs,
    clock,
    async reach(until) {
      for (const { from, change } of changes) if (from <= until) change(platforms)
    },
  })
  const last = records.findLast((record) => 'observation' in record)
  const facts = last && 'observation' in last ? last.observation.facts : {}
  return { verdict: decision?.verdict.value, facts, requests: requests.length, records }
}

const slack =
  (message: object = {}) =>
  (at: Platforms) => {
    at.slack = [{ ts: TS, text: TEXT, user: 'U061F7AUR', ...message }]
  }
const discord =
  (message: object = {}) =>
  (at: Platforms) => {
    at.discord = [{ id: SNOWFLAKE, content: TEXT, ...message }]
  }
const mattermost =
  (post: object = {}) =>
  (at: Platforms) => {
    at.mattermost = [{ id: POST, message: TEXT, create_at: START, ...post }]
  }
const text = { text_fingerprint: FINGERPRINT }

t.test('a message that is there costs two requests', async (t) => {
  const { verdict, facts, requests } = await live(t, 'slack', { at: { 0: slack() }, params: text })
  t.equal(verdict, 'verified')
  t.match(facts, { message: TS, found_thread: TS, same_text: true, posted_at: new Date(START).toISOString() })
  t.equal(requests, 2)
  t.equal((await live(t, 'discord', { at: { 0: discord() }, params: text })).requests, 2)
  t.equal((await live(t, 'mattermost', { at: { 0: mattermost() }, params: text })).requests, 2)
})

t.test('a claim that comes after the tolerance is placed by the clock of the platform', async (t) => {
  const late = { submittedAfterMs: 15 * MINUTE, params: text }
  t.equal((await live(t, 'slack', { at: { 0: slack() }, ...late })).verdict, 'verified')
  t.equal((await live(t, 'discord', { at: { 0: discord() }, ...late })).verdict, 'verified')
  t.equal((await live(t, 'mattermost', { at: { 0: mattermost() }, ...late })).verdict, 'verified')
  const admin = (at: Platforms) => {
    mattermost()(at)
    at.roles = 'system_user system_admin'
  }
  const { verdict, facts } = await live(t, 'mattermost', { at: { 0: admin }, ...late })
  t.equal(verdict, 'unverifiable', 'an administrator may choose the time')
  t.match(facts, { undated: true, posted_at: undefined })
})

t.test('a message of days ago', async (t) => {
  const message = tsOf(START - 3 * DAY)
  const { verdict, facts } = await live(t, 'slack', { at: { 0: slack({ ts: message }) }, message })
  t.equal(verdict, 'verified')
  t.match(facts, { preexisting: true })
})

t.test('a message that is posted too late', async (t) => {
  const message = tsOf(START + 12 * MINUTE)
  const at = { [12 * MINUTE]: slack({ ts: message }) }
  t.equal((await live(t, 'slack', { at, message })).verdict, 'late')
  t.equal((await live(t, 'slack', { at, message, submittedAfterMs: 15 * MINUTE })).verdict, 'late')
})

t.test('a text that came by an edit', async (t) => {
  const edited = (after: number) => discord({ edited_timestamp: new Date(START + after).toISOString() })
  const other = discord({ content: 'Building' })
  const early = { 0: other, [MINUTE]: edited(MINUTE) }
  t.equal((await live(t, 'discord', { at: early, params: text })).verdict, 'verified')
  const late = { 0: other, [20 * MINUTE]: edited(20 * MINUTE) }
  t.equal((await live(t, 'discord', { at: late, params: text })).verdict, 'late')
  const unseen = { at: late, params: text, submittedAfterMs: 25 * MINUTE }
  t.equal((await live(t, 'discord', unseen)).verdict, 'unverifiable', 'no look saw the text before')
  t.equal((await live(t, 'discord', { at: late })).verdict, 'verified', 'a claim without a text')
})

t.test('an edit of an app with blocks, which Slack does not mark', async (t) => {
  const app = { user: 'U0BOT', bot_id: 'B0BOT', app_id: 'A0APP', blocks: [{ type: 'section' }] }
  const at = { 0: slack({ ...app, text: 'Building' }), [20 * MINUTE]: slack(app) }
  t.equal((await live(t, 'slack', { at, params: text })).verdict, 'late', 'looks saw the other text')
  const unseen = { at, params: text, submittedAfterMs: 25 * MINUTE }
  t.equal((await live(t, 'slack', unseen)).verdict, 'unverifiable', 'nobody knows')
})

t.test('another text', async (t) => {
  const other = { params: { text_fingerprint: textFingerprint('Build 43 is green') } }
  for (const [provider, at] of [
    ['slack', slack()],
    ['discord', discord()],
    ['mattermost', mattermost()],
  ] as const)
    t.equal((await live(t, provider, { at: { 0: at }, ...other })).verdict, 'mismatch', provider)
  const edit = slack({ edited: { user: 'U061F7AUR', ts: tsOf(START + 400) } })
  t.equal((await live(t, 'slack', { at: { 0: edit }, ...other })).verdict, 'unverifiable', 'it may have been so')
})

t.test('accounts of an app at Slack', async (t) => {
  const whole = slack({ user: 'U0BOT', bot_id: 'B0BOT', app_id: 'A0APP' })
  for (const author of ['U0BOT', 'B0BOT', 'A0APP'])
    t.equal((await live(t, 'slack', { at: { 0: whole }, params: { author } })).verdict, 'verified', author)
  for (const author of ['U0OTHER', 'B0OTHER', 'A0OTHER'])
    t.equal((await live(t, 'slack', { at: { 0: whole }, params: { author } })).verdict, 'mismatch', author)
  const bot = slack({ user: undefined, bot_id: 'B0BOT', subtype: 'bot_message' })
  t.equal((await live(t, 'slack', { at: { 0: bot }, params: { author: 'U0BOT' } })).verdict, 'unverifiable')
  t.equal((await live(t, 'slack', { at: { 0: slack() }, params: { author: 'B0BOT' } })).verdict, 'mismatch')
})

t.test('replies, whose threads are named or not', async (t) => {
  const thread = tsOf(START - MINUTE)
  const at = {
    0: (platforms: Platforms) => {
      const parent = { ts: thread, thread_ts: thread, text: 'Go', user: 'U061F7AUR' }
      platforms.slack = [parent, { ts: TS, thread_ts: thread, text: TEXT, user: 'U061F7AUR' }]
    },
  }
  t.equal((await live(t, 'slack', { at })).verdict, 'verified')
  t.equal((await live(t, 'slack', { at, params: { thread } })).verdict, 'verified')
  const { verdict, facts } = await live(t, 'slack', { at, params: { thread: TS } })
  t.equal(verdict, 'mismatch')
  t.match(facts, { found_thread: thread })
  t.equal((await live(t, 'slack', { at: { 0: slack() }, params: { thread } })).verdict, 'mismatch', 'in no thread')
})

t.test('what is missing', async (t) => {
  const none = { at: {} }
  t.equal((await live(t, 'slack', none)).verdict, 'failed')
  t.equal((await live(t, 'discord', { at: { 0: discord({ id: snowflakeOf(START - DAY) }) } })).verdict, 'failed')
  t.equal((await live(t, 'mattermost', none)).verdict, 'failed')
  t.equal((await live(t, 'slack', { at: {}, submittedAfterMs: MINUTE })).verdict, 'unverifiable', 'it may be deleted')
})

t.test('what may be hidden', async (t) => {
  const unseen = (at: Platforms) => {
    discord({ id: snowflakeOf(START - DAY) })(at)
    at.readsHistory = false
  }
  t.equal((await live(t, 'discord', { at: { 0: unseen } })).verdict, 'unverifiable', 'an empty history')
  const untold = (at: Platforms) => {
    discord()(at)
    at.readsContent = false
  }
  t.equal((await live(t, 'discord', { at: { 0: untold }, params: text })).verdict, 'unverifiable', 'an empty text')
  t.equal((await live(t, 'discord', { at: { 0: untold } })).verdict, 'verified', 'a claim without a text')
  const other = { at: { 0: untold }, params: { ...text, author: '80351110224678919' } }
  t.equal((await live(t, 'discord', other)).verdict, 'mismatch', 'the author is shown')
  const limited = (at: Platforms) => {
    at.isSlackLimited = true
  }
  const old = tsOf(START - 100 * DAY)
  t.equal((await live(t, 'slack', { at: { 0: limited }, message: old })).verdict, 'unverifiable', 'beyond the plan')
  const away = (at: Platforms) => {
    at.slackTeam = 'T0OTHER'
  }
  t.equal((await live(t, 'slack', { at: { 0: away } })).verdict, 'unverifiable', 'a token of another team')
})

t.test('what is no post', async (t) => {
  t.equal((await live(t, 'slack', { at: { 0: slack({ subtype: 'channel_join' }) } })).verdict, 'failed')
  t.equal((await live(t, 'discord', { at: { 0: discord({ type: 7 }) } })).verdict, 'failed')
  t.equal((await live(t, 'mattermost', { at: { 0: mattermost({ type: 'system_join_channel' }) } })).verdict, 'failed')
  t.equal((await live(t, 'slack', { at: { 0: slack({ subtype: 'tombstone' }) } })).verdict, 'unverifiable', 'deleted')
  t.equal((await live(t, 'slack', { at: { 0: slack({ subtype: 'of_tomorrow' }) } })).verdict, 'unverifiable')
})

t.test('what is elsewhere', async (t) => {
  const channel = 'qqqqqqqqqqqqqqqqqqqqqqqqqq'
  t.equal((await live(t, 'mattermost', { at: { 0: mattermost({ channel_id: channel }) } })).verdict, 'failed')
  const moved = (at: Platforms) => {
    discord()(at)
    at.discordGuild = '197038439483310087'
  }
  t.equal((await live(t, 'discord', { at: { 0: moved } })).verdict, 'failed')
})

t.test('ids of another platform, and a thread of Discord', async (t) => {
  t.equal((await live(t, 'slack', { at: {}, message: SNOWFLAKE })).verdict, 'unverifiable')
  t.equal((await live(t, 'discord', { at: { 0: discord() }, params: { thread: TS } })).verdict, 'unverifiable')
})

t.test('a host in capitals, and its usual port', async (t) => {
  const target = `mattermost:Chat.Example.com:443/${MATTERMOST_CHANNEL}`
  t.equal((await live(t, 'mattermost', { at: { 0: mattermost() }, target })).verdict, 'verified')
})
