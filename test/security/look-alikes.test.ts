/** Names that imitate the name of a bound agent, or hide something in it. Threat A4 of `security.md`. */
import { newId } from '@claimcheck/server/base/ids'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Application, CLIENT, CONFIDENTIAL } from '../support/application.ts'
import { Client } from '../support/client.ts'
import { Installation } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const OAUTH = { clients: [CLIENT, CONFIDENTIAL], dynamic_registration: true }
const installation = await Installation.start({ file: { oauth: OAUTH, rate_limits: { key: 0 } } })
afterFile(() => installation.remove())
const { keys, storage, workspaces } = installation.claimcheck

const BOUND = 'release-bot'

/** By what it does: each is another text than the bound agent's, and is not taken for it. */
const HIDDEN: Readonly<Record<string, string>> = {
  'a blank after it': 'release-bot ',
  'a blank before it': ' release-bot',
  'a space without a break': 'release\u00a0bot',
  'a zero-width space': 'release\u200b-bot',
  'an empty Braille cell': 'release-bot\u2800',
  'a joiner': 'release\u200d-bot',
  'a non-joiner': 'release\u200c-bot',
  'a word joiner': 'release\u2060-bot',
  'a byte order mark': '\ufeffrelease-bot',
  'a soft hyphen': 're\u00adlease-bot',
  'tag characters': 'release-bot\u{e0031}\u{e007f}',
  'a variation selector': 'release-bot\ufe0f',
  'a selector of ideographs': 'release-bot\u{e0100}',
  'a grapheme joiner': 'release\u034f-bot',
  'a filler': 'release-bot\u3164',
  'a mark of direction': 'release-bot\u200e',
  'text that is turned': '\u202etob-esaeler\u202c',
  'an isolate': '\u2066release-bot\u2069',
  'a line break': 'release-bot\n',
  'a tab': 'release\t-bot',
  'a control character': 'release-bot\u0007',
  'a character for private use': 'release-bot\ue000',
  'a character that Unicode does not know': 'release-bot\u0378',
  'no character': 'release-bot\uffff',
  'a line separator': 'release-bot\u2028',
}

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  capitals: 'Release-Bot',
  'all capitals': 'RELEASE-BOT',
  'a Cyrillic e': 'r\u0435lease-bot',
  'a Cyrillic o': 'release-b\u043et',
  'a Greek o': 'release-b\u03bft',
  'a capital I for l': 'reIease-bot',
  'a digit for l': 're1ease-bot',
  'a digit for o': 'release-b0t',
  'a bar for l': 're|ease-bot',
  'full width': '\uff52\uff45\uff4c\uff45\uff41\uff53\uff45-\uff42\uff4f\uff54',
  'letters of mathematics': '\u{1d42b}\u{1d41e}\u{1d425}\u{1d41e}\u{1d41a}\u{1d42c}\u{1d41e}-bot',
  'another hyphen': 'release\u2010bot',
  'a sign of subtraction': 'release\u2212bot',
  'a Roman numeral': 're\u217cease-bot',
  'a letter of Cherokee': '\u13a1elease-bot',
  'a line through a letter': 'release\u0332-bot',
  'an accent that is no letter': 'release-bot\u0306',
  'a long s': 'relea\u017fe-bot',
}

t.test('an id with something in it that is not seen is refused, with the character and its place', async (t) => {
  const client = await installation.client('hidden')
  for (const [what, agent_id] of Object.entries(HIDDEN)) {
    const { status, body } = await client.submit({ agent_id })
    t.match([status, body.detail], [422, [{ loc: ['body', 'agent_id'], type: 'value_error' }]], what)
    t.match(body.detail[0].msg, /U\+[0-9A-F]{4,6} at position \d+\)?.*: (leave it out|write a plain blank)$/, what)
  }
  const { body } = await client.submit({ agent_id: 'a\u{1f916}\u200bb' })
  t.equal(
    body.detail[0].msg,
    'Value error, it has an invisible character (U+200B at position 3): leave it out',
    'by characters',
  )
})

t.test('what looks like a bound agent needs its key', async (t) => {
  const free = await installation.client('imitated')
  const { key } = await keys.create(free.workspaceId, 'bound', { agentIds: [BOUND] })
  t.match(await new Client(installation.host, free.workspaceId, key).submit({ agent_id: BOUND }), { status: 202 })
  for (const [what, agent_id] of Object.entries(LOOK_ALIKES)) {
    const { status, body } = await free.submit({ agent_id })
    t.equal(status, 403, what)
    t.match(
      body.detail,
      /^this agent_id looks like release-bot \(.*U\+[0-9A-F]{4}.*\), which is bound to certain API keys/,
      what,
    )
    await t.rejects(keys.create(free.workspaceId, 'another', { agentIds: [agent_id] }), { code: 'conflict' }, what)
  }
  const { body } = await free.submit({ agent_id: 'r\u0435lease-bot' })
  t.match(body.detail, 'looks like release-bot (U+0435 (\u0435) at position 2 is not U+0065 (e)), which is bound')
  const elsewhere = await installation.client('not imitated')
  for (const agent_id of Object.values(LOOK_ALIKES)) t.equal((await elsewhere.submit({ agent_id })).status, 202)
})

