/** Which new passwords are refused, and what the refusal says to do. Threat K4 of `security.md`. */
import { requireStrongPassword } from '@claimcheck/server/features/people/password-strength'
import t from 'tap'
import { first, NONE_KEPT, newUser, openPeople, PASSWORD } from './people.ts'

const OWN = { email: 'ann.smith@example.com', name: 'Ann Smith', workspaces: ['Acme Rockets'] }

const COMMON =
  'password1234 Password1234! P@ssw0rd1234 qwertyuiop12 123456789012 aaaaaaaaaaaa letmeinletmein 1q2w3e4r5t6y iloveyou2026 passwordpassword'.split(
    ' ',
  )

const NAMES = [
  'ann.smith@example.com',
  'ANN.SMITH@EXAMPLE.COM',
  'annsmith2024',
  '4nnSm1th2024',
  'example.com1',
  'Acme Rockets',
  'acmerockets!',
  'claimcheck1234',
  'Cl41mcheck!!',
]

const GOOD = [
  'purple lantern orbit cactus',
  'another password altogether',
  'the brown dog jumps into my boat',
  'a quick brown lantern',
  'xK3mf9QpLw2z',
  'Ann likes purple submarines',
  `${'ж'.repeat(3)}кот и пёс на крыше`,
]

const FAMOUS = [
  'correcthorsebatterystaple',
  'correct horse battery staple',
  'Correct-Horse-Battery-Staple1',
  'c0rrecth0rsebatterystaple',
  'may the force be with you',
  'thequickbrownfox',
  'The quick brown fox!',
  'thequickbr0wnfox2026',
  'jumpsoverthelazydog',
  'tobeornottobe',
  'onceuponatime1',
]

t.test('the commonest passwords and phrases are refused, also in disguise', async (t) => {
  for (const password of [...COMMON, ...FAMOUS]) {
    const message = /one of the first that others try: choose four or more words/
    await t.rejects(requireStrongPassword(password, OWN), { code: 'bad_request', message }, password)
  }
})

t.test("what others know of somebody is refused: names, address, workspaces, and the service's own name", async (t) => {
  for (const password of NAMES) {
    const message = /it holds your name, your e-mail address or the name of a workspace: choose four or more words/
    await t.rejects(requireStrongPassword(password, OWN), { code: 'bad_request', message }, password)
  }
})

t.test('passwords that nobody guesses are taken, also those that hold a name among other words', async (t) => {
  for (const password of GOOD) await t.resolves(requireStrongPassword(password, OWN), password)
})

t.test('a long password takes no longer than a short one: what is looked at is bounded', async (t) => {
  async function processorFor(times: number): Promise<number> {
    const before = process.cpuUsage()
    await t.resolves(requireStrongPassword('qwerty-1Q2w!'.repeat(times), OWN))
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  await processorFor(7)
  const [short, long] = [await processorFor(7), await processorFor(21)]
  t.ok(long < 3 * short, `${long} µs, and ${short} µs`)
})

t.test('every way to a new password refuses a common one, and leaves all as it was', async (t) => {
  const people = await openPeople(t)
  const { accounts, sessions } = people
  const common = { ...newUser('ann'), proof: { password: 'password1234' } }
  const setup = (await accounts.setupToken())!
  await t.rejects(accounts.setUp(setup, common, 'acme'), { code: 'bad_request', message: /first that others try/ })
  const { user, workspaceId } = await first(people)
  const invitation = await accounts.inviteToken(workspaceId, 'member', null)
  const ofWorkspace = { ...newUser('bob'), proof: { password: 'acmeacmeacme' } }
  await t.rejects(accounts.join(invitation, ofWorkspace), { code: 'bad_request' })
  const reset = await accounts.resetToken('ann@example.com')
  await t.rejects(accounts.passwords.reset(reset, 'ann@example.com', NONE_KEPT), {
    code: 'bad_request',
    message: /your name/,
  })
  const { session } = (await sessions.find(await sessions.start(user, 'password', { userAgent: '', address: '' })))!
  const change = { current: PASSWORD, next: 'password1234', keep: NONE_KEPT, sessionId: session.id }
  await t.rejects(accounts.passwords.changePassword(user, change), { code: 'bad_request' })
  t.ok(await accounts.byPassword('ann@example.com', PASSWORD))
  for (const token of [invitation, reset]) t.ok(await accounts.link(token), 'the link can still be used')
})
