/** Owners say in the console where events are sent, and see what became of them. */
import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { sharedInstallation } from '../support/installation.ts'
import { Receiver } from '../support/receiver.ts'
import { dump } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { webhooks: { allow_private: ['127.0.0.1'] } } })

async function begin(t: Test) {
  const installation = await shared()
  const { host, claimcheck } = installation
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const at = `/console/w/${workspaceId}/developers/webhooks`
  await owner.get(at)
  const { key } = await claimcheck.keys.create(workspaceId, 'test')
  const receiver = await Receiver.during(t)
  return { installation, claimcheck, owner, at, workspaceId, client: new Client(host, workspaceId, key), receiver }
}

/** Adds a webhook. @returns its secret and the path of its page */
async function add({ owner, at }: Awaited<ReturnType<typeof begin>>, fields: readonly (readonly [string, string])[]) {
  const page = await owner.post(`${at}/new`, fields)
  t.equal(page.status, 201, textOf(page.html))
  const [, secret = ''] = /data-copy="(whsec_[^"]+)"/.exec(page.html) ?? []
  const [, path = ''] = /href="([^"]*\/webhooks\/wht_[^"]+)"/.exec(page.html) ?? []
  return { secret: secret.replaceAll('&#x3D;', '='), path }
}

t.test('an owner adds a webhook, sees its secret once, tests it, and sees what it was sent', async (t) => {
  const world = await begin(t)
  const { installation, owner, at, client, receiver } = world
  t.match(textOf((await owner.get(at)).html), /No webhooks yet/)
  const { secret, path } = await add(world, [
    ['url', `${receiver.url}/ok/?token=in-the-url`],
    ['types', 'claim.decided'],
    ['verdicts', 'verified'],
    ['verdicts', 'failed'],
    ['actions', ''],
    ['agents', 'agent-1\r\n\r\nagent-2\r\n'],
  ])
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const listed = textOf((await owner.get(at)).html)
  t.match(
    listed,
    `${receiver.url} a program of yours claim.decided; verdicts: verified, failed; agents: agent-1, agent-2 on`,
  )
  const page = await owner.get(path)
  for (const html of [listed, page.html]) {
    t.notMatch(html, 'in-the-url', 'only the form has the address')
    t.notMatch(html, secret.slice(6, 40))
  }
  t.match((await owner.get(`${path}/change`)).html, 'in-the-url')

  const tested = await owner.post(`${path}/test`)
  t.match(textOf(tested.html), /It answered 204 after \d+ ms\. The test has arrived\./)
  const [test] = receiver.received
  t.match(new Webhook(secret).verify(test!.body, { ...test!.headers }), { type: 'webhook.test' })
  t.equal((await owner.get(`${path}/test`)).path, path, 'a page that is loaded again sends nothing')

  await client.submit()
  await receiver.until('/ok/?token=in-the-url', 2)
  await client.submit({ agent_id: 'other' })
  await setTimeout(300)
  t.equal(receiver.received.length, 2)
  const deliveries = textOf((await owner.get(`${path}?state=delivered`)).html)
  t.match(deliveries, /msg_\w+ 1: claim\.decided clm_\w+ delivered .* 204, \d+ ms 1 Send again/)
  t.match(textOf((await owner.get(`${path}?state=failed`)).html), /There are none here/)

  const stored = await dump(installation.config.databaseUrl)
  for (const text of ['in-the-url', secret.slice(6)]) t.notOk(stored.includes(text), 'both are stored encrypted')
})

t.test('an owner has people told in a chat, whose address only the form shows', async (t) => {
  const world = await begin(t)
  const { installation, owner, at, client, receiver } = world
  const form = (await owner.get(`${at}/new?format=slack`)).html
  t.match(form, /<option value="slack" selected/)
  for (const [value, isTicked] of [
    ['failed', true],
    ['verified', false],
    ['connection.failing', true],
    ['anchor.landed', false],
  ] as const)
    t.equal(new RegExp(`value="${value}"[^>]*checked`).test(form), isTicked, value)
  const page = await owner.post(`${at}/new`, [
    ['format', 'slack'],
    ['url', `${receiver.url}/chat/T0/B0-in-the-url`],
    ['verdicts', 'verified'],
  ])
  t.match(page.path, /\/webhooks\/wht_\w+\?done=webhook-added$/)
  t.match(textOf(page.html), /For people in Slack/)
  t.notMatch(page.html, /whsec_|Replace the secret/, 'nothing is signed')
  const [path = ''] = page.path.split('?')
  t.match(textOf((await owner.post(`${path}/test`)).html), /It answered 200 after \d+ ms\. The test has arrived\./)
  await client.submit()
  const [, alert] = await receiver.until('/chat/T0/B0-in-the-url', 2)
  t.match(JSON.parse(alert!.body).text, /^Claim verified\./)
  const shown = [
    (await owner.get(at)).html,
    (await owner.get(path)).html,
    (await owner.get(`/console/w/${world.workspaceId}/audit-trail`)).html,
    JSON.stringify((await client.get('/v1/webhooks')).body),
    JSON.stringify((await client.get('/v1/webhooks/deliveries')).body),
    await dump(installation.config.databaseUrl),
  ]
  for (const text of shown) t.notMatch(text, 'in-the-url')
  t.match(shown[3], /"format":"slack"/)
  t.match((await owner.get(`${path}/change`)).html, 'in-the-url')
})

