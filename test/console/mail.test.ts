/** Mail: invitations, new passwords and notices, through a real server on loopback; and links that never name a host that a request chose. */
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { Mailbox } from '../support/mailbox.ts'
import { PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const NEW_PASSWORD = 'a rather different secret'
const mailbox = await Mailbox.open()
const installation = await Installation.start({ env: mailbox.env, file: { rate_limits: { refusals: 0, sign_in: 0 } } })
afterFile(async () => {
  await installation.remove()
  await mailbox.close()
})
const { host } = installation
const without = sharedInstallation()

/** The first link in a text. */
function linkIn(text: string): URL {
  return new URL(/https?:\/\/\S+/.exec(text)![0])
}

t.test('an invitation goes by mail, and its link lets one person join', async (t) => {
  const owner = await (await Visitor.owner(host, 'mailing')).confirm(mailbox)
  const workspaceId = await owner.workspaceId()
  const path = `/console/w/${workspaceId}/members`
  await owner.get(path)
  const page = await owner.post(`${path}/invitations`, { role: 'member', email: ' New.Person@example.com' })
  t.match(textOf(page.html), /The invitation as a member is on its way to new\.person@example\.com/)
  t.notMatch(page.html, '/console/join/', 'the link is for the invited person')
  const mail = await mailbox.mailTo('new.person@example.com', /^You are invited to a workspace in Claimcheck$/)
  const link = linkIn(mail.text)
  t.equal(link.origin, host.url)
  t.match(
    mail.text,
    `${owner.email} invites you to a workspace in Claimcheck, as a member. The name of the workspace is “mailing”.`,
  )
  const guest = new Visitor(host)
  const joined = await guest.post(link.pathname, { name: 'Nora', email: 'new.person@example.com', password: PASSWORD })
  t.match(joined.path, `/console/w/${workspaceId}/claims`)

  const refused = await owner.post(`${path}/invitations`, { role: 'member', email: 'a@b,c@d' })
  t.match([refused.status, textOf(refused.html)], [422, /the e-mail address is not valid/i])
  const shown = await owner.post(`${path}/invitations`, { role: 'member', email: '' })
  t.match(shown.html, '/console/join/', 'without an address the link is shown')
})

t.test('a forgotten password: the page answers alike, and only an account gets a link', async (t) => {
  const person = await (await Visitor.owner(host, 'forgetful')).confirm(mailbox)
  const stranger = new Visitor(host)
  t.match((await stranger.get('/console/sign-in')).html, 'href="/console/forgotten"')
  t.match(textOf((await stranger.get('/console/forgotten')).html), /A new password/)
  const answers = []
  for (const email of [person.email, 'nobody@example.com', 'no address']) {
    const { status, html } = await stranger.post('/console/forgotten', { email })
    answers.push([status, html])
  }
  t.equal(answers[0]![0], 200)
  t.strictSame(answers[1], answers[0])
  t.strictSame(answers[2], answers[0])
  const mail = await mailbox.mailTo(person.email, /A link to a new password/)
  const link = linkIn(mail.text)
  t.equal(link.origin, host.url)
  await stranger.post(link.pathname, { password: NEW_PASSWORD })
  t.equal((await stranger.get('/console/account')).status, 200)
  t.notOk(mailbox.mails.some(({ to }) => to.includes('nobody@example.com')))
})

t.test('owners are told of new keys and machines', async (t) => {
  const owner = await (await Visitor.owner(host, 'told')).confirm(mailbox)
  const workspaceId = await owner.workspaceId()
  const other = await (await Visitor.joining(host, workspaceId, 'owner', 'Olga')).confirm(mailbox)
  const member = await Visitor.joining(host, workspaceId, 'member', 'Mia')
  const path = `/console/w/${workspaceId}/developers`
  await owner.get(path)
  await owner.post(`${path}/keys`, { name: 'build server' })
  for (const { email } of [owner, other]) {
    const mail = await mailbox.mailTo(email, /A new API key/)
    t.match(mail.text, /The API key “build server” was made in the workspace “told”/)
    t.match(mail.text, /^From: 127\.0\.0\.1\r?$/m)
    t.equal(linkIn(mail.text).origin, host.url)
  }
  await installation.claimcheck.machines.create(workspaceId, 'nightly', ['claims:read'])
  await mailbox.mailTo(owner.email, /A new machine/)
  const told = mailbox.mails.filter(({ to }) => to.includes(member.email))
  t.ok(told.every(({ headers }) => headers.get('subject') === 'Confirm your address for Claimcheck'))
})

t.test('a person is told of a sign-in with another browser, and of a new password', async (t) => {
  const person = await (await Visitor.owner(host, 'watched')).confirm(mailbox)
  const same = new Visitor(host)
  await same.post('/console/sign-in', { email: person.email, password: PASSWORD })
  const headers = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/130.0 Safari/537.36' }
  await new Visitor(host).post('/console/sign-in', { email: person.email, password: PASSWORD }, headers)
  const mail = await mailbox.mailTo(person.email, /A new sign-in/)
  t.equal(linkIn(mail.text).pathname, '/console/account')
  await same.get('/console/account')
  await same.post('/console/account/password', { current: PASSWORD, next: NEW_PASSWORD })
  await mailbox.mailTo(person.email, /password was changed$/)
  const signIns = mailbox.mails.filter(({ to, headers }) => {
    return to.includes(person.email) && /A new sign-in/.test(headers.get('subject') ?? '')
  })
  t.equal(signIns.length, 1)
})

t.test('without a mail server there is no such page, and links are shown', async (t) => {
  const plain = (await without()).host
  const stranger = new Visitor(plain)
  t.notMatch((await stranger.get('/console/sign-in')).html, '/console/forgotten')
  t.equal((await stranger.get('/console/forgotten')).status, 404)
  t.equal((await stranger.post('/console/forgotten', { email: 'a@example.com' })).status, 404)
  const owner = await Visitor.owner(plain)
  const path = `/console/w/${await owner.workspaceId()}/members`
  t.notMatch((await owner.get(path)).html, 'name="email"')
  const page = await owner.post(`${path}/invitations`, { role: 'member', email: 'a@example.com' })
  t.match(page.html, `${plain.url}/console/join/`)
})

/** As a client that writes its own Host header. */
function send(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve(text))
    })
    request.on('error', reject)
    request.end(body)
  })
}

t.test('links name the address that the server listens at, whatever host a request names', async (t) => {
  const plain = (await without()).host
  const owner = await Visitor.owner(plain)
  const workspaceId = await owner.workspaceId()
  await owner.get(`/console/w/${workspaceId}/members`)
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { host: 'evil.example', origin: 'http://evil.example', cookie }
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
  const csrf = new URLSearchParams({ _csrf: owner.csrf ?? '' }).toString()
  const workspace = `${plain.url}/console/w/${workspaceId}`
  const invited = await send(`${workspace}/members/invitations`, form, `${csrf}&role=member`)
  t.match(invited, `${plain.url}/console/join/`)
  const made = await send(`${workspace}/developers/keys`, form, `${csrf}&name=x`)
  t.match(made, `curl &#39;${plain.url}/v1/claims`.replace('&#39;', "'"))
  const first = await send(`${workspace}/claims`, headers)
  for (const page of [invited, made, first]) t.notMatch(page, 'evil.example')
})
