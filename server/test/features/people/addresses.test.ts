/** Addresses of accounts: reserved ones, confirming them, and who gets an unconfirmed one. Threat S8 of `security.md`. */
import { isMailAddress } from '@claimcheck/server/features/mail/config'
import type { NewUser } from '@claimcheck/server/features/people/new-accounts'
import t from 'tap'
import { ISSUER, openFirst, type openPeople } from './people.ts'

type People = Awaited<ReturnType<typeof openPeople>>

let subjects = 0

/** Signs in through the provider: no password is hashed. */
function outsider(email: string, over: object = {}): NewUser {
  return { name: 'Vera', email, proof: { identity: { issuer: ISSUER, subject: `${subjects++}` } }, ...over }
}

async function opened(t: Parameters<typeof openPeople>[0]) {
  const people = await openFirst(t)
  const { user: ann, workspaceId } = people
  await people.storage.write((tx) => tx.users.confirm(ann.id, ann.email, people.clock.now))
  const invited = (createdBy: string | null = null, to: string | null = workspaceId) =>
    people.accounts.inviteToken(to!, 'member', createdBy)
  const mailed = async (recipient: string, createdBy: string | null = null) => {
    const mail = { recipient, mail: async () => {} }
    return people.accounts.inviteToken(workspaceId, 'member', createdBy, undefined, mail)
  }
  return { ...people, ann, workspaceId, invited, mailed }
}

const asked = ({ addressConfirmation }: People, user: Parameters<People['addressConfirmation']['ask']>[0]) =>
  addressConfirmation.ask(user, async () => {})

t.test('no account has an address of those that the service gives to accounts without one', async (t) => {
  const { accounts, accountDeletion, invited, ann, workspaceId, members } = await opened(t)
  const { user: bob } = await accounts.join(await invited(), outsider('bob@example.com'))
  const id = bob.id.toLowerCase()
  const taken = [`${id}@closed.invalid`, `${id}@unconfirmed.invalid`, 'a@x.INVALID', 'a@invalid', 'a@x.invalid.']
  for (const email of taken) {
    const token = await invited()
    await t.rejects(accounts.join(token, outsider(email)), { code: 'bad_request' }, email)
    await t.rejects(accounts.join(token, outsider(email, { isVerified: true })), { code: 'bad_request' }, email)
    t.notOk(isMailAddress(email), email)
  }
  await accountDeletion.close(bob)
  t.match(await members.list(workspaceId), [{ userId: ann.id }])
})

t.test('invitations by others do not use up the mails that confirm an address', async (t) => {
  const people = await opened(t)
  const { accounts, storage, invited, mailed, ann, members } = people
  const { user: vera } = await accounts.join(await invited(), outsider('vera@box.example'))
  for (let count = 0; count < 3; count++) await mailed('vera@box.example', ann.id)
  await t.rejects(mailed('vera@box.example', ann.id), { code: 'too_many' })
  const { user: squatter } = await accounts.join(await invited(ann.id), outsider('vera+a@box.example'))
  t.equal(squatter.payer, `${ann.id}/${squatter.id}`)
  for (let count = 0; count < 3; count++) await asked(people, squatter)
  await t.rejects(asked(people, squatter), { code: 'too_many' })
  const { user: another } = await accounts.join(await invited(ann.id), outsider('vera+b@box.example'))
  await t.rejects(asked(people, another), { code: 'too_many' }, 'they share one allowance, and it is one mailbox')
  for (let count = 0; count < 3; count++) await asked(people, vera)
  await t.rejects(asked(people, vera), { code: 'too_many' })
  t.ok(await storage.read.users.byId(vera.id))
  t.ok(members)
})

t.test('an address that an account never confirmed goes to the person who reads its mails, who is asked', async (t) => {
  const { accounts, invited, mailed, storage } = await opened(t)
  const emailOf = async (id: string) => (await storage.read.users.byId(id))?.email
  const held = async (name: string) => {
    const email = `${name}@box.example`
    return { email, holder: (await accounts.join(await invited(), outsider(email))).user }
  }
  for (const [name, linkTo, over] of [
    ['mailed', mailed, {}],
    ['verified', () => invited(), { isVerified: true }],
  ] as const) {
    const { email, holder } = await held(name)
    const token = await linkTo(email)
    const unasked = accounts.join(token, outsider(email, over))
    await t.rejects(unasked, { code: 'conflict', message: /never confirmed it: if that is yours, sign in to it/ }, name)
    t.equal(await emailOf(holder.id), email, 'an honest account keeps it')
    const { user } = await accounts.join(token, outsider(email, { ...over, takesAddress: true }))
    t.match([user.email, user.isConfirmed], [email, true])
    t.equal(await emailOf(holder.id), `${holder.id.toLowerCase()}@unconfirmed.invalid`)
  }
  const { email, holder } = await held('neither')
  const guess = accounts.join(await invited(), outsider(email, { takesAddress: true }))
  await t.rejects(guess, { code: 'conflict', message: /there is an account with this address/ })
  t.equal(await emailOf(holder.id), email)
  const token = await mailed(email)
  await accounts.join(token, { user: holder }).catch(() => {})
  t.match(await storage.read.users.byId(holder.id), { email }, 'who signs in and opens the link confirms it')
})

t.test('an account without an address asks for no mail', async (t) => {
  const people = await opened(t)
  const { accounts, invited, mailed } = people
  const { user } = await accounts.join(await invited(), outsider('lost@box.example'))
  await accounts.join(await mailed('lost@box.example'), outsider('lost@box.example', { takesAddress: true }))
  const released = { ...user, email: `${user.id.toLowerCase()}@unconfirmed.invalid` }
  await t.rejects(asked(people, released), { code: 'conflict', message: /your account has no address any more/ })
})
