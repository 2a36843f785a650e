/** The stand-ins themselves: they answer as published, and their rooms take no step that a chat does not know. */
import t from 'tap'
import { startServer } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import * as discord from './discord-api.ts'
import * as mattermost from './mattermost-api.ts'
import { HOUR, idAfter, type Provider, roomOf, type Scene, setOf } from './row.ts'
import * as slack from './slack-api.ts'

interface Asked {
  readonly path: string
  readonly scene?: Omit<Scene, 'room' | 'params'>
  readonly authorization?: string
}

/** What an answer has: its status, and what is at some path in its body. */
type Expected = readonly [status: number, at: string, value: unknown]
type Answer = readonly [title: string, asked: Asked, expected: Expected]

const SCHEME: Readonly<Record<Provider, string>> = { slack: 'Bearer', discord: 'Bot', mattermost: 'Bearer' }
const id = (provider: Provider, hours: number) => idAfter(provider, hours * HOUR)

/** An old message with a reply, one that was edited, and one that was deleted. */
function spoken(provider: Provider) {
  const parent = id(provider, -3)
  const isThreaded = provider !== 'discord'
  return roomOf(provider)
    .post(-3 * HOUR)
    .post(-2 * HOUR, isThreaded ? { thread: parent } : {})
    .post(-HOUR)
    .edit(-HOUR + 1000, id(provider, -1), 'edited')
    .post(-1000)
    .remove(-500, idAfter(provider, -1000))
}

const PARENT = id('slack', -3)
const REPLY = id('slack', -2)
const one = `oldest=${REPLY}&latest=${REPLY}&inclusive=true`
const method = (name: string, query: string) => `/api/${name}?channel=${slack.CHANNEL}&${query}`
const NO_MEMBER = { slack: { token: { member: [] } } }

const SLACK: readonly Answer[] = [
  ['who asks', { path: '/api/auth.test' }, [200, 'team_id', slack.TEAM]],
  ['a channel', { path: method('conversations.info', '') }, [200, 'channel.is_member', true]],
  ['history without replies', { path: method('conversations.history', one) }, [200, 'messages.length', 0]],
  [
    'the message before, where the beginning is left out',
    { path: method('conversations.history', `latest=${REPLY}&inclusive=true&limit=1`) },
    [200, 'messages.0.ts', PARENT],
  ],
  [
    'an edited one',
    { path: method('conversations.history', 'limit=1') },
    [200, 'messages.0.edited.user', slack.AUTHOR],
  ],
  ['a thread', { path: method('conversations.replies', `ts=${PARENT}`) }, [200, 'messages.1.ts', REPLY]],
  ['a reply alone', { path: method('conversations.replies', `ts=${REPLY}`) }, [200, 'messages.0.ts', REPLY]],
  ['no thread', { path: method('conversations.replies', 'ts=1.000000') }, [200, 'error', 'thread_not_found']],
  ['an outsider', { path: method('conversations.history', ''), scene: NO_MEMBER }, [200, 'error', 'not_in_channel']],
  ['another channel', { path: '/api/conversations.info?channel=C0' }, [200, 'error', 'channel_not_found']],
  ['a wrong token', { path: '/api/auth.test', authorization: 'Bearer xoxb-wrong' }, [200, 'error', 'invalid_auth']],
  ['an unknown method', { path: '/api/nothing' }, [200, 'error', 'unknown_method']],
]

const MESSAGES = `/api/v10/channels/${discord.CHANNEL}/messages`
const NO_CONTENT = { discord: { bot: { hasContent: false } } }
const hidden = { guild: discord.GUILD, type: 0, permissions: [] }
const DISCORD: readonly Answer[] = [
  ['a message', { path: `${MESSAGES}/${id('discord', -1)}` }, [200, 'content', 'edited']],
  ['without the intent', { path: `${MESSAGES}/${id('discord', -1)}`, scene: NO_CONTENT }, [200, 'content', '']],
  ['none', { path: `${MESSAGES}/${id('discord', 1)}` }, [404, 'code', 10_008]],
  ['a deleted one', { path: `${MESSAGES}/${idAfter('discord', -1000)}` }, [404, 'code', 10_008]],
  ['the newest', { path: `${MESSAGES}?limit=1` }, [200, '0.id', id('discord', -1)]],
  ['those before', { path: `${MESSAGES}?before=${id('discord', -2)}` }, [200, '0.id', id('discord', -3)]],
  ['those around', { path: `${MESSAGES}?around=${id('discord', -2)}&limit=1` }, [200, '0.id', id('discord', -2)]],
  ['a channel', { path: `/api/v10/channels/${discord.CHANNEL}` }, [200, 'guild_id', discord.GUILD]],
  ['no channel', { path: '/api/v10/channels/1' }, [404, 'code', 10_003]],
  [
    'a hidden channel',
    { path: MESSAGES, scene: { discord: { channels: { [discord.CHANNEL]: hidden } } } },
    [403, 'code', 50_001],
  ],
  ['a wrong token', { path: MESSAGES, authorization: 'Bot wrong' }, [401, 'code', 0]],
]

