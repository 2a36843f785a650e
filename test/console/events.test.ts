/** The stream by which pages of the console hear of events: for members of the workspace, while their session lasts. */
import t from 'tap'
import { claimsConsole } from '../support/claims-console.ts'
import { sharedInstallation } from '../support/installation.ts'
import { Listening } from '../support/listening.ts'
import { Visitor } from '../support/visitor.ts'

const shared = sharedInstallation()
const accept = 'text/event-stream'

function cookieOf({ cookies }: Visitor): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

async function begin(t: import('tap').Test) {
  const console = await claimsConsole(t, shared)
  const { installation, workspaceId } = console
  const url = `${installation.url}/console/w/${workspaceId}/events`
  const listenAs = (visitor: Visitor) => Listening.start(url, { headers: { accept, cookie: cookieOf(visitor) } })
  const statusFor = async (headers: Record<string, string>) => {
    const { status, body } = await fetch(url, { headers, redirect: 'manual' })
    await body?.cancel()
    return status
  }
  return { ...console, listenAs, statusFor }
}

t.test('a member hears of decided claims from now on, and nobody else does', async (t) => {
  const { installation, workspaceId, client, owner, listenAs, statusFor } = await begin(t)
  await client.submit()
  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'mia')
  const stranger = await Visitor.owner(installation.host)
  const listening = [await listenAs(owner), await listenAs(member)]
  const { claim_id } = (await client.submit()).body
  for (const one of listening) {
    t.strictSame(await one.claims(1), [claim_id])
    one.stop()
  }
  t.equal(await statusFor({ accept, cookie: cookieOf(stranger) }), 404)
  t.equal(await statusFor({ accept }), 303, 'to sign in')
  t.equal(await statusFor({ accept, authorization: `Bearer ${client.key}` }), 303, 'a key opens the API')
  t.equal(await statusFor({ accept: 'text/html,*/*', cookie: cookieOf(owner) }), 404, 'a person who opens the address')
})

t.test('who signs out, or is no member any more, hears nothing more within a second', async (t) => {
  const { installation, workspaceId, client, owner, listenAs } = await begin(t)
  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'mo')
  const [mine, theirs] = [await listenAs(owner), await listenAs(member)]
  const members = await installation.claimcheck.members.list(workspaceId)
  const removedAt = Date.now()
  await installation.claimcheck.members.remove(workspaceId, members.find(({ role }) => role === 'member')!.id)
  await theirs.ended
  t.ok(Date.now() - removedAt < 1500, `${Date.now() - removedAt} ms`)
  await client.submit()
  await mine.claims(1)
  t.strictSame(theirs.events, [])
  await owner.get('/console/account')
  await owner.post('/console/sign-out')
  await mine.ended
})