t.test('letters that look like two are found', async (t) => {
  const free = await installation.client('letters')
  await keys.create(free.workspaceId, 'bound', { agentIds: ['mirror-mail', 'агент', 'paypal', 'CI-Release-bot'] })
  const others = [
    'rnirror-mail',
    'MIRROR-MAIL',
    'mirror-maiI',
    'mIrror-maiI',
    'mirror-mall',
    'ci-reiease-bot',
    'ci-reIease-bot',
    'Ci-Re1ease-bot',
    'cI-ReIease-bot',
    'are\u043d\u0442',
    'АГЕНТ',
    'p\u0430yp\u0430l',
    '\u0440\u0430\u0443\u0440\u0430l',
  ]
  for (const agent_id of others) t.equal((await free.submit({ agent_id })).status, 403, agent_id)
})

const HONEST = [
  'release-bot-2',
  'release-bots',
  'release_bot',
  'releasebot',
  'Müller',
  'Muller',
  'año-bot',
  'ano-bot',
  'Đà Nẵng',
  'агент-релиза',
  'εκδότης',
  'סוכן',
  'وكيل الإصدار',
  'نسخه‌ساز',
  'خانه‌ها',
  'リリース係',
  '发布机器人',
  '릴리스 봇',
  'क्‍ष रिलीज़',
  'ผู้เผยแพร่',
  'արձակող',
  'გამოშვება',
  'release 🤖',
  '👩‍💻 deploy',
  '👩🏽‍🚀',
  '❤️ bot',
  '🏳️‍🌈',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿 bot',
  '1️⃣',
  'ci/cd: build (main)',
  'a'.repeat(256),
  '🤖'.repeat(256),
]

t.test('honest names pass, in whatever script, and beside each other', async (t) => {
  const free = await installation.client('honest')
  await keys.create(free.workspaceId, 'bound', { agentIds: [BOUND, 'mirror-mail'] })
  for (const agent_id of HONEST) {
    const { status, body } = await free.submit({ agent_id })
    t.match([status, body.agent_id], [202, agent_id], agent_id)
  }
  t.match(await keys.create(free.workspaceId, 'all', { agentIds: HONEST.filter((id) => id !== 'a') }), { id: /^key_/ })
})

t.test('an id that was stored before stays readable, and is found by its bytes', async (t) => {
  const client = await installation.client('before')
  const { body } = await client.submit({ agent_id: 'template' })
  const row = (await storage.read.claims.byId(client.workspaceId, body.claim_id))!
  const ids = ['release-bot ', 'release\u200b-bot', '\u202etob\u202c']
  const rows = ids.map((agentId) => {
    const claimId = newId('clm_', row.submittedAt)
    return { ...row, claimId, clientClaimId: claimId, agentId, receiptId: null }
  })
  await storage.write((tx) => tx.claims.insertNew(rows))
  for (const agentId of ids) {
    const query = new URLSearchParams({ agent_id: agentId })
    const { body: list } = await client.get(`/v1/claims?${query}`)
    t.strictSame(
      list.claims.map((claim: { agent_id: string }) => claim.agent_id),
      [agentId],
      'with its bytes',
    )
  }
  const again = await client.submit({ agent_id: 'template', client_claim_id: body.client_claim_id })
  t.match(again.body, { created: false })
})

