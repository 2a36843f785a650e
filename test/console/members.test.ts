// Test run: slow, both-databases
/** Members: who sees, who changes, and that what an owner takes away is gone at the next request. Threats W3 and K7 of `security.md`. */
import { byCommand, byUser } from '@claimcheck/server/base/actor'
import t from 'tap'
import { sharedInstallation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation()

async function acme() {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const id = await owner.workspaceId()
  const path = `/console/w/${id}/members`
  const memberId = async (name: string) => {
    const members = await host.claimcheck.members.list(id)
    return members.find((member) => member.name === name)!.id
  }
  return { host, owner, id, path, memberId }
}

function linkIn(html: string): string {
  return new URL(/https?:\/\/[^"<]+\/console\/join\/[\w-]{43}/.exec(html)![0]).pathname
}

t.test('members see the list, and nothing to change in it but their own leaving', async (t) => {
  const { host, owner, id, path, memberId } = await acme()
  const mia = await Visitor.joining(host, id, 'member', 'Mia')
  const page = await mia.get(path)
  t.match(textOf(page.html), `owner ${owner.email} owner`)
  t.match(textOf(page.html), `Mia (you) ${mia.email} member`)
  t.notMatch(page.html, /\/role"|\/invitations/)
  t.same([...page.html.matchAll(/href="[^"]*\/remove"/g)].length, 1)

  const ownerId = await memberId('owner')
  for (const target of ['invitations', 'invitations/withdraw', `${ownerId}/role`]) {
    t.equal((await mia.post(`${path}/${target}`, { role: 'owner', id: 'lnk_x' })).status, 403, target)
  }
  t.equal((await mia.get(`${path}/${ownerId}/remove`)).status, 404)
  t.equal((await mia.post(`${path}/${ownerId}/remove`)).status, 404)
})

t.test('a workspace of others answers like none', async (t) => {
  const { host, owner, path, memberId } = await acme()
  await host.claimcheck.workspaces.create('other')
  const stranger = await Visitor.joining(host, (await host.claimcheck.workspaces.find('other')).id, 'owner', 'Stranger')
  await stranger.get('/console/account')
  const ownerId = await memberId('owner')
  for (const wrong of [path, `${path}/${ownerId}/remove`]) {
    const [theirs, none] = [await stranger.get(wrong), await stranger.get(wrong.replace(/ws_[^/]+/, 'ws_none'))]
    t.equal(theirs.status, 404)
    t.equal(textOf(theirs.html), textOf(none.html))
  }
  t.equal((await stranger.post(`${path}/invitations`, { role: 'owner' })).status, 404)
  const own = `/console/w/${(await host.claimcheck.workspaces.find('other')).id}/members`
  t.equal((await stranger.post(`${own}/${ownerId}/remove`)).status, 404, "another workspace's member in one's own")
  t.equal((await stranger.post(`${own}/${ownerId}/role`, { role: 'member' })).status, 404)
  t.equal((await owner.get(path)).status, 200)
})

t.test('an owner invites by a link that is shown once, and lets one person in', async (t) => {
  const { host, owner, path } = await acme()
  await owner.get(path)
  const made = await owner.post(`${path}/invitations`, { role: 'member' })
  const link = linkIn(made.html)
  t.match(made.html, /data-copy="http/)
  const listed = await owner.get(path)
  t.match(textOf(listed.html), /Open invitations.*member owner now in \d+ days/)
  t.notMatch(listed.html, /console\/join/, 'it is not shown again')

  const mia = await Visitor.enter(host, link, 'Mia')
  t.notMatch(textOf((await owner.get(path)).html), /Open invitations/)
  t.match(textOf((await owner.get(path)).html), `Mia ${mia.email} member`)
  t.equal((await new Visitor(host).get(link)).status, 404)
  t.equal((await owner.post(`${path}/invitations`, { role: 'king' })).status, 400)
})

t.test('an invitation that is withdrawn lets nobody in', async (t) => {
  const { host, owner, path } = await acme()
  await owner.get(path)
  const link = linkIn((await owner.post(`${path}/invitations`, { role: 'owner' })).html)
  const [, id] = /name="id" value="(lnk_[^"]+)"/.exec((await owner.get(path)).html)!
  const page = await owner.post(`${path}/invitations/withdraw`, { id: id! })
  t.equal(page.path, `${path}?done=invitation-withdrawn`)
  t.equal((await new Visitor(host).get(link)).status, 404)
  t.equal((await owner.post(`${path}/invitations/withdraw`, { id: id! })).status, 404)
})

t.test('a role that is changed holds at the next request', async (t) => {
  const { host, owner, id, path, memberId } = await acme()
  const mia = await Visitor.joining(host, id, 'member', 'Mia')
  await owner.get(path)
  await mia.get(path)
  const target = `${path}/${await memberId('Mia')}/role`
  t.equal((await owner.post(target, { role: 'owner' })).path, `${path}?done=role-changed`)
  const made = await mia.post(`${path}/invitations`, { role: 'owner' })
  t.equal(made.status, 200)
  await owner.post(target, { role: 'member' })
  t.equal((await mia.post(`${path}/invitations`, { role: 'owner' })).status, 403)
  t.equal((await new Visitor(host).get(linkIn(made.html))).status, 404, 'what they had invited for as an owner ends')
})

t.test('a member is removed after being asked for, and sees nothing from their next request on', async (t) => {
  const { host, owner, id, path, memberId } = await acme()
  const mia = await Visitor.joining(host, id, 'owner', 'Mia')
  await mia.get(path)
  const link = linkIn((await mia.post(`${path}/invitations`, { role: 'owner' })).html)
  const target = `${path}/${await memberId('Mia')}/remove`
  const asked = await owner.get(target)
  t.match(textOf(asked.html), /Remove Mia\?/)
  t.equal((await mia.get(path)).status, 200, 'asking alone does nothing')
  t.equal((await owner.post(target)).path, `${path}?done=member-removed`)
  t.equal((await mia.get(path)).status, 404)
  t.equal((await mia.get('/console/account')).status, 200, 'the account stays')
  t.equal((await mia.get(link)).status, 404, 'nobody comes back by a link of their own')
})

t.test('with a member go the keys that they made and that stay ticked, and no others', async (t) => {
  const { host, owner, id, path, memberId } = await acme()
  const mia = await Visitor.joining(host, id, 'owner', 'Mia')
  const members = await host.claimcheck.members.list(id)
  const userOf = ({ email }: Visitor) => members.find((member) => member.email === email)!.userId
  const { keys } = host.claimcheck
  const made = async (name: string, by: Visitor | null) =>
    keys.create(id, name, {}, by ? byUser(userOf(by), '::1') : byCommand())
  const [kept, gone, old] = [await made('kept', mia), await made('gone', mia), await made('old', mia)]
  const [own, fromShell] = [await made('own', owner), await made('from shell', null)]
  await keys.revoke(old.id)
  const target = `${path}/${await memberId('Mia')}/remove`
  const asked = await owner.get(target)
  const ticked = [...asked.html.matchAll(/name="revoke" value="([^"]+)" checked/g)].map(([, key]) => key)
  t.strictSame(ticked.sort(), [kept.id, gone.id].sort(), 'those that still work, and all of them')
  t.match(textOf(asked.html), /Revoke what they made kept .* last used never/)
  t.notMatch(asked.html, gone.key)

  const before = await mia.get(target)
  t.equal([...before.html.matchAll(/name="revoke" value="[^"]+" checked/g)].length, 0, 'who leaves decides themselves')
  await owner.get(path)
  await owner.post(target, { revoke: gone.id })
  const works = async ({ key }: { readonly key: string }) => (await keys.authenticate(key, '::1')) !== undefined
  t.strictSame([await works(gone), await works(kept), await works(own)], [false, true, true])

  const bob = await Visitor.joining(host, id, 'member', 'Bob')
  await bob.get(path)
  const leaving = `${path}/${await memberId('Bob')}/remove`
  t.notMatch((await bob.get(leaving)).html, 'name="revoke"')
  await bob.post(leaving, { revoke: own.id })
  const third = await Visitor.joining(host, id, 'owner', 'Third')
  await third.get(path)
  await owner.get(path)
  await owner.post(`${path}/${await memberId('Third')}/remove`, { revoke: own.id })
  t.strictSame([await works(own), await works(fromShell)], [true, true], 'those of others stay, whatever is sent')
})

t.test('each change of a member is asked for first, with what it means', async (t) => {
  const { host, owner, id, path, memberId } = await acme()
  await Visitor.joining(host, id, 'member', 'Mia')
  const [mia, self] = [await memberId('Mia'), await memberId('owner')]
  const { html } = await owner.get(path)
  t.notMatch(html, /<form[^>]*action="[^"]*\/(role|remove)"/, 'the list itself changes nobody')
  t.match(html, `href="${path}/${mia}/role"`)
  const asked = await owner.get(`${path}/${mia}/role`)
  t.match(
    textOf(asked.html),
    /Make Mia an owner\? Mia \(mia[^)]*\) can then change everything here: .*Make owner Cancel/,
  )
  t.match(asked.html, /name="role" value="owner"/)
  t.equal((await host.claimcheck.members.list(id)).filter(({ role }) => role === 'owner').length, 1)

  for (const target of [`${path}/${self}/remove`, `${path}/${self}/role`]) {
    const page = await owner.get(target)
    t.match(textOf(page.html), /You are the only owner, and a workspace needs one\. Make another member an owner first/)
    t.notMatch(page.html, /<main.*<form/s, 'there is no button that cannot work')
  }
  await owner.post(`${path}/${mia}/role`, { role: 'owner' })
  t.match(textOf((await owner.get(`${path}/${self}/remove`)).html), /Leave acme[^?]*\? You lose access .* Leave Cancel/)
  const demote = await owner.get(`${path}/${mia}/role`)
  t.match(textOf(demote.html), /Make Mia a member\? .*can then still read everything here, and change nothing/)
})

t.test('owners rename their workspace, and nobody else', async (t) => {
  const { host, owner, id, path } = await acme()
  const mia = await Visitor.joining(host, id, 'member', 'Mia')
  await mia.get(path)
  t.notMatch((await mia.get(path)).html, /\/name"/)
  const to = `/console/w/${id}/name`
  t.equal((await mia.post(to, { name: 'mine' })).status, 403)

  await owner.get(path)
  await host.claimcheck.workspaces.create('taken by others')
  for (const [name, problem] of [
    ['taken by others', /The name taken by others is taken, or looks like one that is: choose another name\./],
    ['ws_1', /The workspace name is not valid: use 1 to 64 letters/],
    ['', /The workspace name is not valid/],
  ] as const) {
    const refused = await owner.post(to, { name })
    t.equal(refused.status, 422)
    t.match(textOf(refused.html), problem)
    t.match(refused.html, /<input id="name"[^>]*aria-describedby="name-problem"[^>]*aria-invalid="true"[^>]*autofocus/)
    if (name) t.match(refused.html, `value="${name}"`)
  }
  const renamed = await owner.post(to, { name: ' Acme Inc. ' })
  t.equal(renamed.path, `${path}?done=workspace-renamed`)
  t.match(renamed.html, /<summary><bdi>Acme Inc\.<\/bdi><\/summary>/)
  t.match(await host.claimcheck.workspaces.find('Acme Inc.'), { id }, 'under its new name')
  t.equal((await owner.post(to, { name: 'Acme Inc.' })).status, 200, 'the name that it has is no conflict')
})

t.test('the last owner stays, and is told why', async (t) => {
  const { host, owner, id, path, memberId } = await acme()
  await owner.get(path)
  const ownerId = await memberId('owner')
  for (const [target, fields] of [
    [`${path}/${ownerId}/role`, { role: 'member' }],
    [`${path}/${ownerId}/remove`, {}],
  ] as const) {
    const refused = await owner.post(target, fields)
    t.equal(refused.status, 422)
    t.match(textOf(refused.html), /This is the only owner of the workspace: make another member an owner first/)
  }
  const mia = await Visitor.joining(host, id, 'member', 'Mia')
  await mia.get(path)
  const left = await mia.post(`${path}/${await memberId('Mia')}/remove`)
  t.equal(left.path, '/console/workspaces/new', 'a member may leave')
  await Visitor.joining(host, id, 'owner', 'Second')
  t.equal(
    (await owner.post(`${path}/${ownerId}/remove`)).path,
    '/console/workspaces/new',
    'and so may one of two owners',
  )
})

t.test('an owner is asked before they pay for a workspace', async (t) => {
  const { host, owner, id } = await acme()
  const { path: made } = await owner.post('/console/workspaces/new', { name: `of ${id}` })
  const members = made.replace(/\/w\/([^/]+)\/.*/, '/w/$1/members')
  const ownId = /\/w\/([^/]+)/.exec(made)![1]!
  const [maker] = await host.claimcheck.members.list(ownId)
  const second = await Visitor.joining(host, ownId, 'owner', 'Second')
  t.notMatch(textOf((await second.get(members)).html), /Who pays/)
  t.match(textOf((await second.get(`${members}/${maker!.id}/remove`)).html), /counts for your limits from then on/)
  t.match(textOf((await owner.get(`${members}/${maker!.id}/remove`)).html), /goes on counting for your limits/)
  await owner.post(`${members}/${maker!.id}/remove`)
  t.match(textOf((await second.get(members)).html), /Who pays What this workspace uses counts for the limits of owner/)
  const paid = await second.post(members.replace(/members$/, 'payer'))
  t.match(paid.path, /done=payer-changed$/)
  t.notMatch(textOf(paid.html), /Who pays/)
  t.equal((await second.post(members.replace(/members$/, 'payer'))).status, 200, 'said twice it changes nothing')
})