const POST = `/api/v4/posts/${id('mattermost', -2)}`
const GONE = `/api/v4/posts/${idAfter('mattermost', -1000)}`
const ADMIN = { mattermost: { user: { isAdmin: true } } }
const PRIVATE = { mattermost: { channels: { [mattermost.CHANNEL]: { type: 'P' as const } }, user: { member: [] } } }
const MATTERMOST: readonly Answer[] = [
  ['a post', { path: POST }, [200, 'root_id', id('mattermost', -3)]],
  ['an edited one', { path: `/api/v4/posts/${id('mattermost', -1)}` }, [200, 'edit_at', START - HOUR + 1000]],
  ['a deleted one', { path: GONE }, [404, 'id', 'app.post.get.app_error']],
  [
    'a deleted one to an administrator',
    { path: `${GONE}?include_deleted=true`, scene: ADMIN },
    [200, 'delete_at', START - 500],
  ],
  [
    'a deleted one to others',
    { path: `${GONE}?include_deleted=true` },
    [403, 'id', 'api.context.permissions.app_error'],
  ],
  ['to an outsider', { path: POST, scene: PRIVATE }, [403, 'id', 'api.context.permissions.app_error']],
  ['no id', { path: '/api/v4/posts/1' }, [400, 'id', 'api.context.invalid_url_param.app_error']],
  ['a membership', { path: `/api/v4/channels/${mattermost.CHANNEL}/members/me` }, [200, 'user_id', mattermost.READER]],
  ['a channel', { path: `/api/v4/channels/${mattermost.CHANNEL}` }, [200, 'type', 'O']],
  [
    'its posts',
    { path: `/api/v4/channels/${mattermost.CHANNEL}/posts?per_page=1` },
    [200, 'order.0', id('mattermost', -1)],
  ],
  [
    'a wrong token',
    { path: POST, authorization: 'Bearer wrong' },
    [401, 'id', 'api.context.session_expired.app_error'],
  ],
]

const ANSWERS: Readonly<Record<Provider, readonly Answer[]>> = {
  slack: SLACK,
  discord: DISCORD,
  mattermost: MATTERMOST,
}

for (const provider of ['slack', 'discord', 'mattermost'] as const) {
  t.test(provider, async (t) => {
    for (const [title, { path, scene, authorization }, [status, at, value]] of ANSWERS[provider]) {
      const { answer, secret } = setOf(provider, { ...scene, room: spoken(provider), params: {} })
      const chat = await startServer({ answer, now: () => START })
      const headers = { authorization: authorization ?? `${SCHEME[provider]} ${secret}` }
      const response = await fetch(`${chat.url}${path}`, { headers })
      t.equal(response.status, status, title)
      t.equal(valueAt(await response.json(), at), value, `${title}: ${at}`)
      t.strictSame(chat.faults, [], `${title}: as published`)
      await chat.close()
    }
  })
}

t.test('steps that there are not', async (t) => {
  const room = () => roomOf('slack').post(0)
  t.throws(() => room().post(0), 'an id is given out once')
  t.throws(() => room().post(-1), 'nothing is said before what was said')
  t.throws(() => room().remove(1, PARENT), 'what was not said is not deleted')
  t.throws(() => room().remove(1, idAfter('slack', 0)).edit(2, idAfter('slack', 0), ''), 'what is gone is not edited')
})

function valueAt(body: unknown, at: string): unknown {
  return at.split('.').reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)?.[name], body)
}