t.test('names of keys and workspaces do not look like those that are there', async (t) => {
  const { workspaceId } = await installation.client('acme-corp')
  for (const name of ['acme-corp', 'acme-c0rp', 'Acme-Corp', '\u0430cme-corp']) {
    const message = `the name ${name} is taken, or looks like one that is: choose another name`
    await t.rejects(workspaces.create(name), { code: 'conflict', message }, 'it names no workspace of other people')
  }
  const other = await workspaces.create('another')
  await t.rejects(workspaces.rename(other.id, 'acme-c0rp'), { code: 'conflict' })
  await workspaces.rename(other.id, 'Another')
  for (const name of ['ws_a', 'Ws_a', '\uff57s_a', 'a\u200bb', 'a\u202eb', ' a', 'a ']) {
    await t.rejects(workspaces.create(name), { code: 'bad_request' }, JSON.stringify(name))
  }
  for (const name of ['नमस्ते', 'نسخه‌ساز', '日本']) t.equal((await workspaces.create(name)).name, name)

  await keys.create(workspaceId, 'deploy')
  await keys.create(workspaceId, 'deploy')
  await t.rejects(keys.create(workspaceId, 'dep1oy'), { code: 'conflict' })
  const { id } = await keys.create(workspaceId, ' o\u0301  x\u00a0y ')
  t.equal((await keys.list(workspaceId)).find((key) => key.id === id)?.name, 'ó x y', 'in its one form')
  await t.rejects(keys.change(id, { name: 'DEPLOY' }), { code: 'conflict' })
  await t.rejects(keys.change(id, { name: 'a\u2066b' }), { code: 'bad_request', message: /U\+2066 at position 2/ })
})

t.test(
  'no application that registers itself looks like one that the operator registered, or like the service',
  async (t) => {
    const redirect_uris = ['https://elsewhere.example/back']
    const register = (client_name: string) =>
      installation.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name, redirect_uris, token_endpoint_auth_method: 'none' }),
      })
    const names = ['Back office', 'BACK OFFICE', 'Back 0ffice', 'B\u0430ck office']
    for (const name of names) {
      const { status, body } = await register(name)
      t.match(
        [status, body],
        [400, { error: 'invalid_client_metadata', error_description: /is, or looks like, / }],
        name,
      )
    }
    const likeService = [
      'Claimcheck',
      'CLAIMCHECK',
      'Claim check',
      'CIaimcheck',
      'Clаimcheck',
      'Clairncheck',
      'Claimcheck command line',
      'Claimcheck: sign in',
      'Official Claimcheck',
      'OFFICIAL-CLAIMCHECK',
      'The Clairn check app',
      'MyСlaimcheck',
      '(Claimcheck)',
      'Claimcheck (official)',
      'Sign in to Claimcheck (claimcheck)',
      'Claimcheck - sign in',
      'Claimcheck - claimcheck',
      'Official-claimcheck',
      '— Claimcheck',
    ]
    for (const name of likeService) {
      const { status, body } = await register(name)
      t.match([status, body], [400, { error_description: /has the name of this service/ }], name)
    }
    for (const name of [
      'Claude Code (claimcheck)',
      'MCPJam - claimcheck',
      'MCP Inspector – Claimcheck',
      'Claims checker',
      'Reclaim checkout',
      'Cursor',
    ])
      t.equal((await register(name)).status, 201, name)
    const made = await register('Front office')
    t.equal(made.status, 201)
    t.equal((await register('Front office')).status, 201, 'each installation of an application registers itself')
    const owner = await Visitor.owner(installation.host, 'consenting')
    await owner.get('/console')
    const page = await new Application(made.body).consentPage(owner)
    t.match(textOf(page.html), /It registered itself, and gave itself this name/)
    const known = await new Application().consentPage(owner)
    t.notMatch(textOf(known.html), /registered itself/)
  },
)

t.test('a refusal at the consent page shows what is hidden in the name of a workspace', async (t) => {
  const { host, config } = installation
  const owner = await Visitor.owner(host, 'hiding')
  const workspaceId = await owner.workspaceId()
  const member = await Visitor.joining(host, workspaceId, 'member', 'Mia')
  const stored = 'a\u202eb'
  await query(config.databaseUrl, `UPDATE workspaces SET name = '${stored}' WHERE id = '${workspaceId}'`)
  const application = new Application()
  const asked = await application.consentPage(member, { scope: 'claims:submit' })
  const allow = { decision: 'allow', workspace: workspaceId }
  const answers = [await application.send(member, asked.path, allow).then((answer) => answer.text())]
  await query(config.databaseUrl, `UPDATE workspaces SET sign_in_rule = 'passkey' WHERE id = '${workspaceId}'`)
  answers.push(await application.send(member, asked.path, allow).then((answer) => answer.text()))
  const two = await Visitor.joining(host, workspaceId, 'owner', 'Otto')
  await query(config.databaseUrl, `UPDATE workspaces SET sign_in_rule = 'any' WHERE id = '${workspaceId}'`)
  const { id } = await workspaces.create('second of Otto')
  await installation.claimcheck.members.list(id)
  const token = await installation.claimcheck.accounts.inviteToken(id, 'member', null)
  await two.get(`/console/join/${token}`)
  await two.post(`/console/join/${token}`)
  answers.push((await application.consentPage(two)).html)
  for (const html of answers) {
    t.notMatch(html, stored)
    t.match(textOf(html), 'a<U+202E>b')
  }
})
