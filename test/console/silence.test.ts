/** The page for silent agents: owners say after how many hours the workspace is told. */
import t from 'tap'
import { sharedInstallation } from '../support/installation.ts'
import { Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { rate_limits: { sign_in: 0 } } })

t.test('an owner has the workspace told of silence, changes that, and ends it', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.first(host)
  const id = await owner.workspaceId()
  const path = `/console/w/${id}/silence`
  t.match((await owner.get(path)).html, /is not told when an agent stops/)
  t.match((await owner.post(path, { hours: 'two', agents: '' })).html, /whole number of hours/i)
  t.match((await owner.post(path, { hours: '721', agents: '' })).html, /from 1 to 720/)
  t.equal(await claimcheck.silence.of(id), undefined)
  await owner.post(path, { hours: '24', agents: ' <b>bot</b> \r\n\r\nother\n' })
  t.match(await claimcheck.silence.of(id), { hours: 24, agents: ['<b>bot</b>', 'other'] })
  const { html } = await owner.get(path)
  t.match(html, /no claim for 24 hours/)
  t.match(html, /&lt;b>bot|&lt;b&gt;bot/)
  await claimcheck.accounts.inviteToken(id, 'member', null)
  const member = await Visitor.joining(host, id, 'member', 'Mia')
  t.match((await member.get(path)).html, /An owner of the workspace can change this/)
  t.equal((await member.post(path, { hours: '1' })).status, 403)
  await owner.post(path, { hours: 'off' })
  t.equal(await claimcheck.silence.of(id), undefined)
  const entries = await claimcheck.storage.read.audit.after(0, 1000)
  t.equal(entries.filter(({ event }) => event === 'workspace.silence_changed').length, 2)
})
