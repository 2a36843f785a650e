/**
 * Invitations are no mail relay: what attackers send by them, and by accounts in the names of others, through a real mail server.
 * Threats S3 and S8 of `security.md`.
 */
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Installation } from '../support/installation.ts'
import { Mailbox } from '../support/mailbox.ts'
import { openQuerying } from '../support/sql.ts'
import { PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const RATE_LIMITS = { network: 0, refusals: 0, sign_in: 0 }
const PER_ACCOUNT = 6
const ATTEMPTS = PER_ACCOUNT + 2
const PER_NOTICE = 4
const LIMITS = { invitations_per_account: PER_ACCOUNT, mails_per_recipient: PER_NOTICE }

const mailbox = await Mailbox.open()
const installation = await Installation.start({ env: mailbox.env, file: { rate_limits: RATE_LIMITS, limits: LIMITS } })
const db = await openQuerying(installation.config.databaseUrl)
afterFile(async () => {
  await db.close()
  await installation.remove()
  await mailbox.close()
})
const { host, claimcheck } = installation

async function inviting(name: string) {
  const owner = await (await Visitor.owner(host, name)).confirm(mailbox)
  const workspace = await owner.workspaceId()
  const path = `/console/w/${workspace}/members`
  await owner.get(path)
  const invite = (email: string, role = 'member') => owner.post(`${path}/invitations`, { role, email })
  return { owner, workspace, path, invite }
}

/** When nothing waits any more. */
async function sentTo(part: string) {
  while ((await db.query('SELECT id FROM mails WHERE sent_at IS NULL')).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return mailbox.mails.filter(({ to }) => to.some((address) => address.includes(part)))
}

const invitations = (mails: Awaited<ReturnType<typeof sentTo>>) =>
  mails.filter(({ headers }) => headers.get('subject') === 'You are invited to a workspace in Claimcheck')

function linkIn(text: string): URL {
  return new URL(/https?:\/\/\S+/.exec(text)![0])
}

t.test(
  'an account sends so many invitations a day, also by further accounts and workspaces, and no words in subjects',
  async (t) => {
    const { owner, invite, workspace } = await inviting('www.evil.example pay now')
    const answers: number[] = []
    for (let one = 0; one < ATTEMPTS; one++) answers.push((await invite(`victim${one}@relayed.example`)).status)
    // Another workspace, and another account that this one let in.
    const token = await claimcheck.accounts
      .inviteToken(workspace, 'owner', (await ownerOf(workspace)).userId)
      .catch(() => '')
    t.equal(token, '', 'links to pass on count as well')
    const { path } = await owner.post('/console/workspaces/new', { name: 'another one' })
    const other = /\/w\/([^/]+)\//.exec(path)![1]
    answers.push(
      (await owner.post(`/console/w/${other}/members/invitations`, { role: 'member', email: 'x@relayed.example' }))
        .status,
    )
    t.equal(answers.filter((status) => status === 200).length, PER_ACCOUNT)
    t.equal(answers.filter((status) => status === 429).length, ATTEMPTS + 1 - PER_ACCOUNT)
    const mails = invitations(await sentTo('@relayed.example'))
    t.equal(mails.length, PER_ACCOUNT, `of ${ATTEMPTS + 2} attempts`)
    for (const { text, headers, from } of mails) {
      t.match([headers.get('from'), from], ['Claimcheck <claimcheck@example.com>', 'claimcheck@example.com'])
      t.notMatch(text, /www\.evil/)
      t.match(text, '“www[.]evil[.]example pay now”')
      t.equal([...text.matchAll(/https?:/g)].length, 1, 'one link: ours')
    }
  },
)

async function ownerOf(workspace: string) {
  return (await claimcheck.members.list(workspace))[0]!
}

t.test(
  'an address gets three a day, from however many accounts and workspaces at once, and however it is written',
  async (t) => {
    const people = await Promise.all(['one', 'two', 'three'].map(inviting))
    const written = ['flooded@box.example', 'Flooded@box.example', 'flooded+a@box.example', 'flooded+b@box.example']
    const pages = await Promise.all(people.flatMap(({ invite }) => written.map((address) => invite(address))))
    t.equal(pages.filter(({ status }) => status === 200).length, 3)
    const [refused] = pages.filter(({ status }) => status === 429)
    t.match(textOf(refused!.html), /Nothing was sent: an address may get at most 3 a day/)
    t.ok(Number(refused!.headers.get('retry-after')) > 60 * 60)
    t.ok(invitations(await sentTo('@box.example')).length <= 3, `of ${pages.length} attempts`)
  },
)

t.test('an address has one open invitation to a workspace: another one ends it', async (t) => {
  const { owner, workspace, path, invite } = await inviting('renewing')
  await invite('again@example.net')
  const first = invitations(await sentTo('again@example.net'))[0]!
  await invite('again@example.net', 'owner')
  t.match(await claimcheck.members.invitations(workspace), [
    { role: 'owner', mail: { recipient: 'again@example.net' } },
  ])
  const [, second] = invitations(await sentTo('again@example.net'))
  t.equal((await new Visitor(host).get(linkIn(first.text).pathname)).status, 404)
  t.match(textOf((await owner.get(path)).html), /again@example\.net owner owner/)
  const guest = new Visitor(host, 'again@example.net')
  const form = await guest.get(linkIn(second!.text).pathname)
  t.match(form.html, /<input[^>]*name="email"[^>]*value="again@example\.net"/)
  await guest.post(linkIn(second!.text).pathname, { name: 'Ada', email: 'else@example.net', password: PASSWORD })
  t.match(await claimcheck.members.list(workspace), [{}, { email: 'again@example.net', isConfirmed: true }])
  t.strictSame(await claimcheck.members.invitations(workspace), [])
})

t.test('the answer is the same whether the address has an account', async (t) => {
  const { invite, path } = await inviting('asking')
  const stranger = await Visitor.owner(host, 'known')
  const page = async (email: string) => {
    const { status, html } = await invite(email)
    const said = /<p class="notice"[^>]*>(.*?)<\/p>/s.exec(html)?.[1]
    return [status, said?.replaceAll(email, 'ADDRESS')]
  }
  t.strictSame(await page(stranger.email), await page('unknown@example.net'))
  t.ok(path)
})

t.test('a mail that the server refuses for good is told to who invited, with the reason, on one line', async (t) => {
  const { owner, path, invite, workspace } = await inviting('refused')
  await sentTo('@')
  mailbox.refusals.push(550)
  await invite('gone@example.net')
  await sentTo('@')
  const page = textOf((await owner.get(path)).html)
  t.match(page, /gone@example\.net The mail could not be delivered\. The mail server says: .*550/)
  t.match(
    textOf((await owner.get(`/console/w/${workspace}/audit-trail`)).html),
    /gave up sending a mail .*gone@example\.net/,
  )
  const metrics = await (await fetch(`${host.url}/metrics`)).text()
  t.match(metrics, /claimcheck_mail_deliveries_total\{outcome="refused"\} 1\n/)
  mailbox.refusals.push(451)
  await invite('later@example.net')
  const shown = async () => textOf((await owner.get(path)).html)
  while (!/later@example\.net The mail waits to be sent/.test(await shown()))
    await new Promise((done) => setTimeout(done, 50))
  t.notMatch(await shown(), /later@example\.net The mail could not/)
  while (mailbox.refusals.length > 0) await new Promise((done) => setTimeout(done, 50))
  await db.query("DELETE FROM mails WHERE recipient = 'later@example.net'")
})

t.test('an address that is not confirmed counts for nothing', async (t) => {
  const { workspace } = await inviting('squatted')
  const token = await claimcheck.accounts.inviteToken(workspace, 'owner', null)
  const squatter = new Visitor(host, 'victim@bank.example')
  await squatter.post(`/console/join/${token}`, { name: 'Vic', email: squatter.email, password: PASSWORD })
  const workspacePath = `/console/w/${workspace}`
  t.match(textOf((await squatter.get('/console/account')).html), /Your address is not confirmed/)
  t.match(textOf((await squatter.get(`${workspacePath}/members`)).html), /victim@bank\.example \(not confirmed\)/)

  const refused = await squatter.post(`${workspacePath}/members/invitations`, {
    role: 'member',
    email: 'x@example.net',
  })
  t.match([refused.status, textOf(refused.html)], [422, /Confirm your e-mail address first/])
  await squatter.post(`${workspacePath}/developers/keys`, { name: 'planted' })
  const headers = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/130.0 Safari/537.36' }
  await new Visitor(host).post('/console/sign-in', { email: squatter.email, password: PASSWORD }, headers)
  await new Visitor(host).post('/console/forgotten', { email: squatter.email })
  for (let count = 0; count < 5; count++) await squatter.post('/console/account/address')
  const got = (await sentTo('victim@bank.example')).map((mail) => mail.headers.get('subject'))
  t.strictSame(got, Array(3).fill('Confirm your address for Claimcheck'), 'no notice, no link into the account')

  const link = linkIn((await sentTo('victim@bank.example'))[0]!.text).pathname
  const { owner, invite } = await inviting('real')
  t.equal((await owner.post(link)).status, 404, 'a link confirms in a session of its account alone')
  await db.query('DELETE FROM throttles')
  await invite('victim@bank.example')
  const invited = invitations(await sentTo('victim@bank.example'))[0]!
  const person = new Visitor(host, 'victim@bank.example')
  const join = (more = {}) => person.post(linkIn(invited.text).pathname, { name: 'Vera', password: PASSWORD, ...more })
  const asked = await join()
  t.match([asked.status, textOf(asked.html)], [422, /never confirmed it.*sign in to it.*It is not mine: it loses/])
  const joined = await join({ takes_address: 'on' })
  t.match(joined.path, /\/claims$/, 'who reads the mails gets the address')
  t.match(textOf((await squatter.get('/console/account')).html), /has no address any more.*@unconfirmed\.invalid/)
  const again = await squatter.post('/console/account/address')
  t.match([again.status, textOf(again.html)], [422, /Your account has no address any more/])
  t.equal((await squatter.post(link)).status, 404)
})

t.test('of each notice an address gets so many a day, and the last one says so', async (t) => {
  const { owner, workspace } = await inviting('noisy')
  for (let count = 0; count < PER_NOTICE + 3; count++) await claimcheck.keys.create(workspace, `key ${count}`)
  const notices = (await sentTo(owner.email)).filter((mail) => /A new API key/.test(mail.headers.get('subject')!))
  t.equal(notices.length, PER_NOTICE, `of ${PER_NOTICE + 3}`)
  t.strictSame(
    notices.map(({ text }) => /there are no more of them/.test(text)),
    [...Array(PER_NOTICE - 1).fill(false), true],
  )
  await claimcheck.machines.create(workspace, 'nightly', ['claims:read'])
  await mailbox.mailTo(owner.email, /A new machine/)
})