t.test('a delivery that fails says why, and is sent again by a button', async (t) => {
  const world = await begin(t)
  const { owner, client, receiver } = world
  const { path } = await add(world, [['url', `${receiver.url}/status/500`]])
  await client.submit()
  await receiver.until('/status/500', 1)
  await setTimeout(300)
  const { html } = await owner.get(path)
  t.match(textOf(html), /waiting: it did not accept the message, next try .* 500, \d+ ms 1 Send now/)
  const [, id = ''] = /name="id" value="(msg_\w+)"/.exec(html) ?? []
  const sent = await owner.post(`${path}/resend`, { id })
  t.match(sent.path, /\?done=delivery-sent$/)
  const [first, second] = await receiver.until('/status/500', 2)
  t.equal(first!.headers['webhook-id'], second!.headers['webhook-id'])
})

t.test('the secret is replaced with an overlap, and the address and events are changed', async (t) => {
  const world = await begin(t)
  const { owner, receiver } = world
  const { secret: former, path } = await add(world, [['url', `${receiver.url}/ok/a`]])
  const replaced = await owner.post(`${path}/secret`, { overlap: '1h' })
  const [, secret = ''] = /data-copy="(whsec_[^"]+)"/.exec(replaced.html) ?? []
  t.not(secret, former)
  const changed = await owner.post(`${path}/change`, [
    ['url', `${receiver.url}/ok/b`],
    ['types', 'anchor.landed'],
  ])
  t.match(changed.path, /\?done=webhook-changed$/)
  t.match(textOf(changed.html), /Events anchor\.landed State on .* Former secret/)
  await owner.post(`${path}/test`)
  const [message] = receiver.at('/ok/b')
  for (const one of [secret, former]) t.ok(new Webhook(one).verify(message!.body, { ...message!.headers }))
  for (const [fields, problem] of [
    [[['url', 'http://169.254.169.254/latest']], /cannot be called/],
    [[['url', 'hooks']], /the address is not valid/i],
    [
      [
        ['url', `${receiver.url}/ok/b`],
        ['actions', 'Not An Action'],
      ],
      /none of the actions/,
    ],
    [
      [
        ['url', `${receiver.url}/ok/b`],
        ['connections', 'conn_of_others'],
      ],
      /none of the connections/,
    ],
  ] as const) {
    const refused = await owner.post(`${path}/change`, fields as never)
    t.equal(refused.status, 422)
    t.match(textOf(refused.html), problem)
  }
})

t.test('a webhook is switched off and on, and removed, each as the audit trail tells', async (t) => {
  const world = await begin(t)
  const { owner, at, client, receiver, claimcheck, workspaceId } = world
  const { path } = await add(world, [['url', `${receiver.url}/ok/x?token=secret-in-url`]])
  t.match(textOf((await owner.post(`${path}/off`)).html), /The webhook is off.*State off, since/)
  await client.submit()
  await setTimeout(1500)
  t.equal(receiver.received.length, 0)
  t.match(textOf((await owner.post(`${path}/on`)).html), /The webhook is on/)
  await receiver.until('/ok/x?token=secret-in-url', 1)
  await owner.post(`${path}/test`)
  t.match(textOf((await owner.get(`${path}/remove`)).html), /Remove this webhook\?/)
  t.match((await owner.post(`${path}/remove`)).path, `${at}?done=webhook-removed`)
  t.equal((await owner.get(path)).status, 404)
  const told = textOf((await owner.get(`/console/w/${workspaceId}/audit-trail?group=webhook`)).html)
  for (const words of ['added a webhook', 'switched a webhook off', 'switched a webhook on', 'removed a webhook'])
    t.match(told, words)
  t.match(told, /sent a test message/)
  t.notMatch(told, 'secret-in-url')
  t.strictSame(await claimcheck.webhooks.list(workspaceId), [])
})

t.test('members who are no owners see nothing of webhooks', async (t) => {
  const world = await begin(t)
  const { installation, at, workspaceId } = world
  const { path } = await add(world, [['url', `${world.receiver.url}/ok/x`]])
  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'Mia')
  for (const page of [at, path, `${at}/new`, `${path}/change`]) t.equal((await member.get(page)).status, 403, page)
  t.notMatch((await member.get(`/console/w/${workspaceId}/developers`)).html, '/developers/webhooks')
})

t.test('with its workspace a webhook is deleted, and nothing of its address stays', async (t) => {
  const world = await begin(t)
  const { installation, workspaceId, claimcheck, receiver } = world
  await add(world, [['url', `${receiver.url}/ok/x`]])
  await claimcheck.workspaces.delete(workspaceId)
  t.strictSame(await claimcheck.webhooks.list(workspaceId), [])
  t.ok(installation)
})
